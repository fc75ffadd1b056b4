package simulate

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// Release is what happens after a simulation once nothing holds the objects that it left
// terminating.
type Release struct {
	Result Result
	// Begun are the objects whose deletion begins only then, in that order.
	Begun []graph.Node
	// After maps those to the objects that had to be released first, ordered by identity.
	// Objects with equal lists share one list. An object without an entry depends on no
	// release: the collector deletes it anyway once it processes it.
	After map[graph.Node][]graph.Node
}

type releaseState struct {
	release  *Release
	held     []graph.Node                // terminating, and not released yet
	released map[graph.Node]bool         // objects whose foreign finalizers were removed
	causes   map[graph.Node][]graph.Node // as Release.After, for everything that changed; see attribute
	lists    map[uint64][][]graph.Node   // the lists in causes, without duplicates, by hash
}

// SimulateRelease continues the simulation from its end. It removes foreign finalizers
// from what is terminating, and from what is deleted in turn, until nothing changes any
// more. c does not change.
func (c *Result) SimulateRelease() *Release {
	s := c.simulation.clone()
	s.release = &releaseState{
		release:  &Release{After: map[graph.Node][]graph.Node{}},
		released: map[graph.Node]bool{}, causes: map[graph.Node][]graph.Node{}, lists: map[uint64][][]graph.Node{},
	}
	changed := slices.Concat(c.Asked, c.FinalizersRemoved.Nodes())
	for i := range c.Transitions {
		changed = append(changed, c.Transitions[i].Node)
	}
	for n := range c.ContentsDeleted {
		changed = append(changed, n)
	}
	slices.Sort(changed)
	for _, n := range slices.Compact(changed) {
		s.release.addHeld(s, n)
	}
	s.release.release.Result = *s.run(func() int { return 0 })
	return s.release.release
}

func (r *releaseState) addHeld(s *simulation, n graph.Node) {
	if o := s.model.Object(n); o != nil && o.Terminating() && !r.released[n] {
		r.held = append(r.held, n)
	}
}

func (r *releaseState) onStateChange(s *simulation, n graph.Node, old *object.Object) {
	if now := s.model.now[n]; old != nil && !old.Terminating() && (now == nil || now.Terminating()) {
		r.release.Begun = append(r.release.Begun, n)
		if causes := r.causes[n]; len(causes) > 0 {
			r.release.After[n] = causes
		}
		r.addHeld(s, n)
	}
}

// releaseHeld removes foreign finalizers from everything that is held, and reports
// whether there was anything.
func (s *simulation) releaseHeld() bool {
	if s.release == nil {
		return false
	}
	any := false
	for r := s.release; len(r.held) > 0; {
		n := r.held[0]
		r.held = r.held[1:]
		o := s.model.Object(n)
		if o == nil || !o.Terminating() || r.released[n] {
			continue
		}
		r.released[n], any = true, true
		left := podStopped(o)
		for _, f := range o.ForeignFinalizers() {
			if left != nil && f != crdFinalizer {
				left = Patched(left, object.Change{Release: f})
			}
		}
		s.model.SetState(n, left)
	}
	return any
}
