package stories

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const folder = "../../docs/demo"

func TestEveryPlaceholderNamesAManifest(t *testing.T) {
	manifests, err := Read(os.DirFS(folder))
	if err != nil {
		t.Fatal(err)
	}
	uids := map[string]string{}
	for _, m := range manifests {
		if uids[m.String()] != "" {
			t.Errorf("%s is there twice", m)
		}
		uids[m.String()] = "the-uid-of-" + m.String()
	}
	for _, m := range manifests {
		owners, err := m.resolved(uids)
		if err != nil {
			t.Errorf("%s: %v", m.file, err)
		}
		for _, owner := range owners {
			if uid := owner.(map[string]any)["uid"].(string); strings.Contains(uid, "$") {
				t.Errorf("%s: %s keeps the placeholder %s", m.file, m, uid)
			}
		}
	}
}

func TestTheReadmeTellsEveryStory(t *testing.T) {
	manifests, err := Read(os.DirFS(folder))
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile(folder + "/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range manifests {
		if !strings.Contains(string(readme), "]("+m.file+")") {
			t.Errorf("README.md has no link to %s", m.file)
		}
	}
}

const couple = `apiVersion: v1
kind: ConfigMap
metadata:
  name: b
  namespace: x
  annotations:
    demo.kubectl-gc.dev/delete: Foreground
  ownerReferences:
  - uid: ${ConfigMap x/a}
  - uid: 11111111-1111-1111-1111-111111111111
---
apiVersion: v1
kind: Namespace
metadata:
  name: x
`

func TestReadManifests(t *testing.T) {
	manifests, err := Read(fstest.MapFS{"couple.yaml": {Data: []byte(couple)}})
	if err != nil {
		t.Fatal(err)
	}
	if len(manifests) != 2 || manifests[0].String() != "Namespace x" || manifests[1].String() != "ConfigMap x/b" {
		t.Fatalf("got %v, want the Namespace before what lives in it", manifests)
	}
	b := manifests[1]
	if b.delete != "Foreground" || len(b.Object.GetAnnotations()) > 0 || b.Object.GetOwnerReferences() != nil {
		t.Errorf("the annotation or the owners would be created too: %v, to be deleted %q", b.Object, b.delete)
	}

	owners, err := b.resolved(map[string]string{"ConfigMap x/a": "A"})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"A", "11111111-1111-1111-1111-111111111111"} {
		if got := owners[i].(map[string]any)["uid"]; got != want {
			t.Errorf("owner %d has uid %v, want %s", i, got, want)
		}
	}
	if _, err := b.resolved(nil); err == nil || !strings.Contains(err.Error(), "${ConfigMap x/a}") {
		t.Errorf("got error %v, want one that names the placeholder", err)
	}
}

func TestUnsettled(t *testing.T) {
	object := func(text string) *unstructured.Unstructured {
		t.Helper()
		m, err := parseManifest([]byte("{kind: Thing, " + text + "}"))
		if err != nil {
			t.Fatal(err)
		}
		return m.Object
	}
	kept := Manifest{Object: object("metadata: {name: a}")}
	deleted := Manifest{Object: object("metadata: {name: a, finalizers: [example.com/hold]}"), delete: "Foreground"}
	for name, c := range map[string]struct {
		of      Manifest
		live    string
		settled bool
	}{
		"no replicas wanted":    {kept, "metadata: {name: a}", true},
		"no status yet":         {kept, "metadata: {name: a}, spec: {replicas: 2}", false},
		"too few replicas":      {kept, "metadata: {name: a}, spec: {replicas: 2}, status: {replicas: 1}", false},
		"all replicas":          {kept, "metadata: {name: a}, spec: {replicas: 2}, status: {replicas: 2}", true},
		"not deleted yet":       {deleted, "metadata: {name: a}", false},
		"a controller's hold":   {deleted, "metadata: {name: a, deletionTimestamp: '2026-01-02T03:04:05Z', finalizers: [kubernetes.io/x]}", false},
		"the manifest's hold":   {deleted, "metadata: {name: a, deletionTimestamp: '2026-01-02T03:04:05Z', finalizers: [example.com/hold]}", true},
		"the collector's holds": {deleted, "metadata: {name: a, deletionTimestamp: '2026-01-02T03:04:05Z', finalizers: [foregroundDeletion]}", true},
	} {
		t.Run(name, func(t *testing.T) {
			if why := c.of.unsettled(object(c.live)); (why == nil) != c.settled {
				t.Errorf("got %v", why)
			}
		})
	}
}
