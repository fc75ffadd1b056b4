package plan

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	"github.com/kubectl-gc/kubectl-gc/pkg/terminating"
)

// Retained is a dependent of a deleted object, or one that its controller leaves, that is not deleted.
type Retained struct {
	Object object.Identity `json:"object"`
	*reason.Reason
	KeptBy            []object.Identity `json:"keptBy"`            // its remaining owners; never nil
	DroppedReferences int               `json:"droppedReferences"` // number of references that are removed
	// Uncertain reports that an owner could not be verified, so that the object may be deleted.
	Uncertain bool `json:"uncertain,omitempty"`
}

// retained returns the dependents of everything that is deleted which stay, given the outcomes.
func (b *builder) retained(outcomes []Outcome) []Retained {
	leaves := graph.NewSet(b.graph)
	for i := range outcomes {
		if outcomes[i].State.Deletes() {
			leaves.Add(b.graph.Find(outcomes[i].Object.UID))
		}
	}
	owners := b.touched()
	for _, n := range b.result.Requested {
		owners.Add(n)
	}
	orphaned := map[graph.Node]graph.Node{}
	for i := range b.result.Transitions {
		if transition := &b.result.Transitions[i]; transition.OrphanedFrom != graph.None {
			orphaned[transition.Node] = transition.OrphanedFrom
		}
	}
	seen := graph.NewSet(b.graph)
	var out []Retained
	for _, owner := range owners.Nodes() {
		if o := b.result.Model.Object(owner); o != nil && !o.Terminating() {
			continue
		}
		for _, e := range b.graph.Dependents(owner) {
			o := b.result.Model.Object(e.Node)
			if o == nil || o.Terminating() || leaves.Has(e.Node) || int(e.Node) >= b.graph.Listed() || !seen.Add(e.Node) || b.admissionKeeps(e.Node) {
				continue
			}
			out = append(out, b.retain(e.Node, orphaned))
		}
	}
	b.keptMembers(outcomes, func(n graph.Node, why *reason.Reason, uncertain bool) {
		if o := b.result.Model.Object(n); o != nil && !o.Terminating() && !leaves.Has(n) && seen.Add(n) {
			out = append(out, Retained{Object: o.Identity, Reason: why, KeptBy: []object.Identity{}, Uncertain: uncertain})
		}
	})
	slices.SortStableFunc(out, func(a, b Retained) int { return a.Object.Compare(b.Object) })
	return out
}

func (b *builder) retain(n graph.Node, orphaned map[graph.Node]graph.Node) Retained {
	before, now := b.graph.Object(n), b.result.Model.Object(n)
	s := Retained{Object: before.Identity, KeptBy: []object.Identity{}, DroppedReferences: len(before.Owners) - len(now.Owners)}
	seen := map[object.Identity]bool{}
	for i, v := range b.result.Model.Verdicts(n) {
		owner := b.result.Model.Object(b.graph.Find(now.Owners[i].UID))
		if v != collector.VerdictSolid || owner == nil || seen[owner.Identity] {
			continue
		}
		seen[owner.Identity] = true
		s.KeptBy = append(s.KeptBy, owner.Identity)
	}
	slices.SortStableFunc(s.KeptBy, object.Identity.Compare)
	s.Reason, s.Uncertain = b.retainedReason(n, s, orphaned)
	return s
}

// retainedReason returns why an object is retained, and whether that is uncertain.
func (b *builder) retainedReason(n graph.Node, s Retained, orphaned map[graph.Node]graph.Node) (why *reason.Reason, uncertain bool) {
	d := b.result.Model.Decide(n)
	owner, orphans := orphaned[n]
	switch kept := s.KeptBy; {
	case d.NoAction == collector.WriteRefused:
		return reason.Of(b.result.Model.RefusedBy(n)), true
	case d.NoAction == collector.ContentsUnknown:
		return snapshot.ContentsUnknown(b.contentsGaps(n)), true
	case d.NoAction == collector.UIDContested:
		return reason.Of(snapshot.UIDContested(b.graph.Object(n))), true
	case d.NoAction == collector.ReferenceUnknown:
		verdict := b.result.Model.Verdicts(n)[d.UndecidableReference]
		return reason.OwnerUndecidable(terminating.UndecidableReference(b.result.Model, n, d.UndecidableReference)), verdict == collector.VerdictUnknown
	case orphans:
		return reason.OrphanedByOwner(b.graph.Object(owner).Identity, append([]object.Identity(nil), kept...)), false
	case len(kept) > 0:
		return reason.OwnersRemain(kept), false
	case len(b.result.Model.Object(n).Owners) == 0:
		return reason.LastReferenceLost, false
	case b.graph.Object(n).DeleteForbidden():
		return reason.DeletionForbidden, false
	}
	return reason.NotReached, false
}
