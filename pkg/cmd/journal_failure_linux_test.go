package cmd_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubectl-gc/kubectl-gc/test/apiserver"
)

// failWrites makes further writes to the open file of that name fail as on a full disk.
func failWrites(name string) error {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer full.Close()
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return err
	}
	for _, fd := range open {
		path, _ := os.Readlink(filepath.Join("/proc/self/fd", fd.Name()))
		if filepath.Base(path) != name {
			continue
		}
		var n int
		if _, err := fmt.Sscan(fd.Name(), &n); err != nil {
			return err
		}
		return syscall.Dup3(int(full.Fd()), n, syscall.O_CLOEXEC)
	}
	return fmt.Errorf("%s is not open", name)
}

func tenConfigMaps() api {
	a := newAPI()
	for i := range 10 {
		a.Add(configMap(fmt.Sprint("c", i), "u-gone"))
	}
	return a
}

// failWritesAt makes writes to a file fail from the n-th request of a method on.
func failWritesAt(t *testing.T, a api, at int, method, file string) {
	n := 0
	a.Lie(func(r *http.Request) bool { return r.Method == method && strings.Contains(r.URL.Path, "configmaps") }, func(w http.ResponseWriter, r *http.Request) {
		if n++; n == at {
			if err := failWrites(file); err != nil {
				t.Error(err)
			}
		}
		a.Honest(w, r)
	})
}

// created returns the number of ConfigMaps that were created.
func (s api) created() (n int) {
	for _, e := range s.TakeEvents() {
		if e.Type == watch.Added && e.Object.Type == apiserver.ConfigMaps {
			n++
		}
	}
	return n
}

func TestARestorationStopsIfItsJournalCannotBeWritten(t *testing.T) {
	newHome(t)
	for name, c := range map[string]struct {
		at, made int
	}{
		"at the first object": {1, 1},
		"in between":          {4, 4},
		"at the last object":  {10, 10},
	} {
		t.Run(name, func(t *testing.T) {
			backups := t.TempDir()
			a := tenConfigMaps()
			server := "--server=" + a.Listen(t)
			if r := run(t, "collect", "--yes", "--backup-dir", backups, server); r.code != 0 || a.configMaps() != 0 {
				t.Fatal(r)
			}
			folder := onlyFolder(t, backups)
			failWritesAt(t, a, c.at, "POST", "restored.jsonl")
			r := run(t, "restore", folder, "--yes", "--concurrency=1", server)
			if r.code != 1 || a.configMaps() != c.made {
				t.Errorf("it ends with %d, and made %d, want %d", r.code, a.configMaps(), c.made)
			}
			for _, said := range []string{
				"error: write " + filepath.Join(folder, "restored.jsonl") + ": no space left on device: no further step is started\n",
			} {
				if strings.Count(r.errors, said) != 1 {
					t.Errorf("it does not say once %q: %s", said, r.errors)
				}
			}
			if n := strings.Count(r.out, " not started: write "); n == 0 && c.made < 10 {
				t.Errorf("it does not say what was not started: %s", r.out)
			}
			if !strings.Contains(r.out, fmt.Sprintf("created %d", c.made)) {
				t.Errorf("it does not say what was made: %s", r.out)
			}
			// Unrecorded objects are recognised, and nothing is created twice.
			a.StopLying()
			r = run(t, "restore", folder, "--yes", server)
			made := a.created()
			if r.code != 0 || a.configMaps() != 10 || made != 20 {
				t.Errorf("run again, it ends with %d, and %d objects are there after %d creations: %s%s", r.code, a.configMaps(), made-10, r.out, r.errors)
			}
			if !strings.Contains(r.errors, fmt.Sprintf("An earlier restore created %d of the objects.", c.made)) {
				t.Errorf("it does not recognise what was made: %s", r.errors)
			}
		})
	}
}

func TestACollectionStopsIfItsBackupCannotBeWritten(t *testing.T) {
	newHome(t)
	for at, left := range map[int]int{1: 9, 4: 6, 10: 0} {
		t.Run(fmt.Sprint("at object ", at), func(t *testing.T) {
			a := tenConfigMaps()
			server := "--server=" + a.Listen(t)
			failWritesAt(t, a, at, "DELETE", "records.jsonl")
			r := run(t, "collect", "--yes", "--backup-dir", t.TempDir(), "--concurrency=1", server)
			if r.code != 1 || a.configMaps() != left {
				t.Errorf("it ends with %d, and leaves %d, want %d: %s", r.code, a.configMaps(), left, r.errors)
			}
			if said := "records.jsonl: no space left on device: no further step is started\n"; strings.Count(r.errors, said) != 1 {
				t.Errorf("it does not say once %q: %s", said, r.errors)
			}
		})
	}
}
