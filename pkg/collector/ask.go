package collector

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// Deletion is a DELETE that somebody asks for.
type Deletion struct {
	Node   graph.Node
	Policy metav1.DeletionPropagation
}

// ask begins the course with what is asked for, and says how many passes that
// was. A DELETE which changes nothing is no move. Others come to what it deletes
// only when everything was asked for.
func (s *simulation) ask() int {
	for _, d := range s.bounds.Deletes {
		before := s.Object(d.Node)
		s.course.Asked = append(s.course.Asked, d.Node)
		if before == nil || int(d.Node) >= s.graph.Listed() || !changes(before, Deleted(before, d.Policy, s.taken)) {
			continue
		}
		decision := Decision{Act: Remove, Policy: d.Policy, Culprit: -1}
		move := Move{
			Decision: decision, Asked: true, Pass: 1, Node: d.Node, Before: before, For: graph.None,
			After: s.before(d.Node, decision), Follows: -1, Race: graph.None,
		}
		if !before.Terminating() {
			move.Verdicts = s.Verdicts(d.Node)
		}
		s.make(move)
	}
	s.course.Tangled = s.tangled()
	asked := len(s.course.Moves)
	for i := range asked {
		if n := s.course.Moves[i].Node; s.now[n] != nil && s.last[n] == int32(i) {
			s.others(i, n)
		}
	}
	return min(asked, 1)
}

// changes says whether a DELETE makes anything of an object but what it was.
func changes(before, after *object.Object) bool {
	return after == nil || !before.Terminating() || !slices.Equal(before.Finalizers, after.Finalizers)
}

// race is the owner on whose account it is a matter of luck what the cluster's own
// collector makes of an object, or None. It is so
//
//   - where an owner is deleted in the foreground and nothing blocks it, or not any
//     more: it is released at once. If others hold it, dependents that are looked at
//     after that see an owner that lives, and stay (gc-semantics 4.6, 9L L14). If
//     not, they see none, and are not deleted in the foreground themselves.
//   - where an owner lets go of the object and another is gone. What is left without
//     any stays; what sees the bad one alone goes.
func (s *simulation) race(m Move) graph.Node {
	if s.hand == Ours || m.Before.Terminating() {
		return graph.None
	}
	for i, v := range m.Verdicts {
		owner := s.graph.Find(m.Before.Owners[i].UID)
		if m.For != graph.None {
			if v.Lost() && owner != m.For {
				return owner
			}
			continue
		}
		o := s.Object(owner)
		if v != Waiting || o == nil {
			continue
		}
		held := len(o.ForeignFinalizers()) > 0
		switch {
		case m.Act == Unblock && held && s.blocksAlone(m.Before, owner):
			return owner
		case s.unblocked[owner] && (held || m.Policy == metav1.DeletePropagationForeground):
			return owner
		}
	}
	return graph.None
}

// blocksAlone says whether nothing but an object holds up its owner.
func (s *simulation) blocksAlone(o *object.Object, owner graph.Node) bool {
	own := int32(0)
	for _, r := range o.Owners {
		if r.Blocks() && s.graph.Find(r.UID) == owner {
			own++
		}
	}
	return own == s.blockers[owner]
}

// refused says whether the cluster's own collector is about to delete an object
// whose references it has just unblocked: since 1.34 the first DELETE names the
// resourceVersion from before and is refused, and meanwhile the owners are
// released that nothing else blocks (gc-semantics 4.4).
func (s *simulation) refused(n graph.Node) bool {
	return s.hand == Theirs && s.last[n] >= 0 && s.course.Moves[s.last[n]].Act == Unblock
}

// tangled are the members of circles of which more than one is asked for, and not
// all in the background: whether such a circle is broken in time, or waits for
// itself for ever, is between the collector and who asks (10.1b).
func (s *simulation) tangled() graph.Set {
	out, asked, foreground := graph.NewSet(s.graph), graph.NewSet(s.graph), false
	for _, d := range s.bounds.Deletes {
		if d.Node != graph.None {
			asked.Add(d.Node)
		}
		foreground = foreground || d.Policy == metav1.DeletePropagationForeground
	}
	if s.hand == Ours || !foreground || len(s.bounds.Deletes) < 2 {
		return out
	}
	for _, circle := range s.graph.Cycles(func(graph.Edge) bool { return true }) {
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
