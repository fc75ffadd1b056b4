//go:build unix

package backup_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/backup"
)

func TestFilesAreForTheirOwnerOnly(t *testing.T) {
	tests := map[string]struct {
		umask int
		root  string
	}{
		"the root is missing":                    {umask: 0o022, root: "new/er"},
		"the root is open to all":                {umask: 0o022, root: "open"},
		"the root is missing and the umask is 0": {umask: 0, root: "new/er"},
		"the root is open and the umask is 0":    {umask: 0, root: "open"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			top := t.TempDir()
			before := syscall.Umask(0)
			defer syscall.Umask(before)
			if err := os.Mkdir(filepath.Join(top, "open"), 0o777); err != nil {
				t.Fatal(err)
			}
			syscall.Umask(test.umask)
			f, err := backup.Create(filepath.Join(top, test.root), run, header, nil)
			if err != nil {
				t.Fatal(err)
			}
			save(t, f, newObject("v1", "Secret", "a", "1"))
			if err := f.SaveSteps(slices.Values(steps)); err != nil {
				t.Fatal(err)
			}
			if err := f.Finish(started); err != nil {
				t.Fatal(err)
			}
			closeFolder(t, f)
			err = filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
				if err != nil || path == top {
					return err
				}
				info, err := d.Info()
				if err != nil {
					return err
				}
				want := fs.FileMode(0o600)
				if d.IsDir() {
					want = fs.ModeDir | 0o700
				}
				if path == filepath.Join(top, "open") {
					want = fs.ModeDir | 0o777 // existed before: its mode does not change
				}
				if info.Mode() != want {
					t.Errorf("%s is %v, want %v", path, info.Mode(), want)
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

func TestOpenRejectsLinksAndPipes(t *testing.T) {
	for _, name := range []string{"records.jsonl", "restored.jsonl"} {
		t.Run("a link as "+name, func(t *testing.T) {
			path := finishedRun(t)
			appendJournal(t, path, restored("a", "1"))
			file := filepath.Join(path, name)
			if err := os.Rename(file, file+".moved"); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(name+".moved", file); err != nil {
				t.Fatal(err)
			}
			_, err := backup.Open(path)
			checkError(t, err, name, "not a regular file")
		})
		t.Run("a pipe as "+name, func(t *testing.T) {
			path := finishedRun(t)
			appendJournal(t, path, restored("a", "1"))
			file := filepath.Join(path, name)
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
			if err := syscall.Mkfifo(file, 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := backup.Open(path)
			checkError(t, err, name, "not a regular file")
		})
	}
	t.Run("a link that replaces the manifests later", func(t *testing.T) {
		path := finishedRun(t)
		b := open(t, path)
		before := saved(t, b)
		file := filepath.Join(path, "records.jsonl")
		if err := os.Rename(file, file+".moved"); err != nil {
			t.Fatal(err)
		}
		write(t, file+".other", "another")
		if err := os.Symlink("records.jsonl.other", file); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(before, saved(t, b)); diff != "" {
			t.Errorf("the manifests are not those of the opened file: %s", diff)
		}
	})
	t.Run("a pipe instead of the folder", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "pipe")
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := backup.Open(path)
		checkError(t, err, path, "not a directory")
	})
}
