package collector

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Actor is whose acts a model foretells.
type Actor int

// The hands.
const (
	// ActorClient acts as this program does: with the care, and as far, as
	// docs/differences.md says.
	ActorClient Actor = iota
	// ActorControllerManager is the cluster's own collector, which has been running all along, with
	// the other controllers of Kubernetes beside it. It errs where it errs, it sees
	// what a look could not read, and it is there when a deletion begins.
	ActorControllerManager
)

// NewActorModel is the state that the graph shows, to be moved on by that hand.
func NewActorModel(g *graph.Graph, j *Judge, hand Actor) *Model {
	m := newModel(g, j)
	m.actor = hand
	m.whole = m.whole || hand == ActorControllerManager
	return m
}

// NewApplyModel returns a model of what this program does itself. Unlike one that only
// predicts what a collector does, it keeps a Namespace or CustomResourceDefinition whose
// contents were not all listed. Gaps that a person accepted hide neither contents nor
// dependents.
func NewApplyModel(g *graph.Graph, j *Judge, accepted snapshot.AcceptedGaps) *Model {
	m := NewActorModel(g, j, ActorClient)
	m.acting, m.accepted, m.hidden = true, accepted, map[graph.Node]bool{}
	m.whole = wholeView(g, accepted)
	return m
}

// NewModel is the state that the graph shows, to be moved on by Ours.
func NewModel(g *graph.Graph, j *Judge) *Model { return NewActorModel(g, j, ActorClient) }

// bad are the references that a dependent with a solid owner loses. The cluster's
// own collector names UIDs in its patch, so a good one goes with its bad double
// (docs/gc-semantics.md#removing-references).
func (s DecisionInput) bad(w Assessment) []int {
	if s.Actor == ActorClient {
		return indices(s.Verdicts, Verdict.IsBad)
	}
	var out []int
	for i, r := range s.Object.Owners {
		if w.bad[r.UID] {
			out = append(out, i)
		}
	}
	return out
}

// blocking are the references that stop blocking to break a circle. Of two with
// one UID the cluster's own collector merges both into the first, so that the
// second blocks for ever (docs/gc-semantics.md#breaking-a-cycle).
func (s DecisionInput) blocking() []int {
	all := blocks(s.Object)
	if s.Actor == ActorClient {
		return all
	}
	first := map[types.UID]int{}
	for i, r := range s.Object.Owners {
		if _, seen := first[r.UID]; !seen {
			first[r.UID] = i
		}
	}
	return slices.DeleteFunc(all, func(i int) bool { return first[s.Object.Owners[i].UID] != i })
}
