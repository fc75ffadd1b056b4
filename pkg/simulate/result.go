package simulate

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// Bounds limit a simulation. The zero value looks at everything.
type Bounds struct {
	// Roots says which objects the first pass looks at; what follows from its
	// acts follows all the same. Nil: all of them.
	Roots func(graph.Node) bool
	// Within says which objects may be acted on at all. Nil: all of them.
	Within func(graph.Node) bool
	// Deletes are asked for before the first pass, in their order.
	Deletes []Deletion
}

// Nothing is the Roots of a course that follows only the requested deletions.
func Nothing(graph.Node) bool { return false }

// Transition is one act on one object, in the order in which they may be done.
type Transition struct {
	collector.Decision
	Asked       bool // somebody asked for it: no collector decides so
	Pass        int  // from 1; what is asked for comes in the first
	Node        graph.Node
	StateBefore *object.Object      // what the act finds
	Verdicts    []collector.Verdict // on the references of Before; nil for a terminating object
	// Requested is the owner that is being orphaned, for whose sake the dependent is
	// detached; else None.
	Requested graph.Node
	// StateAfter are the moves that must be over before this one: the last ones on the
	// object itself, its owners and its dependents; for a namespace or a
	// CustomResourceDefinition also those of what is in it. A move is over when
	// others have done their part: see Swept and Stopped. Ascending.
	StateAfter []int
	// Follows is the move without which this one would not be, or -1.
	Follows int
	// Nondeterministic is an owner on whose account it is a matter of luck what the cluster's own
	// collector makes of the object: see race. Else None.
	Nondeterministic graph.Node
}

// Result is a simulation that has come to its end.
type Result struct {
	Transitions []Transition
	Model       *Model // the state at the end
	// ContentsDeleted are the objects that others delete because a move deleted their
	// namespace or their CustomResourceDefinition, with that move
	// (docs/gc-semantics.md#contents-of-a-namespace); with Theirs also the
	// Endpoints of a Service. They may be gone before a move of their own
	// comes.
	ContentsDeleted map[graph.Node]int
	// StoppedPods are the moves that delete a Pod which a kubelet has to stop.
	StoppedPods map[int]bool
	// Asked are the objects whose deletion was asked for, whether or not that made
	// a move.
	Asked []graph.Node
	// Entangled are the members of circles which more than one target is in, so that
	// what becomes of them is a matter of luck; with Theirs alone.
	Entangled graph.Set
	// FinalizersRemoved are the objects that others let go of, by themselves, in what followed:
	// see Custodian.
	FinalizersRemoved graph.Set

	simulation *simulation
}
