package restore

import (
	"encoding/json"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json" // keeps integers, which a map of floats would not

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// manifest is a whole object. What somebody wrote into it is not trusted: a field
// of another type than it should have counts as absent.
type manifest map[string]any

func parse(raw json.RawMessage) (manifest, error) {
	var m manifest
	err := utiljson.Unmarshal(raw, (*map[string]any)(&m))
	return m, err
}

func (m manifest) text(path ...string) string {
	s, _, _ := unstructured.NestedString(m, path...)
	return s
}

func (m manifest) flag(path ...string) bool {
	b, _, _ := unstructured.NestedBool(m, path...)
	return b
}

// fields is a part of the manifest that may be changed in place; nil where there
// is none.
func (m manifest) fields(path ...string) manifest {
	v, _, _ := unstructured.NestedFieldNoCopy(m, path...)
	f, _ := v.(map[string]any)
	return f
}

// list is a list of the manifest, not a copy of it.
func (m manifest) list(path ...string) []any {
	v, _, _ := unstructured.NestedFieldNoCopy(m, path...)
	l, _ := v.([]any)
	return l
}

func (m manifest) has(path ...string) bool {
	_, found, err := unstructured.NestedFieldNoCopy(m, path...)
	return found && err == nil
}

func (m manifest) drop(path ...string) { unstructured.RemoveNestedField(m, path...) }

// set puts a value where the fields above it are there.
func (m manifest) set(value any, path ...string) {
	if above := m.fields(path[:len(path)-1]...); above != nil {
		above[path[len(path)-1]] = value
	}
}

// without takes strings out of a list, and the list where none is left.
func (m manifest) without(unwanted []string, path ...string) {
	kept := slices.DeleteFunc(slices.Clone(m.list(path...)), func(v any) bool {
		s, is := v.(string)
		return is && slices.Contains(unwanted, s)
	})
	if len(kept) == 0 {
		m.drop(path...)
		return
	}
	m.set(kept, path...)
}

// annotation is one of the object's.
func (m manifest) annotation(key string) string { return m.text("metadata", "annotations", key) }

// label is one of the object's.
func (m manifest) label(key string) string { return m.text("metadata", "labels", key) }

// own gives the object owner references.
func (m manifest) own(refs []object.Reference) {
	if len(refs) == 0 {
		m.drop("metadata", "ownerReferences")
		return
	}
	out := make([]any, len(refs))
	for i, r := range refs {
		f := map[string]any{"apiVersion": r.APIVersion, "kind": r.Kind, "name": r.Name, "uid": string(r.UID)}
		if r.Controller != nil {
			f["controller"] = *r.Controller
		}
		if r.BlockOwnerDeletion != nil {
			f["blockOwnerDeletion"] = *r.BlockOwnerDeletion
		}
		out[i] = f
	}
	m.set(out, "metadata", "ownerReferences")
}

// owners are the object's owner references, in their order.
func (m manifest) owners() []object.Reference {
	u := unstructured.Unstructured{Object: m}
	return object.ReferencesOf(u.GetOwnerReferences())
}
