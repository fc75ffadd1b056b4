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

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

var secret = object.Object{Identity: object.Identity{APIVersion: "v1", Kind: "Secret", Namespace: "shop", Name: "s", UID: "u-s"}, ResourceVersion: "1"}

const secretManifest = `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s","namespace":"shop","uid":"u-s","resourceVersion":"1"},"data":{"a":"aHVudGVyMg=="}}`

// swap puts a link to an empty folder in the place of a folder, which goes on under
// another name.
func swap(t *testing.T, path string) (moved, elsewhere string) {
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

func TestAFolderThatIsReplacedByALinkAfterCreateIsStillTheOneThatIsWritten(t *testing.T) {
	f, err := Create(t.TempDir(), "run", Header{})
	if err != nil {
		t.Fatal(err)
	}
	moved, elsewhere := swap(t, f.Path())
	err = errors.Join(
		f.Save(secret, json.RawMessage(secretManifest)), f.Sync(), f.SavePlan([]byte("{}")),
		f.Done(Result{Action: "delete", Status: "done"}), f.Finish(time.Now()), f.Close(),
	)
	if err != nil {
		t.Fatal(err)
	}
	if got := filesIn(t, elsewhere); len(got) > 0 {
		t.Errorf("where the link leads there is %q now", got)
	}
	if got, want := filesIn(t, moved), []string{"Secret.json", "done.jsonl", "index.json", "objects.jsonl", "plan.json"}; !slices.Equal(got, want) {
		t.Errorf("the folder holds %q, want %q", got, want)
	}
}

func TestAFolderThatIsReplacedByALinkAfterOpenIsStillTheOneThatIsReadAndNotedIn(t *testing.T) {
	path := filled(t)
	b, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	moved, elsewhere := swap(t, path)
	if got, err := b.Manifest(b.Entries[0]); err != nil || string(got) != secretManifest {
		t.Errorf("got %s, %v", got, err)
	}
	if got, err := b.Plan(); err != nil || string(got) != "{}" {
		t.Errorf("got %s, %v", got, err)
	}
	j, err := b.Journal()
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(j.Note(Restored{Action: "create", Object: secret.Identity, Status: "done"}), j.Close()); err != nil {
		t.Fatal(err)
	}
	if got := filesIn(t, elsewhere); len(got) > 0 {
		t.Errorf("where the link leads there is %q now", got)
	}
	if got := filesIn(t, moved); !slices.Contains(got, restoredFile) {
		t.Errorf("the folder holds %q", got)
	}
}

func filled(t *testing.T) (path string) {
	t.Helper()
	f, err := Create(t.TempDir(), "run", Header{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Save(secret, json.RawMessage(secretManifest)), f.SavePlan([]byte("{}")), f.Close()); err != nil {
		t.Fatal(err)
	}
	return f.Path()
}

// Between the opening of a folder and its check, its path may come to mean another.
func TestWhatIsCheckedIsTheFolderThatWasOpenedAndNotItsPath(t *testing.T) {
	path := filled(t)
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
	if _, err := readFolder(root, path); !errors.As(err, new(*WorldWritableError)) {
		t.Errorf("got %v", err)
	}
}

// What somebody may have put in the place of a folder that was just made.
func TestAFolderIsNotWrittenToUnlessItIsTheOneThatWasMade(t *testing.T) {
	other := filled(t)
	for name, c := range map[string]struct {
		put  func(path string) error
		want string
	}{
		"a link that leads out":                {func(path string) error { return os.Symlink(t.TempDir(), path) }, "path escapes from parent"},
		"another backup":                       {func(path string) error { return os.Rename(other, path) }, "it is not empty"},
		"a folder to which others may write":   {func(path string) error { return errors.Join(os.Mkdir(path, 0o700), os.Chmod(path, 0o777)) }, "others may write to it"},
		"a file":                               {func(path string) error { return os.WriteFile(path, nil, 0o600) }, "not a directory"},
		"the folder that was made is accepted": {func(path string) error { return os.Mkdir(path, 0o700) }, ""},
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
			root, err := openMade(parent, "run")
			if err == nil {
				defer root.Close()
			}
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}
