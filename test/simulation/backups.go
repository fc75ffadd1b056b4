package simulation

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/backup"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
)

// deletion is a DELETE that the server has carried out.
type deletion struct {
	path    string
	uid     types.UID
	version string // the resourceVersion that it was bound to
	patched bool   // the same life has changed the object before, as when it removes finalizers first
	changes int    // of the disk, before the server handled it
}

// deletionOf returns what a DELETE asks for.
func deletionOf(path string, body []byte) deletion {
	var o struct {
		Preconditions struct {
			UID             types.UID
			ResourceVersion string
		}
	}
	_ = json.Unmarshal(body, &o) // the judge requires preconditions
	return deletion{path: path, uid: o.Preconditions.UID, version: o.Preconditions.ResourceVersion}
}

// powerLosses is how many moments of a life are tried at which the power may have been lost.
const powerLosses = 3

// judgeBackups requires that all objects that a life has deleted are in its backups: as the process left them
// and, if the power was lost at some moments, those that it had deleted by then.
func (d *day) judgeBackups(l *life) {
	if len(l.deletions) == 0 {
		return
	}
	d.requireBackups(l, "the process ended", l.disk.root, l.deletions)
	r := chanceOf(d.seed, "power loss of "+l.name)
	for i := range powerLosses {
		// The worst moment is right after a deletion, when nothing is on the disk but what had to be.
		at := l.deletions[r.IntN(len(l.deletions))].changes
		var luck *rand.Rand
		if i > 0 {
			luck = r
		}
		if i > 1 {
			at += r.IntN(l.disk.length() - at + 1)
		}
		by := l.deletions
		for len(by) > 0 && by[len(by)-1].changes > at {
			by = by[:len(by)-1]
		}
		to := fmt.Sprintf("%s-after-%d", l.disk.root, i)
		if err := l.disk.survive(at, to, luck); err != nil {
			d.fail(fmt.Sprintf("rebuild the disk of %s: %v", l.name, err))
			return
		}
		d.count("power loss")
		d.requireBackups(l, fmt.Sprintf("the power was lost after change %d of the disk (lucky: %t)", at, luck != nil), to, by)
		os.RemoveAll(to)
	}
}

// requireBackups requires that objects are in the backups in a folder, in the state in which they were deleted. A later
// one of an object that a finalizer kept will do.
func (d *day) requireBackups(l *life, after, folder string, deleted []deletion) {
	versions := map[types.UID][]string{}
	paths, _ := filepath.Glob(filepath.Join(folder, "*")) // of a valid pattern
	for _, path := range paths {
		b, err := backup.Open(path)
		if err != nil {
			continue // a round that had not deleted anything may have left a folder without its header
		}
		for _, e := range b.Entries {
			if _, err := b.Manifest(e); err == nil {
				versions[e.Object.UID] = append(versions[e.Object.UID], e.ResourceVersion)
			}
		}
		b.Close()
	}
	for _, one := range deleted {
		switch saved := versions[one.uid]; {
		case saved == nil:
			d.fail(fmt.Sprintf("%s deleted %s, which is in no backup that can be read after %s", l.name, one.path, after))
		case !one.patched && !slices.ContainsFunc(saved, func(v string) bool { return client.NotAfter(one.version, v) }):
			d.fail(fmt.Sprintf("%s deleted %s at resourceVersion %s, and backed up %v", l.name, one.path, one.version, saved))
		}
	}
}
