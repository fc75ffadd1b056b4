package simulate

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// markNondeterministic is the owner on whose account it may be a matter of luck what the cluster's
// own collector makes of an object, or None. It may be so
//
//   - where an owner waits which the object does not block, or not any more. If the
//     owner is released before the object is looked at, and others hold it, it lives
//     to the object, which stays (docs/gc-semantics.md#foreground-deletion). If
//     nobody does, it is gone, and the object is not deleted in the foreground.
//   - where an owner lets go of the object and another is gone. What is left without
//     any stays; what sees the bad one alone goes.
func (s *simulation) markNondeterministic(m Transition) graph.Node {
	if s.model.actor == collector.ActorClient || m.StateBefore.Terminating() {
		return graph.None
	}
	for i, v := range m.Verdicts {
		owner := s.model.graph.Find(m.StateBefore.Owners[i].UID)
		switch {
		case m.Requested != graph.None:
			if v.IsBad() && owner != m.Requested {
				return owner
			}
		case v == collector.Waiting && (m.Action == collector.ActionUnblock || !blocksOwner(m.StateBefore, m.StateBefore.Owners[i])):
			return owner
		}
	}
	return graph.None
}

// blocksOwner says whether any reference with that one's UID blocks.
func blocksOwner(o *object.Object, to object.Reference) bool {
	return slices.ContainsFunc(o.Owners, func(r object.Reference) bool { return r.UID == to.UID && r.Blocks() })
}

// deterministic takes back the races of which all ends are the same, now that the end
// is known.
func (s *simulation) deterministic() {
	for i := range s.course.Transitions {
		if m := &s.course.Transitions[i]; m.Nondeterministic != graph.None && m.Requested == graph.None && !s.nondeterministicObjects(m) {
			m.Nondeterministic = graph.None
		}
	}
}

// nondeterministicObjects says whether the object of a move might have ended otherwise, had its
// owner been released earlier or later.
func (s *simulation) nondeterministicObjects(m *Transition) bool {
	owner, left := s.model.Object(m.Nondeterministic), s.model.now[m.Node]
	switch {
	case owner != nil && owner.DeletingDependents(): // it was not released at all
		return false
	case owner != nil: // it lives, as others hold it
		return true
	case m.Action == collector.ActionUnblock:
		return s.model.blockers[m.Node] > 0
	}
	return left != nil && left.DeletingDependents()
}

// refused says whether the cluster's own collector is about to delete an object
// whose references it has just unblocked: since 1.34 the first DELETE names the
// resourceVersion from before and is refused, and meanwhile the owners are
// released that nothing else blocks (docs/gc-semantics.md#breaking-a-cycle).
func (s *simulation) refused(n graph.Node) bool {
	return s.model.actor == collector.ActorControllerManager && s.last[n] >= 0 && s.course.Transitions[s.last[n]].Action == collector.ActionUnblock
}

// entangled are the members of circles of which more than one is asked for, and
// not all in the background: whether such a circle is broken in time, or waits
// for itself for ever, is between the collector and who asks
// (docs/gc-semantics.md#stuck-foreground-deletions).
func (s *simulation) entangled() graph.Set {
	out, asked, foreground := graph.NewSet(s.model.graph), graph.NewSet(s.model.graph), false
	for _, d := range s.bounds.Deletes {
		if d.Node != graph.None {
			asked.Add(d.Node)
		}
		foreground = foreground || d.Policy == metav1.DeletePropagationForeground
	}
	if s.model.actor == collector.ActorClient || !foreground || len(s.bounds.Deletes) < 2 {
		return out
	}
	for _, circle := range s.model.graph.Cycles(func(graph.Edge) bool { return true }) {
		n := 0
		for _, member := range circle {
			if asked.Has(member) {
				n++
			}
		}
		for _, member := range circle {
			if n > 1 {
				out.Add(member)
			}
		}
	}
	return out
}
