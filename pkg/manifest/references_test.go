package manifest

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

const twoDocuments = `# saved on Monday
apiVersion: v1
kind: Secret
metadata:
  name: a # the name
  ownerReferences:
  # the one that was deleted
  - apiVersion: apps/v1beta1
    kind: Deployment
    name: web
    uid: "1"
    controller: true
  - {apiVersion: v1, kind: Pod, name: gone, uid: "2"}
data: {x: eQ==}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: b
  namespace: shop
`

func TestDocumentsKeepEverythingButReferences(t *testing.T) {
	d, err := ReadDocuments(strings.NewReader(twoDocuments))
	if err != nil {
		t.Fatal(err)
	}
	objects, err := d.Objects()
	if err != nil || len(objects) != 2 || len(objects[0].Owners) != 2 || objects[1].Namespace != "shop" {
		t.Fatalf("read %+v, %v", objects, err)
	}
	becomes := objects[0].Owners[0]
	becomes.APIVersion, becomes.UID = "apps/v1", "3"
	if err := d.SetOwners(0, []*object.Reference{&becomes, nil}); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := d.Write(&out); err != nil {
		t.Fatal(err)
	}
	want := strings.NewReplacer("apps/v1beta1", "apps/v1", `uid: "1"`, `uid: "3"`, "  - {apiVersion: v1, kind: Pod, name: gone, uid: \"2\"}\n", "").Replace(twoDocuments)
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestDocumentsWithoutReferencesLeft(t *testing.T) {
	d, err := ReadDocuments(strings.NewReader(`{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"gone","uid":"2"}]}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if err := d.SetOwners(0, []*object.Reference{nil}); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := d.Write(&out); err != nil || strings.Contains(out.String(), "ownerReferences") || !strings.Contains(out.String(), `"name": "p"`) {
		t.Errorf("wrote %s, %v", &out, err)
	}
}

func TestReadDocumentsRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"what is not YAML":         "a: [",
		"malformed references":     "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\n  ownerReferences: [1]\n",
		"references that are text": "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\n  ownerReferences: owner\n",
	} {
		t.Run(name, func(t *testing.T) {
			d, err := ReadDocuments(strings.NewReader(text))
			if err == nil {
				_, err = d.Objects()
			}
			if err == nil || strings.Contains(err.Error(), "owner\n") {
				t.Errorf("the error is %v", err)
			}
		})
	}
}
