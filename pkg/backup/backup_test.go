package backup_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/kubectl-gc/kubectl-gc/pkg/backup"
	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

var started = time.Date(2026, 11, 20, 8, 31, 7, 0, time.UTC)

const run = "2026-11-20T08-31-07Z"

var header = backup.Header{
	Tool: "v0.1.0", ClusterUID: "u-cluster", Server: "https://prod.example.com:6443", ServerVersion: "v1.36.3",
	Context: "prod", Command: "collect", Mode: "collect", Digest: "5f2a9c41", Started: started,
}

// manifest returns a complete object, indented, unlike what an API server sends, with a
// number that a float cannot represent.
func manifest(o object.Object) json.RawMessage {
	data, err := json.MarshalIndent(map[string]any{
		"apiVersion": o.APIVersion, "kind": o.Kind,
		"metadata": map[string]any{
			"namespace": o.Namespace, "name": o.Name, "uid": o.UID, "resourceVersion": o.ResourceVersion,
			"ownerReferences": []any{map[string]any{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "gone"}},
		},
		"data": map[string]any{"big": json.Number("12345678901234567890.10"), "text": "two\nlines \u2028 <&>"},
	}, "", "  ")
	if err != nil {
		panic(err)
	}
	return data
}

// newObject returns an object shop/<name> whose UID is derived from its name.
func newObject(apiVersion, kind, name, resourceVersion string) object.Object {
	return object.Object{
		Identity:        object.Identity{APIVersion: apiVersion, Kind: kind, Namespace: "shop", Name: name, UID: "uid-of-" + uid(name)},
		ResourceVersion: resourceVersion,
	}
}

// objectOf returns the metadata of a manifest.
func objectOf(manifest json.RawMessage) (object.Object, error) {
	var m metav1.PartialObjectMetadata
	err := utiljson.Unmarshal(manifest, &m)
	return object.FromMeta(m.APIVersion, m.Kind, &m, false), err
}

func create(t testing.TB) *backup.Folder {
	t.Helper()
	f, err := backup.Create(t.TempDir(), run, header, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// deleted is a result.
var deleted = event.Record{Step: "1", Action: "delete", Object: newObject("v1", "Secret", "a", "").Identity, Status: "done"}

func save(t testing.TB, f *backup.Folder, objects ...object.Object) {
	t.Helper()
	for _, o := range objects {
		if err := f.Save(o, manifest(o)); err != nil {
			t.Fatal(err)
		}
	}
}

func sync(t testing.TB, f *backup.Folder) {
	t.Helper()
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
}

func closeFolder(t testing.TB, f *backup.Folder) {
	t.Helper()
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func open(t testing.TB, path string) *backup.Backup {
	t.Helper()
	b, err := backup.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

// saved reads every entry's manifest and returns kind, name and resourceVersion.
func saved(t testing.TB, b *backup.Backup) []string {
	t.Helper()
	var out []string
	for _, e := range b.Entries {
		data, err := b.Manifest(e)
		if err != nil {
			t.Fatal(err)
		}
		o, err := objectOf(data)
		if err != nil {
			t.Fatal(err)
		}
		if o.Identity != e.Object || o.ResourceVersion != e.ResourceVersion {
			t.Fatalf("the entry of %v in version %s has the manifest of %v in version %s", e.Object, e.ResourceVersion, o.Identity, o.ResourceVersion)
		}
		out = append(out, fmt.Sprintf("%s@%s", o, o.ResourceVersion))
	}
	return out
}

// finishedRun returns a closed folder with steps, two Syncs, an object saved twice, and
// two results.
func finishedRun(t testing.TB) string {
	t.Helper()
	f := create(t)
	if err := f.SaveSteps(slices.Values(steps)); err != nil {
		t.Fatal(err)
	}
	save(t, f, newObject("v1", "Secret", "a", "1"), newObject("apps/v1", "Deployment", "web", "2"))
	sync(t, f)
	save(t, f, newObject("v1", "Secret", "b", "3"), newObject("v1", "Secret", "a", "4"))
	sync(t, f)
	for i, name := range []string{"a", "b"} {
		r := event.Record{
			Step: fmt.Sprint(i + 1), Action: "delete", Object: newObject("v1", "Secret", name, "").Identity,
			Status: "done", Time: started.Add(time.Duration(i) * time.Second),
		}
		if err := f.AddResult(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Finish(started.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	closeFolder(t, f)
	return f.Path()
}

var steps = []event.Step{
	{ID: "1", Action: "delete", Object: newObject("v1", "Secret", "a", "").Identity, Why: "its only owner is gone"},
	{ID: "2", Action: "unlink", Object: newObject("v1", "Secret", "b", "").Identity, References: []event.ReferenceChange{
		{Before: object.Reference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web", UID: "uid-of-web"}},
	}},
}

func readText(t testing.TB, elements ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(elements...))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func write(t testing.TB, path, data string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
}

func names(t testing.TB, folder string) []string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

// checkError checks that an error is one line of text and contains some texts.
func checkError(t testing.TB, err error, want ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one with %q", want)
	}
	for _, w := range want {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("got %q, want %q in it", err, w)
		}
	}
	if strings.ContainsAny(err.Error(), "\n\r\x00\x1b") {
		t.Errorf("the error is not one line of text: %q", err)
	}
}
