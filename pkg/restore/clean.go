package restore

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// serverSet are the metadata fields that the API server sets, and refuses or
// ignores in a create request.
var serverSet = []string{
	"uid", "resourceVersion", "creationTimestamp", "generation", "deletionTimestamp", "deletionGracePeriodSeconds",
	"selfLink", "managedFields",
}

// clean removes from a manifest what belongs to the deleted object, and returns
// what is lost. Owner references stay.
//
// Finalizers of other controllers stay, because those expect to be asked before
// the object is deleted. The garbage collector's own finalizers are removed.
func clean(m manifest, k kind, v *volumeContext) []reason.Reason {
	for _, field := range serverSet {
		m.drop("metadata", field)
	}
	m.removeStrings([]string{object.ForegroundFinalizer, object.OrphanFinalizer}, "metadata", "finalizers")
	var lost []reason.Reason
	if k.clean != nil {
		lost = k.clean(m, v) // may read the status
	}
	// The status of a custom resource stays: if it is a subresource, the API server
	// drops it; if not, a user wrote it.
	if isBuiltInGroup(schema.FromAPIVersionAndKind(m.text("apiVersion"), m.text("kind")).Group) {
		m.drop("status")
	}
	return lost
}

// cleanNamespace leaves the finalizers in the spec to the API server.
func cleanNamespace(m manifest, _ *volumeContext) []reason.Reason {
	m.drop("spec", "finalizers")
	return nil
}
