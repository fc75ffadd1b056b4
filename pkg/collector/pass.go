package collector

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// phase is the place of an act in a pass: what looks at an owner comes before
// what changes what it sees there. So late come the deletions that take others
// along, or let go of dependents which might be about to be deleted. What is over
// as soon as it is released goes first of all.
type phase int

const (
	nothing phase = iota - 1
	ending
	detaching
	unblocking
	removing
	removingLate
	freeing
	phases
)

func (s *simulation) phase(n graph.Node, d Decision) phase {
	switch d.Act {
	case Detach:
		return detaching
	case Unblock:
		return unblocking
	case Remove:
		if takesAlong(s.now[n]) || d.Policy == metav1.DeletePropagationOrphan {
			return removingLate
		}
		return removing
	case FreeFinalizer:
		if s.underWay[n] && d.Change.Release == object.ForegroundFinalizer && Patched(s.now[n], d.Change) == nil {
			return ending
		}
		return freeing
	case Leave, OrphanChildren:
	}
	return nothing
}

func (s *simulation) pass(pass int) {
	work := s.take()
	for _, n := range work {
		if s.Decide(n).Act == OrphanChildren {
			s.orphan(pass, n)
		}
	}
	var agenda [phases][]graph.Node
	for _, n := range merged(work, s.take()) {
		if at := s.phase(n, s.Decide(n)); at != nothing {
			agenda[at] = append(agenda[at], n)
		}
	}
	agenda[removingLate] = s.dependentsFirst(agenda[removingLate])
	for at, nodes := range agenda {
		for _, n := range nodes {
			d := s.Decide(n)
			switch now := s.phase(n, d); {
			case now == nothing:
			case now == removing && s.refused(n) && s.course.Moves[s.last[n]].Pass == pass-1:
				s.enqueue(n)
			case now == freeing && s.owesALook(n):
				s.putOff[n] = true
			case now != phase(at), now == freeing && s.awaited(n), now == removingLate && s.outlived(n, d):
				s.enqueue(n) // an act of this pass made it another, or too early
			default:
				s.do(pass, n, d, graph.None)
			}
		}
	}
}

// awaited says whether the next pass still deals with a dependent because of its
// owners, so that none of them must change before.
func (s *simulation) awaited(owner graph.Node) bool {
	return slices.ContainsFunc(s.graph.Dependents(owner), func(e graph.Edge) bool {
		return s.queued.Has(e.Node) && s.now[e.Node] != nil && !s.now[e.Node].Terminating() && !s.refused(e.Node) && s.Decide(e.Node).Act != Leave
	})
}

// outlived says whether an owner that is to orphan its dependents would be deleted
// before one which this pass unblocked, and the next deletes: to that one it would
// be solid, whatever the reference says, until it lets go of it.
func (s *simulation) outlived(owner graph.Node, d Decision) bool {
	return d.Policy == metav1.DeletePropagationOrphan && slices.ContainsFunc(s.graph.Dependents(owner), func(e graph.Edge) bool {
		return s.queued.Has(e.Node) && !s.refused(e.Node) && s.phase(e.Node, s.Decide(e.Node)) == removing
	})
}

// dependentsFirst puts those of the nodes that depend on another before it. Where
// they depend on each other, one goes first.
func (s *simulation) dependentsFirst(nodes []graph.Node) []graph.Node {
	out, ahead := make([]graph.Node, 0, len(nodes)), make(map[graph.Node]bool, len(nodes))
	for _, n := range nodes {
		ahead[n] = true
	}
	var place func(graph.Node)
	place = func(n graph.Node) {
		if !ahead[n] {
			return
		}
		delete(ahead, n)
		for _, e := range s.graph.Dependents(n) {
			place(e.Node)
		}
		out = append(out, n)
	}
	for _, n := range nodes {
		place(n)
	}
	return out
}

// take empties the queue. The order of nodes is that of their identities, so a
// plan does not depend on the order in which things were seen.
func (s *simulation) take() []graph.Node {
	work := s.next
	s.next = nil
	for _, n := range work {
		s.queued.Remove(n)
	}
	slices.Sort(work)
	return work
}

func merged(a, b []graph.Node) []graph.Node {
	if len(b) == 0 {
		return a
	}
	out := slices.Concat(a, b)
	slices.Sort(out)
	return slices.Compact(out)
}

// orphan detaches every dependent of an owner; the owner itself is released
// when none is left.
func (s *simulation) orphan(pass int, owner graph.Node) {
	for _, e := range s.graph.Dependents(owner) {
		if s.bounds.Within != nil && !s.bounds.Within(e.Node) {
			continue
		}
		if d := s.Orphaned(owner, e.Node); d.Act == Detach {
			s.do(pass, e.Node, d, owner)
		}
	}
}
