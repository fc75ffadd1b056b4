package oracle

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/test/oracle/scenario"
)

// The states of an object. A terminating one is followed by the finalizers that it waits for.
const (
	gone        = "deleted"
	alive       = "not deleted"
	terminating = "terminating, waits for "
)

// Describe returns what the collector may change of an object: its state, its owner references, and which
// of them block.
func Describe(o *scenario.Object) string {
	if o == nil {
		return gone
	}
	return stateOf(o) + ", " + ownersOf(o)
}

// stateOf returns the state of an object, which is nil if it is gone.
func stateOf(o *scenario.Object) string {
	switch {
	case o == nil:
		return gone
	case o.DeletionTimestamp == nil:
		return alive
	}
	return terminatingState(o.Finalizers)
}

// terminatingState returns the state of a terminating object with these finalizers. Without
// any it waits for another component, which the preview calls kubernetes.
func terminatingState(finalizers []string) string {
	if len(finalizers) == 0 {
		return terminating + "kubernetes"
	}
	sorted := slices.Clone(finalizers)
	slices.Sort(sorted)
	return terminating + strings.Join(sorted, ", ")
}

// formatOwners returns the owner references of an object, and which of them block. Whether a
// flag is unset or false makes no difference to the collector, and the API server removes
// duplicates from every object that it writes.
func formatOwners(owners []object.Reference) string {
	if len(owners) == 0 {
		return "no references"
	}
	var parts []string
	for _, r := range owners {
		out := metav1.OwnerReference{APIVersion: r.APIVersion, Kind: r.Kind, Name: r.Name, UID: r.UID}
		if r.Blocks() {
			out.BlockOwnerDeletion = ptr(true)
		}
		if part := formatReference(out); !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	slices.Sort(parts) // a patch may reorder them
	return strings.Join(parts, " ")
}

func ownersOf(o *scenario.Object) string {
	if o == nil {
		return gone
	}
	return formatOwners(object.ReferencesOf(o.OwnerReferences))
}
