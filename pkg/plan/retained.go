package plan

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Retained is an object that depends on something that is deleted, and stays.
type Retained struct {
	Object            object.Identity   `json:"object"`
	Reason            reason.Reason     `json:"-"`
	KeptBy            []object.Identity `json:"keptBy"`            // its owners that remain; empty where there are none
	DroppedReferences int               `json:"droppedReferences"` // how many of its references are removed
	// Uncertain says that nobody can say so for sure, as an owner could not be verified.
	Uncertain bool `json:"uncertain,omitempty"`
}

// retained returns the dependents of everything that is deleted which stay.
func (m *builder) retained() []Retained {
	blockers := audit.NewBlockers(m.judge, m.result.Model)
	leaving := m.touched()
	for _, n := range m.result.Asked {
		leaving.Add(n)
	}
	orphaned := map[graph.Node]graph.Node{}
	for i := range m.result.Transitions {
		if transition := &m.result.Transitions[i]; transition.Requested != graph.None {
			orphaned[transition.Node] = transition.Requested
		}
	}
	seen := graph.NewSet(m.graph)
	var out []Retained
	for _, owner := range leaving.Nodes() {
		if o := m.result.Model.Object(owner); o != nil && !o.Terminating() {
			continue
		}
		for _, e := range m.graph.Dependents(owner) {
			o := m.result.Model.Object(e.Node)
			if o == nil || o.Terminating() || int(e.Node) >= m.graph.Listed() || !seen.Add(e.Node) {
				continue
			}
			out = append(out, m.retain(blockers, e.Node, orphaned))
		}
	}
	slices.SortStableFunc(out, func(a, b Retained) int { return a.Object.Compare(b.Object) })
	return out
}

func (m *builder) retain(blockers *audit.Blockers, n graph.Node, orphaned map[graph.Node]graph.Node) Retained {
	before, now := m.graph.Object(n), m.result.Model.Object(n)
	s := Retained{Object: before.Identity, KeptBy: []object.Identity{}, DroppedReferences: len(before.Owners) - len(now.Owners)}
	var held *object.Object
	seen := map[object.Identity]bool{}
	for i, v := range m.result.Model.Verdicts(n) {
		owner := m.result.Model.Object(m.graph.Find(now.Owners[i].UID))
		switch {
		case v != collector.Solid || owner == nil || seen[owner.Identity]:
			continue
		case owner.Terminating():
			held = owner
		}
		seen[owner.Identity] = true
		s.KeptBy = append(s.KeptBy, owner.Identity)
	}
	slices.SortStableFunc(s.KeptBy, object.Identity.Compare)
	s.Reason, s.Uncertain = m.retainedReason(blockers, n, s, held, orphaned)
	return s
}

// retainedReason returns why an object stays, and whether that is uncertain.
func (m *builder) retainedReason(blockers *audit.Blockers, n graph.Node, s Retained, held *object.Object, orphaned map[graph.Node]graph.Node) (why reason.Reason, uncertain bool) {
	d := m.result.Model.Decide(n)
	owner, orphans := orphaned[n]
	switch kept := s.KeptBy; {
	case d.NoAction == collector.ContentsUnknown:
		return snapshot.ContentsUnknown(m.contentsGaps(n)), true
	case d.NoAction == collector.UIDContested:
		return snapshot.Contention(m.graph.Object(n)), true
	case d.NoAction == collector.ReferenceUnknown:
		verdict := m.result.Model.Verdicts(n)[d.UndecidableReference]
		return reason.OwnerUndecidable{Owner: blockers.UndecidableReference(n, d.UndecidableReference)}, verdict == collector.Unknown
	case orphans:
		return reason.OrphanedByOwner{Owner: m.graph.Object(owner).Identity, Remaining: slices.Clip(kept)}, false
	case held != nil && len(kept) == 1:
		return reason.OwnerHeld{Owner: held.Identity}, false
	case len(kept) > 0:
		return reason.OwnersRemain{Owners: kept}, false
	case len(m.result.Model.Object(n).Owners) == 0:
		return reason.LastReferenceLost{}, false
	}
	return reason.NotReached{}, false
}
