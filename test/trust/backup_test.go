package trust

import (
	"net/http"
	"testing"
)

// Defect 5: objects missing from a list of whole objects counted as deleted, whatever the
// response was, so that a Namespace was deleted without a backup of its contents.
func TestObjectsThatCannotBeBackedUpAreKept(t *testing.T) {
	t.Parallel()
	message := Document(map[string]any{"message": "session expired"})
	for name, lists := range map[string]http.HandlerFunc{
		"a message":                          message,
		"a list of another kind":             list("v1", "ConfigMapList", []any{}),
		"a list without the field items":     list("v1", "SecretList", nil),
		"metadata in place of objects":       list("meta.k8s.io/v1", "PartialObjectMetadataList", []any{}),
		"a list that lacks existing objects": list("v1", "SecretList", []any{}),
		"a Table":                            list("meta.k8s.io/v1", "Table", nil),
		"a list without a kind":              list("", "", []any{}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := NewServer(t)
			garbage := garbageNamespace(s, 12)
			s.Lie(Sent(http.MethodGet, Secrets).And(Whole), message) // also to the GETs of single objects
			s.Lie(Listed(Secrets).And(Whole), lists)
			u := newUser(t, s)

			u.runs("collect", "--yes").exits(1)
			requireKept(t, s, garbage)
			if n := s.count(Secrets, "doomed"); n != 12 {
				t.Errorf("%d Secrets of 12 are left", n)
			}
		})
	}
}
