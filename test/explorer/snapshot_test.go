package explorer

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// snapshotBuilder builds a snapshot file: that of the demo, with other objects.
type snapshotBuilder struct {
	all     map[string]any
	objects []any
}

func newSnapshot(t *testing.T) *snapshotBuilder {
	t.Helper()
	saved, err := os.ReadFile(demo)
	if err != nil {
		t.Fatal(err)
	}
	l := &snapshotBuilder{}
	if err := json.Unmarshal(saved, &l.all); err != nil {
		t.Fatal(err)
	}
	l.all["lookups"] = []any{}
	return l
}

type reference struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Name       string `json:"name"`
	UID        string `json:"uid"`
	Controller bool   `json:"controller"`
}

// add adds an object. Its UID is its kind and name.
func (l *snapshotBuilder) add(apiVersion, kind, namespace, name string, owners ...reference) reference {
	uid := kind + "-" + name
	l.objects = append(l.objects, map[string]any{
		"apiVersion": apiVersion, "kind": kind, "namespace": namespace, "name": name, "uid": uid, "owners": owners, "created": "2026-11-19T10:00:00Z",
	})
	return reference{apiVersion, kind, name, uid, true}
}

// gap records that a type could not be listed.
func (l *snapshotBuilder) gap(group, resource, message string) {
	var listed []any
	for _, one := range l.all["listed"].([]any) {
		if of := one.(map[string]any); of["group"] != group || of["resource"] != resource {
			listed = append(listed, one)
		}
	}
	l.all["listed"] = listed
	l.all["gaps"] = append(l.all["gaps"].([]any), map[string]any{"group": group, "resource": resource, "reason": "forbidden", "message": message})
}

// save writes the snapshot and returns its path.
func (l *snapshotBuilder) save(t *testing.T) string {
	t.Helper()
	l.all["objects"] = l.objects
	saved, err := json.Marshal(l.all)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "look.json")
	if err := os.WriteFile(file, saved, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
