package simulate

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// BlockReason explains what keeps a deletion from completing
// (docs/gc-semantics.md#stuck-foreground-deletions).
type BlockReason int

// The comments describe the object that is the obstacle.
const (
	HeldByFinalizers      BlockReason = iota + 1 // it is terminating, and has foreign finalizers
	PodStillStopping                             // it is a Pod in its grace period
	ContentsStillDeleting                        // it is a Namespace or CustomResourceDefinition that is not empty
	InCycle                                      // it waits for itself, or for something that waits for it
	CannotBeJudged                               // the collector cannot resolve one of its references
	LimitReached                                 // it would be deleted, but is outside the bounds of the simulation
	NotAllListed                                 // its dependents were not all listed
	ContentsNotListed                            // it is not deleted, because its contents were not all listed
	GroupsUndiscoverable                         // it is a Namespace, and the API server cannot discover a group
	ContentsUnlistable                           // it is a Namespace, and the API server may be unable to list contents of it
	PatchRejected                                // the API server rejects every change of it (docs/gc-semantics.md#metadata-validation)
	WriteRefused                                 // admission refuses its deletion or the removal of its finalizer
	SharesUID                                    // another object has its UID, so the collector leaves it alone
	NothingBlocks                                // the collector has yet to process it, or has missed it
)

// Obstacle is an object that has to be deleted or changed before another one can go.
type Obstacle struct {
	Node      graph.Node
	Reason    BlockReason
	Reference int // of CannotBeJudged: the reference that cannot be resolved
}

// Blocking returns the dependents that block an object's foreground deletion, ordered by
// identity.
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

// blocks reports whether the reference that e stands for blocks the owner. References may
// have been removed before it, so then it considers all references to the owner.
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

// Obstacles finds the root causes of blocked deletions. It keeps what it found, so
// that all members of a chain cost no more than its first.
type Obstacles struct {
	model *Model
	ends  map[graph.Node]Obstacle
}

// NewObstacles returns Obstacles for the model's present state.
func NewObstacles(m *Model) *Obstacles {
	return &Obstacles{model: m, ends: map[graph.Node]Obstacle{}}
}

// RootCause returns the obstacle at the end of Model.Chain.
func (o *Obstacles) RootCause(n graph.Node) (end Obstacle, ok bool) {
	links, end, ok := o.model.chain(n, o.ends)
	for _, link := range links {
		o.ends[link] = end
	}
	return end, ok
}

// Chain returns what a terminating object waits for: the object itself, the first object
// that blocks it, the first that blocks that one, and so on, and the obstacle at the end.
// It contains the members of a cycle once; the obstacle is the first of them by identity.
// It is nil if the object is gone or not terminating.
func (m *Model) Chain(n graph.Node) []graph.Node {
	links, _, _ := m.chain(n, nil)
	return links
}

// chain returns the Chain, up to the first object whose end is known, and its end.
func (m *Model) chain(n graph.Node, ends map[graph.Node]Obstacle) (links []graph.Node, end Obstacle, ok bool) {
	if o := m.Object(n); o == nil || !o.Terminating() {
		return nil, Obstacle{}, false
	}
	on := map[graph.Node]bool{}
	for {
		if known, seen := ends[n]; seen {
			return links, known, true
		}
		if on[n] {
			cycle := links[slices.Index(links, n):]
			return links, Obstacle{Node: slices.MinFunc(cycle, m.compare), Reason: InCycle}, true
		}
		on[n], links = true, append(links, n)
		here, next := m.obstacle(n)
		if next == graph.None {
			return links, here, true
		}
		n = next
	}
}

// obstacle returns the obstacle that an object is, or else the next object of the chain.
func (m *Model) obstacle(n graph.Node) (here Obstacle, next graph.Node) {
	o := m.Object(n)
	at := func(why BlockReason) (Obstacle, graph.Node) { return Obstacle{Node: n, Reason: why}, graph.None }
	if o.Contested {
		return at(SharesUID)
	}
	if !o.Terminating() {
		switch d := m.Decide(n); d.NoAction {
		case collector.ReferenceUnknown:
			return Obstacle{n, CannotBeJudged, d.UndecidableReference}, graph.None
		case collector.ContentsUnknown:
			return at(ContentsNotListed)
		case collector.PatchRejected:
			return at(PatchRejected)
		case collector.WriteRefused:
			return at(WriteRefused)
		default:
			return at(LimitReached)
		}
	}
	d, blocking := m.Decide(n), m.Blocking(n)
	switch {
	case d.NoAction == collector.PatchRejected, d.NoAction == collector.WriteRefused:
		here := Obstacle{Node: n, Reason: PatchRejected}
		if d.NoAction == collector.WriteRefused {
			here.Reason = WriteRefused
		}
		if dependent, _ := m.orphanRejected(n); o.Orphaning() && dependent != graph.None {
			here.Node = dependent
		}
		return here, graph.None
	case len(blocking) > 0 && !o.Orphaning():
		return Obstacle{}, blocking[0]
	case d.NoAction == collector.DependentsUnknown, d.NoAction == collector.BlockedByDependents: // by references that are newer than the graph
		return at(NotAllListed)
	case d.Action != collector.ActionNone:
		return at(NothingBlocks)
	case completionRejected(o) && len(m.ContentsOf(n)) == 0:
		return at(PatchRejected)
	case o.IsCRD() && slices.Contains(o.Finalizers, DefinitionFinalizer) && m.due[n] == "":
		return at(ContentsStillDeleting)
	case len(o.ForeignFinalizers()) > 0:
		return at(HeldByFinalizers)
	case o.InGracePeriod():
		return at(PodStillStopping)
	}
	switch gaps, certain := m.FinalizationGaps(n); {
	case len(gaps) > 0 && certain:
		return at(GroupsUndiscoverable)
	case len(gaps) > 0:
		return at(ContentsUnlistable)
	}
	return at(ContentsStillDeleting)
}

// heldBack reports whether something besides its contents keeps the namespace controller from
// completing the deletion of a Namespace. If certain is false, it only may: what that controller
// reported in its last attempt may be over.
func (m *Model) heldBack(n graph.Node) (held, certain bool) {
	gaps, certain := m.FinalizationGaps(n)
	held = len(gaps) > 0
	if s := m.graph.Object(n).NamespaceStatus; s != nil {
		certain = certain || len(s.Finalizers) > 0
		held = held || certain || s.Fails() && !s.Finalized
	}
	return held, certain
}

// FinalizationGaps returns View.FinalizationGaps of a Namespace, and nil for other objects, and for a
// Namespace whose contents do not hold it any more.
func (m *Model) FinalizationGaps(n graph.Node) (gaps []snapshot.Gap, certain bool) {
	if o := m.graph.Object(n); o.IsNamespace() && (o.NamespaceStatus == nil || !o.NamespaceStatus.Finalized) {
		return m.graph.View().FinalizationGaps(o.Name)
	}
	return nil, false
}
