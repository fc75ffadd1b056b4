package simulate

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// Release is what a course would go on to, once everything lets go that holds
// what it left terminating.
type Release struct {
	Result Result
	// Begun are the objects that are deleted only then, in the order in which that
	// comes to them.
	Begun []graph.Node
	// After says of those which others had to be let go of first, in the order of their
	// identities: the very same list where that is the same. What has no entry hangs on none of them: the collector deletes it all
	// the same, once it comes to it.
	After map[graph.Node][]graph.Node
}

type afterRelease struct {
	aftermath *Release
	held      []graph.Node                // terminating, and not released yet
	released  map[graph.Node]bool         // what others are thought to have let go of
	owed      map[graph.Node][]graph.Node // as After, of all that moved on; see because
	lists     map[uint64][][]graph.Node   // what owed holds, each list once, by a hash
}

// SimulateRelease moves the model on from the end of the course. Foreign finalizers
// are taken off what the course left terminating, and off what is deleted in
// turn, until nothing more comes of that. The course itself stays as it is, but
// its Model is at the new end.
func (c *Result) SimulateRelease() *Release {
	s := c.simulation
	s.afterward = &afterRelease{
		aftermath: &Release{After: map[graph.Node][]graph.Node{}},
		released:  map[graph.Node]bool{}, owed: map[graph.Node][]graph.Node{}, lists: map[uint64][][]graph.Node{},
	}
	clear(s.ends)
	touched := slices.Concat(c.Asked, c.FinalizersRemoved.Nodes())
	for i := range c.Transitions {
		touched = append(touched, c.Transitions[i].Node)
	}
	for n := range c.ContentsDeleted {
		touched = append(touched, n)
	}
	slices.Sort(touched)
	for _, n := range slices.Compact(touched) {
		s.hold(n)
	}
	next := s.run(func() int { return 0 })
	s.afterward.aftermath.Result = *next
	return s.afterward.aftermath
}

// hold notes an object that somebody may hold.
func (s *simulation) hold(n graph.Node) {
	if o := s.model.Object(n); o != nil && o.Terminating() && !s.afterward.released[n] {
		s.afterward.held = append(s.afterward.held, n)
	}
}

// follow notes what a move of state means for what comes afterwards.
func (a *afterRelease) follow(s *simulation, n graph.Node, old *object.Object) {
	if now := s.model.now[n]; old != nil && !old.Terminating() && (now == nil || now.Terminating()) {
		a.aftermath.Begun = append(a.aftermath.Begun, n)
		if after := a.owed[n]; len(after) > 0 {
			a.aftermath.After[n] = after
		}
		s.hold(n)
	}
}

// removeFinalizer takes foreign finalizers off whatever is held by now, and says whether
// there was any.
func (s *simulation) removeFinalizer() bool {
	if s.afterward == nil {
		return false
	}
	any := false
	for a := s.afterward; len(a.held) > 0; {
		n := a.held[0]
		a.held = a.held[1:]
		o := s.model.Object(n)
		if o == nil || !o.Terminating() || a.released[n] {
			continue
		}
		a.released[n], any = true, true
		left := settled(o)
		for _, f := range o.ForeignFinalizers() {
			if left != nil && f != crdFinalizer {
				left = Patched(left, object.Change{Release: f})
			}
		}
		s.model.SetState(n, left)
	}
	return any
}
