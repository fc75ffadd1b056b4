package restore

import (
	"encoding/json"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json" // keeps integers as integers

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// manifest is a complete object. It is not trusted: a field of the wrong type counts
// as absent.
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

// list returns a list inside the manifest, not a copy of it.
func (m manifest) list(path ...string) []any {
	v, _, _ := unstructured.NestedFieldNoCopy(m, path...)
	l, _ := v.([]any)
	return l
}

// items returns the elements of a list as manifests; what is not an object is empty.
func (m manifest) items(path ...string) []manifest {
	list := m.list(path...)
	out := make([]manifest, len(list))
	for i, v := range list {
		fields, _ := v.(map[string]any)
		out[i] = fields
	}
	return out
}

func (m manifest) has(path ...string) bool {
	_, found, err := unstructured.NestedFieldNoCopy(m, path...)
	return found && err == nil
}

func (m manifest) drop(path ...string) { unstructured.RemoveNestedField(m, path...) }

// set sets a field if its parent exists.
func (m manifest) set(value any, path ...string) {
	v, _, _ := unstructured.NestedFieldNoCopy(m, path[:len(path)-1]...)
	if parent, ok := v.(map[string]any); ok && parent != nil {
		parent[path[len(path)-1]] = value
	}
}

// removeStrings removes strings from a list, and the list itself if it becomes empty.
func (m manifest) removeStrings(unwanted []string, path ...string) {
	kept := slices.DeleteFunc(slices.Clone(m.list(path...)), func(v any) bool {
		s, ok := v.(string)
		return ok && slices.Contains(unwanted, s)
	})
	if len(kept) == 0 {
		m.drop(path...)
		return
	}
	m.set(kept, path...)
}

func (m manifest) owners() []object.Reference {
	u := unstructured.Unstructured{Object: m}
	return object.ReferencesOf(u.GetOwnerReferences())
}
