package simulate

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// nondeterministicOwner returns an owner that makes the decision of the cluster's own
// collector nondeterministic, or graph.None. There are two cases:
//
//   - An owner waits, and the object does not block it, or no longer does. If the owner's
//     finalizer is removed before the collector processes the object, and other
//     finalizers hold the owner, it counts as solid and the object stays
//     (docs/gc-semantics.md#foreground-deletion). If none do, the owner is gone, and the
//     object is not deleted in the foreground.
//   - One owner orphans the object and another one is gone. If the orphaning comes first
//     and leaves no reference, the object stays. If it leaves only the dangling
//     reference, the object is deleted.
func (s *simulation) nondeterministicOwner(t Transition) graph.Node {
	if s.model.options.Actor == collector.ActorClient || t.StateBefore.Terminating() {
		return graph.None
	}
	for i, v := range t.Verdicts {
		owner := s.model.graph.Find(t.StateBefore.Owners[i].UID)
		switch {
		case t.OrphanedFrom != graph.None:
			if v.IsDanglingOrWaiting() && owner != t.OrphanedFrom {
				return owner
			}
		case v == collector.VerdictWaiting && (t.Action == collector.ActionUnblock || !blocksOwner(t.StateBefore, t.StateBefore.Owners[i])):
			return owner
		}
	}
	return graph.None
}

// clearDeterministic clears Transition.NondeterministicOwner where the final state shows
// that the order makes no difference.
func (s *simulation) clearDeterministic() {
	for i := range s.result.Transitions {
		if t := &s.result.Transitions[i]; t.NondeterministicOwner != graph.None && t.OrphanedFrom == graph.None && !s.orderMatters(t) {
			t.NondeterministicOwner = graph.None
		}
	}
}

// orderMatters reports whether the object of a transition could have ended in another
// state if the owner's finalizer had been removed earlier or later.
func (s *simulation) orderMatters(t *Transition) bool {
	owner, left := s.model.Object(t.NondeterministicOwner), s.model.now[t.Node]
	switch {
	case owner != nil && owner.DeletingDependents(): // its finalizer was never removed
		return false
	case owner != nil: // other finalizers hold it
		return true
	case t.Action == collector.ActionUnblock:
		return s.model.blockers[t.Node] > 0
	}
	return left != nil && left.DeletingDependents()
}

// deleteConflicts reports whether the cluster's own collector is about to delete an
// object whose references it has just unblocked. Since 1.34, the first DELETE names the
// old resourceVersion and fails with a conflict. Meanwhile, the collector removes the
// finalizers of owners that nothing else blocks
// (docs/gc-semantics.md#breaking-a-cycle).
func (s *simulation) deleteConflicts(n graph.Node) bool {
	return s.model.options.Actor == collector.ActorControllerManager && s.model.judge.Behavior().DeleteNamesResourceVersion && s.last[n] >= 0 && s.result.Transitions[s.last[n]].Action == collector.ActionUnblock
}

// entangled returns the members of cycles with more than one object of Bounds.Deletes,
// not all of them deleted in the background. Whether the collector breaks such a cycle
// depends on when each request arrives
// (docs/gc-semantics.md#stuck-foreground-deletions).
func (s *simulation) entangled() graph.Set {
	g := s.model.graph
	out, requested, foreground := graph.NewSet(g), graph.NewSet(g), false
	for _, d := range s.bounds.Deletes {
		if d.Node != graph.None {
			requested.Add(d.Node)
		}
		foreground = foreground || d.Policy == metav1.DeletePropagationForeground
	}
	if s.model.options.Actor == collector.ActorClient || !foreground || len(s.bounds.Deletes) < 2 {
		return out
	}
	for _, cycle := range g.Cycles(func(graph.Edge) bool { return true }) {
		n := 0
		for _, member := range cycle {
			if requested.Has(member) {
				n++
			}
		}
		for _, member := range cycle {
			if n > 1 {
				out.Add(member)
			}
		}
	}
	return out
}
