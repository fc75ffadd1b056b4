package main

import (
	"os"
	"testing"
)

func TestRemoveStaleKeepsFoldersOfLiveRuns(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	newFolder := func() *folder {
		t.Helper()
		f, err := newFolder()
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	alive, dead := newFolder(), newFolder()
	defer alive.lock.Close()
	dead.lock.Close() // as the kernel does when a run is killed
	foreign, err := os.MkdirTemp("", folderPrefix)
	if err != nil {
		t.Fatal(err)
	}

	removeStale()
	for path, want := range map[string]bool{alive.path: true, dead.path: false, foreign: true} {
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s is there: %t, want %t", path, err == nil, want)
		}
	}
}

func TestFolderIsPrivate(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	f, err := newFolder()
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(f.path)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); got != 0o700 {
		t.Errorf("mode is %o, want 700", got)
	}
	if err := f.remove(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(f.path); !os.IsNotExist(err) {
		t.Errorf("it is not removed (%v)", err)
	}
}
