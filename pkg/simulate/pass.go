package simulate

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
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

func (s *simulation) phase(n graph.Node, d collector.Decision) phase {
	switch d.Action {
	case collector.ActionUnlink:
		return detaching
	case collector.ActionUnblock:
		return unblocking
	case collector.ActionDelete:
		if takesAlong(s.model.now[n]) || d.Policy == metav1.DeletePropagationOrphan {
			return removingLate
		}
		return removing
	case collector.ActionRemoveFinalizer:
		if s.underWay[n] && d.Change.Release == object.ForegroundFinalizer && Patched(s.model.now[n], d.Change) == nil {
			return ending
		}
		return freeing
	case collector.ActionNone, collector.ActionOrphanDependents:
	}
	return nothing
}

func (s *simulation) pass(pass int) {
	work := s.take()
	for _, n := range work {
		if s.model.Decide(n).Action == collector.ActionOrphanDependents {
			s.orphan(pass, n)
		}
	}
	var agenda [phases][]graph.Node
	for _, n := range merged(work, s.take()) {
		if at := s.phase(n, s.model.Decide(n)); at != nothing {
			agenda[at] = append(agenda[at], n)
		}
	}
	agenda[removingLate] = s.dependentsFirst(agenda[removingLate])
	for at, nodes := range agenda {
		for _, n := range nodes {
			d := s.model.Decide(n)
			switch now := s.phase(n, d); {
			case now == nothing:
			case now == removing && s.refused(n) && s.course.Transitions[s.last[n]].Pass == pass-1:
				s.enqueue(n)
			case now == freeing && s.hasDeferredDependent(n):
				s.deferred.add(s.model.graph, n)
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
	return slices.ContainsFunc(s.nextByOwner.under(s, owner), func(n graph.Node) bool {
		return s.model.now[n] != nil && !s.model.now[n].Terminating() && !s.refused(n) && s.model.Decide(n).Action != collector.ActionNone
	})
}

// outlived says whether an owner that is to orphan its dependents would be deleted
// before one which this pass unblocked, and the next deletes: to that one it would
// be solid, whatever the reference says, until it lets go of it.
func (s *simulation) outlived(owner graph.Node, d collector.Decision) bool {
	return d.Policy == metav1.DeletePropagationOrphan && slices.ContainsFunc(s.nextByOwner.under(s, owner), func(n graph.Node) bool {
		return !s.refused(n) && s.phase(n, s.model.Decide(n)) == removing
	})
}

// coming is what the next pass looks at, by owner. It is made when somebody asks: an
// owner may be asked about in every pass, and have any number of dependents, few of
// which are queued. The zero value knows of nothing.
type coming struct {
	of   map[graph.Node][]graph.Node
	seen int // how many of the queue are in it
}

// under are the queued dependents of an owner, one that names it twice twice.
func (c *coming) under(s *simulation, owner graph.Node) []graph.Node {
	if c.of == nil {
		c.of = map[graph.Node][]graph.Node{}
	}
	for ; c.seen < len(s.next); c.seen++ {
		n := s.next[c.seen]
		for _, of := range s.model.graph.Owners(n) {
			c.of[of] = append(c.of[of], n)
		}
	}
	return c.of[owner]
}

// dependentsFirst puts those of the nodes that depend on another before it. Where
// they depend on each other, one goes first. It has a stack of its own, as a chain of
// them may be as long as the cluster is large.
func (s *simulation) dependentsFirst(nodes []graph.Node) []graph.Node {
	out, ahead := make([]graph.Node, 0, len(nodes)), make(map[graph.Node]bool, len(nodes))
	for _, n := range nodes {
		ahead[n] = true
	}
	type visit struct {
		n    graph.Node
		left []graph.Edge
	}
	var path []visit
	enter := func(n graph.Node) {
		if ahead[n] {
			delete(ahead, n)
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

// take empties the queue. The order of nodes is that of their identities, so a
// plan does not depend on the order in which things were seen.
func (s *simulation) take() []graph.Node {
	work := s.next
	s.next, s.nextByOwner = nil, coming{}
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
	for _, e := range s.model.graph.Dependents(owner) {
		if s.bounds.Within != nil && !s.bounds.Within(e.Node) {
			continue
		}
		if d := s.model.HasOrphanedDependents(owner, e.Node); d.Action == collector.ActionUnlink {
			s.do(pass, e.Node, d, owner)
		}
	}
}
