package simulate

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// BlockReason says what keeps an object's deletion from ending.
type BlockReason int

// The reasons, of the object that is in the way: see
// docs/gc-semantics.md#stuck-foreground-deletions.
const (
	HeldByFinalizers      BlockReason = iota + 1 // it is terminating, and finalizers of others hold it
	PodStillStopping                             // it is a Pod in its grace period
	ContentsStillDeleting                        // it is a namespace or CustomResourceDefinition with something in it
	InCycle                                      // it waits for itself, or for what waits for it
	CannotBeJudged                               // a reference of its own keeps the collector from deciding
	LimitReached                                 // it would go, but lies outside of what may be acted on
	NotAllListed                                 // its dependents were not all seen
	ContentsNotListed                            // it takes others along, which were not all listed, so it is not deleted
	SharesUID                                    // another object has its UID, so nothing is done with it
	NothingBlocks                                // nothing is: the collector has yet to come, or has lost it
)

// Obstacle is an object that has to go, or to change, before another can go.
type Obstacle struct {
	Node      graph.Node
	Why       BlockReason
	Reference int // of CannotBeJudged: the reference; else -1
}

// Blocking are the dependents that hold up an object's foreground deletion, in
// the order of their identities.
func (m *Model) Blocking(n graph.Node) []graph.Node {
	var out []graph.Node
	o := m.Object(n)
	if o == nil || !o.DeletingDependents() {
		return nil
	}
	for _, e := range m.graph.Dependents(n) {
		if int(e.Node) < m.graph.Listed() && m.blocks(e, n) && (len(out) == 0 || out[len(out)-1] != e.Node) {
			out = append(out, e.Node)
		}
	}
	slices.SortFunc(out, m.compare)
	return out
}

func (m *Model) compare(a, b graph.Node) int {
	return m.graph.Object(a).Compare(m.graph.Object(b).Identity)
}

// blocks says whether the reference that an edge stood for holds up the owner,
// or, where it has moved since, any reference of that dependent.
func (m *Model) blocks(e graph.Edge, owner graph.Node) bool {
	o := m.Object(e.Node)
	if o == nil {
		return false
	}
	uid := m.graph.UID(owner)
	if e.Index < len(o.Owners) && o.Owners[e.Index].UID == uid {
		return o.Owners[e.Index].Blocks()
	}
	return slices.ContainsFunc(o.Owners, func(r object.Reference) bool { return r.UID == uid && r.Blocks() })
}

// ObstacleChain answers, for objects whose deletion is under way, at which obstacle
// the chain of what each waits for ends. It remembers, so that asking for every
// member of a chain costs no more than for its head.
type ObstacleChain struct {
	model *Model
	ends  map[graph.Node]Obstacle
}

// NewObstacles prepares to ask about the model's present state.
func NewObstacles(m *Model) *ObstacleChain {
	return &ObstacleChain{model: m, ends: map[graph.Node]Obstacle{}}
}

// RootCause follows the first of what blocks a terminating object, and of what blocks
// that, to the end. ok is false where the object is gone or not terminating.
func (o *ObstacleChain) RootCause(n graph.Node) (end Obstacle, ok bool) {
	at := o.model.Object(n)
	if at == nil || !at.Terminating() {
		return Obstacle{}, false
	}
	var path []graph.Node
	on := map[graph.Node]bool{}
	for {
		if known, seen := o.ends[n]; seen {
			end = known
			break
		}
		if on[n] {
			circle := path[slices.Index(path, n):]
			end = Obstacle{slices.MinFunc(circle, o.model.compare), InCycle, -1}
			break
		}
		on[n], path = true, append(path, n)
		here, next := o.model.obstacle(n)
		if next == graph.None {
			end = here
			break
		}
		n = next
	}
	for _, p := range path {
		o.ends[p] = end
	}
	return end, true
}

// Chain is what a terminating object waits for: the first of what blocks it, the
// first of what blocks that, and so on, with the obstacle at which it ends. The
// object itself comes first; of a circle, every member once. ok is false where
// the object is gone or not terminating.
func (m *Model) Chain(n graph.Node) (links []graph.Node, end Obstacle, ok bool) {
	if o := m.Object(n); o == nil || !o.Terminating() {
		return nil, Obstacle{}, false
	}
	on := map[graph.Node]bool{}
	for {
		if on[n] {
			return links, Obstacle{n, InCycle, -1}, true
		}
		on[n], links = true, append(links, n)
		here, next := m.obstacle(n)
		if next == graph.None {
			return links, here, true
		}
		n = next
	}
}

// obstacle is what keeps an object here, or the next object to ask.
func (m *Model) obstacle(n graph.Node) (here Obstacle, next graph.Node) {
	o := m.Object(n)
	at := func(why BlockReason) (Obstacle, graph.Node) { return Obstacle{n, why, -1}, graph.None }
	if o.Contested {
		return at(SharesUID)
	}
	if !o.Terminating() {
		switch d := m.Decide(n); d.NoAction {
		case collector.ReferenceUnknown:
			return Obstacle{n, CannotBeJudged, d.UndecidableReference}, graph.None
		case collector.ContentsUnknown:
			return at(ContentsNotListed)
		default:
			return at(LimitReached)
		}
	}
	d, blocking := m.Decide(n), m.Blocking(n)
	switch {
	case len(blocking) > 0 && !o.Orphaning():
		return Obstacle{}, blocking[0]
	case d.NoAction == collector.DependentsUnknown, d.NoAction == collector.BlockedByDependents: // by what was learned after the graph was built
		return at(NotAllListed)
	case d.Action != collector.ActionNone:
		return at(NothingBlocks)
	case o.IsDefinition() && slices.Contains(o.Finalizers, crdFinalizer):
		return at(ContentsStillDeleting)
	case len(o.ForeignFinalizers()) > 0:
		return at(HeldByFinalizers)
	case o.Stopping():
		return at(PodStillStopping)
	}
	return at(ContentsStillDeleting)
}
