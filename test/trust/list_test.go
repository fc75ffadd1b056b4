package trust

import (
	"net/http"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/apiserver"
)

// Defect 6: a response with status 200 that was not a list counted as an empty list, so that a
// finalizer was removed although its dependents were never listed.
func TestInvalidListIsAGap(t *testing.T) {
	t.Parallel()
	noItems := []any{}
	stranger := []any{map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "x", "namespace": "shop", "uid": "y"}}}
	requireGaps(t, map[string]http.HandlerFunc{
		"an error of a gateway":          Document(map[string]any{"kind": "Error", "apiVersion": "v1", "message": "session expired"}),
		"a list of another kind":         list("v1", "ConfigMapList", noItems),
		"another group's list":           list("example.com/v1", "SecretList", noItems),
		"a list without the field items": list("meta.k8s.io/v1", "PartialObjectMetadataList", nil),
		"whole objects without items":    list("v1", "SecretList", nil),
		"a list of whole Pods":           list("v1", "PodList", []any{map[string]any{"metadata": map[string]any{"name": "x", "namespace": "shop", "uid": "y"}}}),
		"items of another kind":          list("meta.k8s.io/v1", "PartialObjectMetadataList", stranger),
	})
}

// The same with responses that are no lists at all.
func TestOtherDocumentInsteadOfListIsAGap(t *testing.T) {
	t.Parallel()
	requireGaps(t, map[string]http.HandlerFunc{
		"a login page":                       Page(),
		"nothing":                            Text(http.StatusOK, apiserver.InJSON, ""),
		"no content":                         Text(http.StatusNoContent, apiserver.InJSON, ""),
		"null":                               Document(nil),
		"an array":                           Document([]any{}),
		"an empty object":                    Document(map[string]any{}),
		"a message":                          Document(map[string]any{"message": "session expired"}),
		"a Status that tells of success":     success,
		"metadata of one object":             list("meta.k8s.io/v1", "PartialObjectMetadata", []any{}),
		"a list without a kind":              list("meta.k8s.io/v1", "", []any{}),
		"a table":                            Document(map[string]any{"apiVersion": "meta.k8s.io/v1", "kind": "Table", "columnDefinitions": []any{}, "rows": []any{}}),
		"items that are a string":            list("meta.k8s.io/v1", "PartialObjectMetadataList", "none"),
		"items that are an object":           list("meta.k8s.io/v1", "PartialObjectMetadataList", map[string]any{}),
		"items without metadata":             list("meta.k8s.io/v1", "PartialObjectMetadataList", []any{map[string]any{}}),
		"an item that is null":               list("meta.k8s.io/v1", "PartialObjectMetadataList", []any{nil}),
		"protobuf cut short":                 Text(http.StatusOK, apiserver.InProtobuf, "k8s\x00"),
		"an Error in protobuf":               InProtobuf("v1", "Error", nil),
		"a Status in protobuf":               InProtobuf("v1", "Status", nil),
		"a list of another kind in protobuf": InProtobuf("v1", "ConfigMapList", nil),
		"one object in protobuf":             InProtobuf("meta.k8s.io/v1", "PartialObjectMetadata", nil),
	})
}

// requireGaps requires that nothing is concluded from such responses to lists of Secrets.
func requireGaps(t *testing.T, answers map[string]http.HandlerFunc) {
	for name, answer := range answers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			keepsFinalizerUnderLies(t, Secrets, func(s *Server) { s.Lie(Listed(Secrets), answer) })
		})
	}
}

// list responds with a list that claims to be of that kind; nil items are omitted.
func list(apiVersion, kind string, items any) http.HandlerFunc {
	document := map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"resourceVersion": "1"}}
	if items != nil {
		document["items"] = items
	}
	return Document(document)
}
