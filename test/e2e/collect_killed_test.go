package e2e

import (
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
)

// TestCollectKilled kills the program in the middle of a run, so that it cannot clean up.
// Everything that it deleted must be in its backup, and a second run must do the rest.
func TestCollectKilled(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("killed")
	objects := s.createGarbage(ns, 60)
	const before = 25
	var n atomic.Int64
	full := make(chan struct{})
	f := s.throughProxy(func(http.Handler) []fault {
		return []fault{{deleting(func(*http.Request) bool {
			seen := n.Add(1)
			if seen == before+1 {
				close(full)
			}
			return seen > before
		}), stall}}
	}).allowWrites()
	backups := t.TempDir()
	p := f.start("collect", "-n", ns, "--yes", "--concurrency=4", "--backup-dir", backups)
	<-full
	s.must(p.cmd.Process.Kill())
	p.wait().exits(t, -1)
	left := 0
	for _, o := range objects {
		if !s.gone(o) {
			left++
		}
	}
	if left == 0 || left == len(objects) {
		t.Fatalf("%d of %d objects are left: it was not killed in the middle", left, len(objects))
	}

	s.tool().collect("-n", ns, "--backup-dir", backups)
	s.requireGone(objects...)
	folders, err := os.ReadDir(backups)
	s.must(err)
	if len(folders) != 2 {
		t.Errorf("there are %d backups, want 2", len(folders))
	}
	saved := map[string]map[string]any{}
	for _, folder := range folders {
		maps.Copy(saved, s.backupManifests(filepath.Join(backups, folder.Name())))
	}
	for _, o := range objects {
		manifest, ok := saved[string(o.GetUID())]
		if !ok {
			t.Errorf("%s is gone, and in no backup", o.GetName())
			continue
		}
		if diff := sameObject(o, manifest); diff != "" {
			t.Errorf("the backup of %s is wrong (-want +got)\n%s", o.GetName(), diff)
		}
	}
}
