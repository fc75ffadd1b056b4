package simulate

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// Bounds limit a simulation. The zero value limits nothing.
type Bounds struct {
	// Roots reports whether the first pass processes an object. Later passes process
	// whatever a transition may affect. Nil: all objects.
	Roots func(graph.Node) bool
	// Within reports whether the collector may act on an object. Nil: on all of them.
	Within func(graph.Node) bool
	// Deletes are requested before the first pass, in this order.
	Deletes []Deletion
}

// Deletion is a DELETE request by a user.
type Deletion struct {
	Node   graph.Node
	Policy metav1.DeletionPropagation
}

// NoRoots is a value for Bounds.Roots that limits a simulation to the effects of
// Bounds.Deletes.
func NoRoots(graph.Node) bool { return false }

// Transition is an action on one object.
type Transition struct {
	collector.Decision
	Requested   bool // from Bounds.Deletes, so the decision is not the collector's
	Pass        int  // from 1; requested deletions are in the first
	Node        graph.Node
	StateBefore *object.Object      // before the action
	Verdicts    []collector.Verdict // on the references of that state; nil for a terminating object
	// OrphanedFrom is the owner that the node is orphaned from, or graph.None.
	OrphanedFrom graph.Node
	// Prerequisites are the transitions that must be complete before this one, in ascending
	// order: the last ones of the object, its owners and its dependents, and for a
	// Namespace or CustomResourceDefinition also those of its contents. A transition is
	// complete when its contents are deleted and its Pod has stopped.
	Prerequisites []int
	// CausedBy is the transition that caused this one, or -1.
	CausedBy int
	// NondeterministicOwner is an owner because of which the decision of the cluster's own
	// collector is nondeterministic, or graph.None.
	NondeterministicOwner graph.Node
}

// Result is what a simulation did. It is immutable, and so is the model in it.
type Result struct {
	Transitions []Transition // in an order in which they may be applied
	Model       *Model       // the final state
	// ContentsDeleted maps objects that other controllers delete to the transition that
	// made them do so: the contents of a Namespace or CustomResourceDefinition
	// (docs/gc-semantics.md#contents-of-a-namespace), and for ActorControllerManager the
	// Endpoints of a Service. They may be gone before a transition of their own.
	ContentsDeleted map[graph.Node]int
	// StoppedPods are the transitions that delete a Pod which its kubelet has to stop.
	StoppedPods map[int]bool
	// Requested are the nodes of Bounds.Deletes, whether or not their deletion changed
	// anything.
	Requested []graph.Node
	// Entangled are the members of cycles with more than one object of Bounds.Deletes.
	// What happens to them is nondeterministic. Empty for ActorClient.
	Entangled graph.Set
	// FinalizersRemoved are the objects that other controllers removed finalizers from:
	// see FinalizerController.
	FinalizersRemoved graph.Set

	simulation *simulation
}
