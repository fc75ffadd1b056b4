package simulate

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// phase is when an action happens within a pass. Actions that depend on an owner's state
// come before those that change that state.
type phase int

const (
	noPhase    phase = iota - 1
	completing       //  foreground deletions that end with this action
	unlinking
	unblocking
	deleting
	deletingLate // deletions of objects with contents, and those that orphan dependents: other decisions may concern those
	releasing    // removal of the collector's finalizers
	phases
)

func (s *simulation) phase(n graph.Node, d collector.Decision) phase {
	switch d.Action {
	case collector.ActionUnlink:
		return unlinking
	case collector.ActionUnblock:
		return unblocking
	case collector.ActionDelete:
		if s.model.now[n].DeleteForbidden() || s.controllers != nil && deleteFails(s.model.now[n], s.model.judge.Behavior()) {
			return noPhase
		}
		if DeletesContents(s.model.now[n].Identity) || d.Policy == metav1.DeletePropagationOrphan {
			return deletingLate
		}
		return deleting
	case collector.ActionRemoveFinalizer:
		if s.controllers != nil && d.Change.RemoveFinalizer == object.ForegroundFinalizer && losesTrack(s.model.graph, n) {
			return noPhase
		}
		if s.underWay[n] && d.Change.RemoveFinalizer == object.ForegroundFinalizer && StateAfterPatch(s.model.now[n], d.Change) == nil {
			return completing
		}
		return releasing
	case collector.ActionNone, collector.ActionOrphanDependents:
	}
	return noPhase
}

func (s *simulation) pass(pass int) {
	work := s.take()
	for next := work; len(next) > 0; {
		for _, n := range next {
			if s.model.Decide(n).Action == collector.ActionOrphanDependents {
				s.orphanDependents(pass, n)
			}
		}
		next = s.take()
		work = slices.Concat(work, next)
	}
	slices.Sort(work)
	work = slices.Compact(work)
	var agenda [phases][]graph.Node
	for _, n := range work {
		if at := s.phase(n, s.model.Decide(n)); at != noPhase {
			agenda[at] = append(agenda[at], n)
		}
	}
	agenda[deletingLate] = s.dependentsFirst(agenda[deletingLate])
	for at, nodes := range agenda {
		for _, n := range nodes {
			d := s.model.Decide(n)
			switch now := s.phase(n, d); {
			case now == noPhase:
			case now == deleting && s.deleteConflicts(n) && s.result.Transitions[s.last[n]].Pass == pass-1:
				s.enqueue(n)
			case now == releasing && s.deferredOwners[n]:
				s.postpone(n)
			case now != phase(at), now == releasing && s.hasPendingDependent(n), now == deletingLate && s.hasDependentToDelete(n, d):
				s.enqueue(n) // a transition of this pass changed the decision, or it is too early
			default:
				s.transition(pass, n, d, graph.None)
			}
		}
	}
}

// hasPendingDependent reports whether the next pass still acts on a dependent because of
// its owners, so that none of those may change before.
func (s *simulation) hasPendingDependent(owner graph.Node) bool {
	return slices.ContainsFunc(s.queuedDependents(owner), func(n graph.Node) bool {
		return s.model.now[n] != nil && !s.model.now[n].Terminating() && !s.deleteConflicts(n) && s.model.Decide(n).Action != collector.ActionNone
	})
}

// hasDependentToDelete reports whether the deletion of an owner that orphans its
// dependents must wait until the next pass has deleted one that this pass unblocked.
// Otherwise, the owner would count as solid for it until the dependent is orphaned.
func (s *simulation) hasDependentToDelete(owner graph.Node, d collector.Decision) bool {
	return d.Policy == metav1.DeletePropagationOrphan && slices.ContainsFunc(s.queuedDependents(owner), func(n graph.Node) bool {
		return !s.deleteConflicts(n) && s.phase(n, s.model.Decide(n)) == deleting
	})
}

// dependentsFirst sorts nodes so that dependents come before owners. The order within a
// cycle is arbitrary but stable. It is iterative, since a chain of dependents may be as
// long as the cluster is large.
func (s *simulation) dependentsFirst(nodes []graph.Node) []graph.Node {
	out, pending := make([]graph.Node, 0, len(nodes)), make(map[graph.Node]bool, len(nodes))
	for _, n := range nodes {
		pending[n] = true
	}
	type visit struct {
		n    graph.Node
		left []graph.Edge
	}
	var path []visit
	enter := func(n graph.Node) {
		if pending[n] {
			delete(pending, n)
			path = append(path, visit{n, s.model.graph.Dependents(n)})
		}
	}
	for _, n := range nodes {
		for enter(n); len(path) > 0; {
			at := &path[len(path)-1]
			if len(at.left) == 0 {
				out, path = append(out, at.n), path[:len(path)-1]
				continue
			}
			next := at.left[0].Node
			at.left = at.left[1:]
			enter(next)
		}
	}
	return out
}

// orphanDependents removes the references of every dependent to an owner. The owner's
// finalizer is removed when none is left.
func (s *simulation) orphanDependents(pass int, owner graph.Node) {
	for _, e := range s.model.graph.Dependents(owner) {
		if !s.withinBounds(e.Node) {
			continue
		}
		if d := s.model.DecideOrphan(owner, e.Node); d.Action == collector.ActionUnlink {
			s.transition(pass, e.Node, d, owner)
		}
	}
}

// deleteConflicts reports whether the cluster's own collector is about to delete an
// object whose references it has just unblocked. Since 1.34, the first DELETE names the
// old resourceVersion and fails with a conflict. Meanwhile, the collector removes the
// finalizers of owners that nothing else blocks
// (docs/gc-semantics.md#breaking-a-cycle).
func (s *simulation) deleteConflicts(n graph.Node) bool {
	return s.model.predictor.cluster() && s.model.judge.Behavior().DeleteNamesResourceVersion && s.last[n] >= 0 && s.result.Transitions[s.last[n]].Action == collector.ActionUnblock
}

// losesTrack reports whether the collector forgets a foreground deletion because it orphans the
// dependents first.
func losesTrack(g *graph.Graph, n graph.Node) bool {
	o := g.Object(n)
	return o != nil && o.Orphaning() && o.DeletingDependents() && !slices.ContainsFunc(g.Dependents(n), func(e graph.Edge) bool { return g.Reference(e).Blocks() })
}
