package collector

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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

// Nothing, as Roots, looks at nothing but what follows from the deletions that
// are asked for.
func Nothing(graph.Node) bool { return false }

// Move is one act on one object, in the order in which they may be done.
type Move struct {
	Decision
	Asked    bool // somebody asked for it: no collector decides so
	Pass     int  // from 1; what is asked for comes in the first
	Node     graph.Node
	Before   *object.Object // what the act finds
	Verdicts []Verdict      // on the references of Before; nil for a terminating object
	// For is the owner that is being orphaned, for whose sake the dependent is
	// detached; else None.
	For graph.Node
	// After are the moves that must be over before this one: the last ones on the
	// object itself, its owners and its dependents; for a namespace or a
	// CustomResourceDefinition also those of what is in it. A move is over when
	// others have done their part: see Swept and Stopped. Ascending.
	After []int
	// Follows is the move without which this one would not be, or -1.
	Follows int
	// Race is an owner on whose account it is a matter of luck what the cluster's own
	// collector makes of the object: see race. Else None.
	Race graph.Node
}

// Course is a simulation that has come to its end.
type Course struct {
	Moves []Move
	Model *Model // the state at the end
	// Swept are the objects that others delete because a move deleted their
	// namespace or their CustomResourceDefinition, with that move (gc-semantics 7);
	// with Theirs also the Endpoints of a Service.
	// They may be gone before a move of their own comes.
	Swept map[graph.Node]int
	// Stopped are the moves that delete a Pod which a kubelet has to stop.
	Stopped map[int]bool
	// Asked are the objects whose deletion was asked for, whether or not that made
	// a move.
	Asked []graph.Node
	// Tangled are the members of circles which more than one target is in, so that
	// what becomes of them is a matter of luck; with Theirs alone.
	Tangled graph.Set
	// Lifted are the objects that others let go of, by themselves, in what followed:
	// see Custodian.
	Lifted graph.Set

	simulation *simulation
}

// Simulate moves the model on, pass by pass, until a pass does nothing
// (gc-semantics 12.2). In a pass, owners that are being orphaned let go of their
// dependents first; all else is decided on the state thereafter, and dependents
// are dealt with before what they depend on is released, save where begin says
// otherwise. A pass looks only at what the one before may have changed, so the cost
// is linear in objects, references and moves.
func (m *Model) Simulate(b Bounds) *Course {
	s := &simulation{
		Model: m, bounds: b, last: make([]int32, len(m.now)), queued: graph.NewSet(m.graph),
		underWay: map[graph.Node]bool{}, putOff: map[graph.Node]bool{},
		home: map[graph.Node]graph.Node{}, ends: map[graph.Node][]int{},
	}
	if m.hand == Theirs {
		s.custody = newCustody(s)
	}
	return s.run(func() int {
		s.begin()
		return s.ask()
	})
}

// run is a course: what starts it, which says how many passes that was, and then
// pass after pass.
func (s *simulation) run(start func() int) *Course {
	s.course = &Course{
		Model: s.Model, Swept: map[graph.Node]int{}, Stopped: map[int]bool{}, Lifted: graph.NewSet(s.graph), Tangled: graph.NewSet(s.graph), simulation: s,
	}
	for n := range s.last {
		s.last[n] = -1
	}
	s.touched, s.moved = s.enqueue, s.heed
	defer func() { s.touched, s.moved = func(graph.Node) {}, func(graph.Node, *object.Object) {} }()
	for pass := start() + 1; s.more(); pass++ {
		s.pass(pass)
	}
	s.undisputed()
	return s.course
}

// more says whether there is anything to look at, once others have done what they
// do by themselves.
func (s *simulation) more() bool {
	for {
		s.release()
		switch {
		case s.custody != nil && s.custody.act():
			continue
		case len(s.next) > 0:
			return true
		}
		s.takeUp()
		if len(s.next) == 0 && !s.letGo() {
			return false
		}
	}
}

// candidate says whether a pass looks at an object at all (gc-semantics 12.1).
func candidate(o *object.Object) bool {
	return o != nil && (o.Finishing() || !o.Terminating() && len(o.Owners) > 0)
}

type simulation struct {
	*Model
	bounds Bounds
	course *Course
	last   []int32 // per node, its last move, or -1
	next   []graph.Node
	queued graph.Set

	underWay map[graph.Node]bool // owners whose foreground deletion was under way before
	putOff   map[graph.Node]bool // what is looked at when there is nothing else to do

	custody   *custody   // nil with Ours
	afterward *afterward // nil but in Afterwards

	contents *contents                 // nil until something takes others along
	open     []*emptying               // namespaces and CustomResourceDefinitions, in the order of their moves
	home     map[graph.Node]graph.Node // where what outlasts the deletion of those is
	ends     map[graph.Node][]int      // the moves that emptied those
}

func (s *simulation) enqueue(n graph.Node) {
	if int(n) < s.graph.Listed() && s.now[n] != nil && (s.bounds.Within == nil || s.bounds.Within(n)) && s.queued.Add(n) {
		s.next = append(s.next, n)
	}
}

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
	for at, nodes := range agenda {
		for _, n := range nodes {
			d := s.Decide(n)
			switch now := s.phase(n, d); {
			case now == nothing:
			case now == removing && s.refused(n) && s.course.Moves[s.last[n]].Pass == pass-1:
				s.enqueue(n)
			case now == freeing && s.owesALook(n):
				s.putOff[n] = true
			case now != phase(at), now == freeing && s.awaited(n):
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
	move := Move{Decision: d, Pass: pass, Node: n, Before: before, For: orphanedFrom, After: s.before(n, d)}
	if !before.Terminating() {
		move.Verdicts = s.Verdicts(n)
	}
	move.Follows, move.Race = s.follows(move), s.race(move)
	if index := s.make(move); d.Act == Remove && s.now[n] != nil {
		s.others(index, n)
	}
}

// make makes a move, as far as the API server is concerned, and answers its
// number.
func (s *simulation) make(m Move) int {
	index := len(s.course.Moves)
	s.course.Moves = append(s.course.Moves, m)
	s.last[m.Node] = int32(index)
	s.Perform(m.Node, m.Decision)
	return index
}

// before are the moves whose effects a move rests on, and those that rest on
// what it changes.
func (s *simulation) before(n graph.Node, d Decision) []int {
	out := s.around(nil, n)
	if home, ok := s.home[n]; ok {
		out = s.around(out, home)
	}
	if d.Act == Remove && takesAlong(s.now[n]) {
		for _, member := range s.inside(n) {
			out = s.around(out, member)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// around appends the last moves on a node, its owners and its dependents.
func (s *simulation) around(out []int, n graph.Node) []int {
	add := func(of graph.Node) {
		if of >= 0 && int(of) < len(s.last) && s.last[of] >= 0 {
			out = append(append(out, int(s.last[of])), s.ends[of]...)
		}
	}
	add(n)
	for _, owner := range s.graph.Owners(n) {
		add(owner)
	}
	for _, e := range s.graph.Dependents(n) {
		add(e.Node)
	}
	return out
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
		if v.Lost() && owner >= 0 && int(owner) < len(s.last) {
			out = max(out, int(s.last[owner]))
		}
	}
	return out
}
