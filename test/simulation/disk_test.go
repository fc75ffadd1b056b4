package simulation

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/pkg/backup"
	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// promise is what a backup says is durable.
type promise struct {
	at       int               // changes of the disk that were made before
	versions map[types.UID]int // of the manifests
	steps    int
	results  int
	finished bool
}

// TestBackupSurvivesPowerLoss loses the power after each change that writing a backup makes.
func TestBackupSurvivesPowerLoss(t *testing.T) {
	top := inMemory(t)
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp(top, "")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		d := newDisk(filepath.Join(dir, "root"))
		promises := writeBackup(t, d)
		checkRecorded(t, d)
		for n := range d.length() + 1 {
			if len(promises) == 1 && slices.ContainsFunc(d.made[:n], func(c backup.DiskChange) bool { return c.Op == backup.Remove }) {
				break // a backup that could not be created may be left in part
			}
			i, exact := slices.BinarySearchFunc(promises, n, func(p promise, n int) int { return p.at - n })
			if !exact {
				i--
			}
			for seed := range uint64(3) {
				left := filepath.Join(dir, fmt.Sprint(n, "-", seed))
				r := rand.New(rand.NewPCG(seed, uint64(n)))
				if seed == 0 {
					r = nil
				}
				err := d.survive(n, left, r)
				if err == nil {
					err = promises[i].broken(filepath.Join(left, "one"))
				}
				if err != nil {
					for _, c := range d.made[:n] {
						t.Logf("%s %s, %d bytes", c.Op, filepath.Base(c.Path), len(c.Data))
					}
					t.Fatalf("after these changes, by chance %d: %v", seed, err)
				}
			}
		}
	})
}

// checkRecorded checks that the changes, replayed, make the files that are on the disk.
func checkRecorded(t *rapid.T, d *disk) {
	above, err := d.after(d.length())
	if err != nil {
		t.Fatal(err)
	}
	var check func(i *inode, path string)
	check = func(i *inode, path string) {
		if i.names == nil {
			if data, err := os.ReadFile(path); err != nil || !bytes.Equal(data, i.data) {
				t.Fatalf("%s has %d bytes (%v), but %d were recorded", path, len(data), err, len(i.data))
			}
			return
		}
		entries, err := os.ReadDir(path)
		if err != nil || len(entries) != len(i.names) {
			t.Fatalf("%s has %v (%v), but %v was recorded", path, entries, err, i.names)
		}
		for name, in := range i.names {
			check(in, filepath.Join(path, name))
		}
	}
	check(above, filepath.Dir(d.root))
}

// writeBackup writes a backup to a disk that may become full or break, and returns what it promised, at last.
func writeBackup(t *rapid.T, d *disk) []promise {
	if left := rapid.IntRange(-40, 60).Draw(t, "changes until the disk is full"); left >= 0 {
		d.part = func(bytes int) int { return bytes * left / 60 }
		made := 0
		d.before = func(c backup.DiskChange) error {
			if made++; made > left && c.Op != backup.Remove {
				return syscall.ENOSPC
			}
			return nil
		}
	}
	p := promise{versions: map[types.UID]int{}}
	all := []promise{{}}
	f, err := backup.Create(d.root, "one", backup.Header{Tool: "v0", Mode: "collect", Started: time.Unix(1, 0).UTC()}, d.carryOut)
	if err != nil {
		return all
	}
	keep := func(err error) {
		if p.at = d.length(); err == nil {
			kept := p
			kept.versions = maps.Clone(p.versions)
			all = append(all, kept)
		}
	}
	drawObject := func() object.Object {
		name := rapid.StringMatching("[a-d]").Draw(t, "object")
		return object.Object{Identity: object.Identity{APIVersion: "v1", Kind: "Secret", Namespace: "shop", Name: name, UID: types.UID("uid-of-" + name)}}
	}
	keep(nil)
	var steps []event.Step
	for i := range rapid.IntRange(0, 30).Draw(t, "steps") {
		steps = append(steps, event.Step{ID: strconv.Itoa(i), Action: "delete", Object: drawObject().Identity, Why: strings.Repeat("because ", i)})
	}
	if err = f.SaveSteps(slices.Values(steps)); err == nil {
		p.steps = len(steps)
	}
	keep(err)
	versions := map[types.UID]int{} // that were saved
	results := 0
	for version := range rapid.IntRange(0, 20).Draw(t, "actions") {
		switch rapid.SampledFrom([]string{"save", "save", "sync", "result"}).Draw(t, "action") {
		case "save":
			o := drawObject()
			o.ResourceVersion = strconv.Itoa(version + 1)
			size := rapid.IntRange(0, 9000).Draw(t, "size")
			manifest := fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Secret","metadata":{"namespace":"shop","name":%q,"uid":%q,"resourceVersion":%q},"data":%q}`, o.Name, o.UID, o.ResourceVersion, strings.Repeat("x", size))
			if f.Save(o, manifest) == nil {
				versions[o.UID] = version + 1
			}
		case "sync":
			if err = f.Sync(); err == nil {
				maps.Copy(p.versions, versions)
				p.results = results
			}
			keep(err)
		case "result":
			if f.AddResult(event.Record{Step: "1", Action: "delete", Object: drawObject().Identity, Status: "done"}) == nil {
				results++
			}
		}
	}
	if rapid.Bool().Draw(t, "finish") {
		if err = f.Finish(time.Unix(2, 0).UTC()); err == nil {
			maps.Copy(p.versions, versions)
			p.results, p.finished = results, true
		}
		keep(err)
	}
	if err = f.Close(); err == nil {
		maps.Copy(p.versions, versions)
		p.results = results
	}
	keep(err)
	return all
}

// broken returns how a backup that is left breaks a promise. Before the first one, there may be none. Damage always breaks it.
func (p promise) broken(path string) error {
	b, err := backup.Open(path)
	if p.at == 0 && (errors.Is(err, fs.ErrNotExist) || err != nil && strings.Contains(err.Error(), "interrupted before it began")) {
		return nil
	}
	if err != nil {
		return err
	}
	defer b.Close()
	lost := maps.Clone(p.versions)
	for _, e := range b.Entries {
		if _, err := b.Manifest(e); err != nil {
			return err
		}
		if version, _ := strconv.Atoi(e.ResourceVersion); version < lost[e.Object.UID] {
			return fmt.Errorf("%s is of version %d", e.Object, version)
		}
		delete(lost, e.Object.UID)
	}
	if len(lost) > 0 || len(b.Steps) < p.steps || len(b.Results) < p.results || p.finished && b.Finished.IsZero() {
		return fmt.Errorf("of the promise %+v, it has only %+v", p, b)
	}
	return nil
}
