//go:build unix

package backup

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

var secret = object.Object{Identity: object.Identity{APIVersion: "v1", Kind: "Secret", Namespace: "shop", Name: "s", UID: "u-s"}, ResourceVersion: "1"}

const secretManifest = `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s","namespace":"shop","uid":"u-s","resourceVersion":"1"},"data":{"a":"aHVudGVyMg=="}}`

// replaceWithLink renames a folder and puts a link to an empty one in its place.
func replaceWithLink(t *testing.T, path string) (moved, elsewhere string) {
	t.Helper()
	moved, elsewhere = path+".moved", t.TempDir()
	if err := errors.Join(os.Rename(path, moved), os.Symlink(elsewhere, path)); err != nil {
		t.Fatal(err)
	}
	return moved, elsewhere
}

func filesIn(t *testing.T, path string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestFolderReplacedAfterCreateIsStillWritten(t *testing.T) {
	f, err := Create(t.TempDir(), "run", Header{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	moved, elsewhere := replaceWithLink(t, f.Path())
	err = errors.Join(
		f.Save(secret, json.RawMessage(secretManifest)), f.Sync(), f.SaveSteps(slices.Values([]event.Step{{ID: "1", Action: "delete", Object: secret.Identity}})),
		f.AddResult(event.Record{Action: "delete", Object: secret.Identity, Status: "done"}), f.Finish(time.Now()), f.Close(),
	)
	if err != nil {
		t.Fatal(err)
	}
	if got := filesIn(t, elsewhere); len(got) > 0 {
		t.Errorf("the target of the link contains %q", got)
	}
	if got, want := filesIn(t, moved), []string{RecordsFile}; !slices.Equal(got, want) {
		t.Errorf("the folder contains %q, want %q", got, want)
	}
}

func TestBackupReplacedAfterOpenIsStillUsed(t *testing.T) {
	path := newBackup(t)
	b, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	moved, elsewhere := replaceWithLink(t, path)
	if got, err := b.Manifest(b.Entries[0]); err != nil || string(got) != secretManifest {
		t.Errorf("got %s, %v", got, err)
	}
	j, err := b.Journal()
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(j.Add(event.Record{Action: "create", Object: secret.Identity, Status: "done"}), j.Close()); err != nil {
		t.Fatal(err)
	}
	if got := filesIn(t, elsewhere); len(got) > 0 {
		t.Errorf("the target of the link contains %q", got)
	}
	if got := filesIn(t, moved); !slices.Contains(got, restoredFile) {
		t.Errorf("the folder contains %q", got)
	}
}

func newBackup(t *testing.T) (path string) {
	t.Helper()
	f, err := Create(t.TempDir(), "run", Header{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Save(secret, json.RawMessage(secretManifest)), f.SaveSteps(slices.Values([]event.Step{{ID: "1", Action: "delete", Object: secret.Identity}})), f.Close()); err != nil {
		t.Fatal(err)
	}
	return f.Path()
}

// The folder at the path may be replaced between opening and checking it.
func TestOpenChecksTheOpenedFolder(t *testing.T) {
	path := newBackup(t)
	if err := os.Chmod(path, 0o777); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	moved := path + ".moved"
	if err := errors.Join(os.Rename(path, moved), os.CopyFS(path, os.DirFS(moved)), os.Chmod(path, 0o700)); err != nil {
		t.Fatal(err)
	}
	if err := (&Backup{path: path, root: root}).read(); !errors.As(err, new(*WorldWritableError)) {
		t.Errorf("got %v", err)
	}
}

// Another process may replace a folder that was just created.
func TestCreateDetectsAReplacedFolder(t *testing.T) {
	other := newBackup(t)
	for name, c := range map[string]struct {
		put  func(path string) error
		want string
	}{
		"a link to another folder":           {func(path string) error { return os.Symlink(t.TempDir(), path) }, "path escapes from parent"},
		"another backup":                     {func(path string) error { return os.Rename(other, path) }, "it is not empty"},
		"a folder to which others may write": {func(path string) error { return errors.Join(os.Mkdir(path, 0o700), os.Chmod(path, 0o777)) }, "others may write to it"},
		"a file":                             {func(path string) error { return os.WriteFile(path, nil, 0o600) }, "not a directory"},
		"the folder itself":                  {func(path string) error { return os.Mkdir(path, 0o700) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := c.put(filepath.Join(dir, "run")); err != nil {
				t.Fatal(err)
			}
			parent, err := os.OpenRoot(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer parent.Close()
			root, err := openCreated(parent, "run")
			if err == nil {
				defer root.Close()
			}
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}
