package cmd_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
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

func tenConfigMaps(t *testing.T, a *api) {
	t.Helper()
	a.objects = map[string]fields{}
	for i := range 10 {
		name := fmt.Sprint("c", i)
		a.objects[name] = configMap(name, "u-gone")
	}
}

// failWritesAt makes writes to a file fail from the n-th request of a method on.
func failWritesAt(t *testing.T, a *api, at int, method, file string) {
	n := 0
	a.refuse = func(m, _ string) (string, bool) {
		if m == method {
			if n++; n == at {
				if err := failWrites(file); err != nil {
					t.Error(err)
				}
			}
		}
		return "", false
	}
}

func TestARestorationStopsIfItsJournalCannotBeWritten(t *testing.T) {
	newHome(t)
	a := &api{}
	server := "--server=" + a.serve(t)
	for name, c := range map[string]struct {
		at, made int
	}{
		"at the first object": {1, 1},
		"in between":          {4, 4},
		"at the last object":  {10, 10},
	} {
		t.Run(name, func(t *testing.T) {
			backups := t.TempDir()
			tenConfigMaps(t, a)
			a.refuse = nil
			if r := run(t, "collect", "--yes", "--backup-dir", backups, server); r.code != 0 || len(a.objects) != 0 {
				t.Fatal(r)
			}
			folder := onlyFolder(t, backups)
			failWritesAt(t, a, c.at, "POST", "restored.jsonl")
			r := run(t, "restore", folder, "--yes", "--concurrency=1", server)
			if r.code != 1 || len(a.objects) != c.made {
				t.Errorf("it ends with %d, and made %d, want %d", r.code, len(a.objects), c.made)
			}
			for _, said := range []string{
				"error: record what was restored in " + filepath.Join(folder, "restored.jsonl") + ": no space left on device: no further step is started\n",
			} {
				if strings.Count(r.errors, said) != 1 {
					t.Errorf("it does not say once %q: %s", said, r.errors)
				}
			}
			if n := strings.Count(r.out, " not started: record what was restored in "); n == 0 && c.made < 10 {
				t.Errorf("it does not say what was not started: %s", r.out)
			}
			if !strings.Contains(r.out, fmt.Sprintf("created %d", c.made)) {
				t.Errorf("it does not say what was made: %s", r.out)
			}
			// Unrecorded objects are recognised, and nothing is created twice.
			a.refuse = nil
			r = run(t, "restore", folder, "--yes", server)
			if r.code != 0 || len(a.objects) != 10 || a.made%10 != 0 {
				t.Errorf("run again, it ends with %d, and %d objects are there after %d creations: %s%s", r.code, len(a.objects), a.made, r.out, r.errors)
			}
			if !strings.Contains(r.errors, fmt.Sprintf("An earlier restoration created %d of the objects.", c.made)) {
				t.Errorf("it does not recognise what was made: %s", r.errors)
			}
		})
	}
}

func TestACollectionStopsIfItsBackupCannotBeWritten(t *testing.T) {
	newHome(t)
	a := &api{}
	server := "--server=" + a.serve(t)
	for at, left := range map[int]int{1: 9, 4: 6, 10: 0} {
		t.Run(fmt.Sprint("at object ", at), func(t *testing.T) {
			tenConfigMaps(t, a)
			failWritesAt(t, a, at, "DELETE", "done.jsonl")
			r := run(t, "collect", "--yes", "--backup-dir", t.TempDir(), "--concurrency=1", server)
			if r.code != 1 || len(a.objects) != left {
				t.Errorf("it ends with %d, and leaves %d, want %d: %s", r.code, len(a.objects), left, r.errors)
			}
			if said := "done.jsonl: no space left on device: no further step is started\n"; strings.Count(r.errors, said) != 1 {
				t.Errorf("it does not say once %q: %s", said, r.errors)
			}
		})
	}
}
