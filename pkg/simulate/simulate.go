package simulate

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// Simulate moves the model on, pass by pass, until a pass does nothing. In a pass,
// owners that are being orphaned let go of their dependents first; all else is decided
// on the state thereafter, and dependents are dealt with before what they depend on is
// released, save where begin says otherwise. A pass looks only at what the one before
// may have changed, so the cost is linear in objects, references and moves.
func (m *Model) Simulate(b Bounds) *Result {
	s := &simulation{
		model: m, bounds: b, last: make([]int32, len(m.now)), queued: graph.NewSet(m.graph),
		underWay: map[graph.Node]bool{},
		home:     map[graph.Node]graph.Node{}, ends: map[graph.Node][]int{}, open: newContentsDeletions(),
	}
	if m.actor == collector.ActorControllerManager {
		s.custody = newFinalizerControllers(s)
	}
	return s.run(func() int {
		s.begin()
		return s.ask()
	})
}

// run is a course: what starts it, which says how many passes that was, and then
// pass after pass.
func (s *simulation) run(start func() int) *Result {
	s.course = &Result{
		Model: s.model, ContentsDeleted: map[graph.Node]int{}, StoppedPods: map[int]bool{}, FinalizersRemoved: graph.NewSet(s.model.graph), Entangled: graph.NewSet(s.model.graph), simulation: s,
	}
	for n := range s.last {
		s.last[n] = -1
	}
	s.model.touched, s.model.moved = s.enqueue, s.onStateChange
	defer func() { s.model.touched, s.model.moved = func(graph.Node) {}, func(graph.Node, *object.Object) {} }()
	for pass := start() + 1; s.more(); pass++ {
		s.pass(pass)
	}
	s.deterministic()
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
		s.requeueDeferred()
		if len(s.next) == 0 && !s.removeFinalizer() {
			return false
		}
	}
}

// candidate says whether a pass looks at an object at all.
func candidate(o *object.Object) bool {
	return o != nil && (o.Finishing() || !o.Terminating() && len(o.Owners) > 0)
}

type simulation struct {
	model  *Model
	bounds Bounds
	course *Result
	last   []int32 // per node, its last move, or -1
	next   []graph.Node
	queued graph.Set

	underWay    map[graph.Node]bool // owners whose foreground deletion was under way before
	deferred    delay               // what is looked at when there is nothing else to do
	nextByOwner coming              // what is queued, by owner

	custody   *finalizerControllers // nil with Ours
	afterward *afterRelease         // nil but in Afterwards

	contents *contents                 // nil until something takes others along
	open     emptyings                 // namespaces and CustomResourceDefinitions
	home     map[graph.Node]graph.Node // where what outlasts the deletion of those is
	ends     map[graph.Node][]int      // the moves that emptied those
}

func (s *simulation) enqueue(n graph.Node) {
	if int(n) < s.model.graph.Listed() && s.model.now[n] != nil && (s.bounds.Within == nil || s.bounds.Within(n)) && s.queued.Add(n) {
		s.next = append(s.next, n)
	}
}
