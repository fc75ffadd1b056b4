package restore

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// serverSet is what the server sets on every object, and refuses or ignores in
// one that is to be made.
var serverSet = []string{
	"uid", "resourceVersion", "creationTimestamp", "generation", "deletionTimestamp", "deletionGracePeriodSeconds",
	"selfLink", "managedFields",
}

// clean takes out of a manifest what belongs to the object that is gone, and
// returns what is lost thereby. Owner references stay.
//
// The finalizers of others stay, as who set them expects to be asked before the
// object goes; those of the collector would have it deleted or orphaned.
func clean(m manifest, of kind, s *surroundings) []reason.Reason {
	for _, field := range serverSet {
		m.drop("metadata", field)
	}
	m.without([]string{object.ForegroundFinalizer, object.OrphanFinalizer}, "metadata", "finalizers")
	var lost []reason.Reason
	if of.clean != nil {
		lost = of.clean(m, s) // it may look at the status
	}
	if !custom(m) {
		m.drop("status")
	}
	return lost
}

// custom says whether a kind may be one that a CustomResourceDefinition defines.
// Of those the status stays in the manifest: the server drops it itself where it
// is a subresource, and where it is not, somebody wrote it as they wrote the rest.
func custom(m manifest) bool {
	group := schema.FromAPIVersionAndKind(m.text("apiVersion"), m.text("kind")).Group
	return !builtIn(group)
}

// builtIn says whether a group is one of Kubernetes itself. Its ending does not
// tell: what SIGs define ends in k8s.io, too.
func builtIn(group string) bool {
	switch group {
	case "", "apps", "batch", "autoscaling", "policy", "extensions",
		"admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io", "authentication.k8s.io",
		"authorization.k8s.io", "certificates.k8s.io", "coordination.k8s.io", "discovery.k8s.io", "events.k8s.io",
		"flowcontrol.apiserver.k8s.io", "internal.apiserver.k8s.io", "networking.k8s.io", "node.k8s.io",
		"rbac.authorization.k8s.io", "resource.k8s.io", "scheduling.k8s.io", "storage.k8s.io", "storagemigration.k8s.io":
		return true
	}
	return false
}
