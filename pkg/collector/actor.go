package collector

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"
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
