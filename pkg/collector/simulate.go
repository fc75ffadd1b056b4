package collector

import (
	"slices"

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
}

// Move is one act on one object, in the order in which they may be done.
type Move struct {
	Decision
	Pass     int // from 1
	Node     graph.Node
	Before   *object.Object // what the act finds
	Verdicts []Verdict      // on the references of Before; nil for a terminating object
	// For is the owner that is being orphaned, for whose sake the dependent is
	// detached; else None.
	For graph.Node
	// After are the moves that must be over before this one: the last ones on the
	// object itself, its owners and its dependents. Ascending.
	After []int
	// Follows is the move without which this one would not be, or -1.
	Follows int
}

// Course is a simulation that has come to its end.
type Course struct {
	Moves []Move
	Model *Model // the state at the end
	// Swept are the objects that others delete because a move deleted their
	// namespace or their CustomResourceDefinition, with that move (gc-semantics 7).
	Swept map[graph.Node]int
	// Stopped are the moves that delete a Pod which a kubelet has to stop.
	Stopped map[int]bool
}

// Simulate moves the model on, pass by pass, until a pass does nothing
// (gc-semantics 12.2). In a pass, owners that are being orphaned let go of their
// dependents first; all else is decided on the state thereafter, and dependents
// are dealt with before what they depend on is released. A pass looks only at
// what the one before may have changed, so the cost is linear in objects,
// references and moves.
func (m *Model) Simulate(b Bounds) *Course {
	s := &simulation{
		Model: m, bounds: b, last: make([]int32, len(m.now)), queued: graph.NewSet(m.graph),
		course: &Course{Model: m, Swept: map[graph.Node]int{}, Stopped: map[int]bool{}},
	}
	for n := range s.last {
		s.last[n] = -1
	}
	m.touched = s.enqueue
	defer func() { m.touched = func(graph.Node) {} }()
	for n := range m.graph.Listed() {
		if node := graph.Node(n); candidate(m.now[n]) && (b.Roots == nil || b.Roots(node)) {
			s.enqueue(node)
		}
	}
	for pass := 1; ; pass++ {
		s.sweep()
		if len(s.next) == 0 {
			return s.course
		}
		s.pass(pass)
	}
}

// candidate says whether a pass looks at an object at all (gc-semantics 12.1).
func candidate(o *object.Object) bool {
	return o.DeletingDependents() || o.Orphaning() || !o.Terminating() && len(o.Owners) > 0
}

type simulation struct {
	*Model
	bounds Bounds
	course *Course
	last   []int32 // per node, its last move, or -1
	next   []graph.Node
	queued graph.Set
	sweeps []sweeping
}

func (s *simulation) enqueue(n graph.Node) {
	if int(n) < s.graph.Listed() && s.now[n] != nil && (s.bounds.Within == nil || s.bounds.Within(n)) && s.queued.Add(n) {
		s.next = append(s.next, n)
	}
}

// inOrder are the acts of a pass in the order of their moves: what looks at its
// owner comes before what changes that owner.
var inOrder = []Act{Detach, Unblock, Remove, FreeFinalizer}

func (s *simulation) pass(pass int) {
	work := s.take()
	for _, n := range work {
		if s.Decide(n).Act == OrphanChildren {
			s.orphan(pass, n)
		}
	}
	byAct := map[Act][]graph.Node{}
	for _, n := range merged(work, s.take()) {
		d := s.Decide(n)
		byAct[d.Act] = append(byAct[d.Act], n)
	}
	for _, act := range inOrder {
		for _, n := range byAct[act] {
			switch d := s.Decide(n); d.Act {
			case act:
				s.do(pass, n, d, graph.None)
			case Leave:
			default: // an act of this pass made it another
				s.enqueue(n)
			}
		}
	}
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

func (s *simulation) do(pass int, n graph.Node, d Decision, orphanedFrom graph.Node) {
	before := s.now[n]
	move := Move{Decision: d, Pass: pass, Node: n, Before: before, For: orphanedFrom, After: s.neighbours(n), Follows: -1}
	if !before.Terminating() {
		move.Verdicts = s.Verdicts(n)
	}
	move.Follows = s.follows(move)
	index := len(s.course.Moves)
	s.course.Moves = append(s.course.Moves, move)
	s.last[n] = int32(index)
	s.Perform(n, d)
	if d.Act == Remove && s.now[n] != nil {
		s.begin(index, n)
	}
}

// neighbours are the last moves on a node, its owners and its dependents.
func (s *simulation) neighbours(n graph.Node) []int {
	var out []int
	add := func(of graph.Node) {
		if of >= 0 && int(of) < len(s.last) && s.last[of] >= 0 {
			out = append(out, int(s.last[of]))
		}
	}
	add(n)
	for _, owner := range s.graph.Owners(n) {
		add(owner)
	}
	for _, e := range s.graph.Dependents(n) {
		add(e.Node)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// follows is the last move on the object, or on an owner that a bad reference
// leads to.
func (s *simulation) follows(m Move) int {
	out := int(s.last[m.Node])
	if m.For != graph.None {
		return max(out, int(s.last[m.For]))
	}
	for i, v := range m.Verdicts {
		owner := s.graph.Find(m.Before.Owners[i].UID)
		if v.lost() && owner >= 0 && int(owner) < len(s.last) {
			out = max(out, int(s.last[owner]))
		}
	}
	return out
}
