package restore

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// resolveReferences decides which owner each reference points at and whether it is
// restored. It points at the recreated owner, or, if the collector finds another
// object under the owner's name, at that successor. Solid references are restored,
// all others only with Options.Exact, which also rules out successors.
func (p *planner) resolveReferences() {
	for _, h := range p.holders {
		for _, r := range h.references {
			p.pointAt(r, r.original.UID)
		}
	}
	p.judge()
	if !p.options.Exact && p.pointAtSuccessors() {
		p.judge()
	}
	for _, h := range p.holders {
		h.accept(p.options.Exact)
	}
}

// pointAt makes a reference point at the object that has or had a UID.
func (p *planner) pointAt(r *restoredReference, uid types.UID) {
	r.owner, r.restored.UID = p.byUID[uid], uid
	if r.owner != nil {
		r.restored.UID = r.owner.uid()
	}
}

// pointAtSuccessors makes references point at the successors of replaced owners and
// reports whether it changed any.
func (p *planner) pointAtSuccessors() bool {
	changed := false
	for _, h := range p.holders {
		for _, r := range h.references {
			if j := r.judgement; j.Cause == collector.CauseReplaced && j.NameHolder != nil && !j.NameHolder.Terminating() {
				p.pointAt(r, j.NameHolder.UID)
				changed = true
			}
		}
	}
	return changed
}

// judge judges every reference in the predicted cluster.
func (p *planner) judge() {
	g := graph.New(p.predicted())
	judge := collector.NewJudge(g)
	for _, h := range p.holders {
		n := g.Find(h.object.UID)
		judged := judge.Object(n)
		assessment := collector.Assess(g.Object(n), collector.Verdicts(judged))
		judged = judged[len(judged)-len(h.references):] // owners puts them last
		for i, r := range h.references {
			r.judgement = judged[i]
			r.consequence = assessment.ConsequenceFor(r.restored.UID, judged[i].Verdict)
		}
	}
}

// predicted returns the cluster after the restoration. Objects that are created
// have the UIDs of the deleted ones, and every holder has all its references.
func (p *planner) predicted() *snapshot.Snapshot {
	holders := make(map[types.UID]*referenceHolder, len(p.holders))
	for _, h := range p.holders {
		holders[h.object.UID] = h
	}
	s := *p.seen
	s.Types = slices.Concat(p.seen.Types, p.newTypes)
	s.Listed = slices.Clone(p.seen.Listed)
	for _, t := range p.newTypes {
		s.Listed = append(s.Listed, snapshot.Listing{Group: t.Group, Resource: t.Resource})
	}
	s.Objects = make([]*object.Object, 0, len(p.seen.Objects)+len(p.toCreate))
	for _, o := range p.seen.Objects {
		if h := holders[o.UID]; h != nil {
			linked := *o
			linked.Owners = h.owners()
			o = &linked
		}
		s.Objects = append(s.Objects, o)
	}
	created := map[object.Address]bool{}
	for _, c := range p.toCreate {
		s.Objects = append(s.Objects, &object.Object{Identity: c.saved.Object, Owners: c.holder.owners()})
		if t, why := p.typeOf(c.saved.Object); why == nil {
			created[t.Address(c.saved.Object.Namespace, c.saved.Object.Name)] = true
		}
	}
	// An object that is created is no longer absent.
	s.Lookups = slices.DeleteFunc(slices.Clone(p.seen.Lookups), func(l snapshot.Lookup) bool {
		mapped, ok := p.live.view.Map(l.APIVersion, l.Kind)
		return ok && l.Outcome == snapshot.Absent && created[mapped.Type.Address(l.Namespace, l.Name)]
	})
	s.Normalize()
	return &s
}

// accept decides which references are restored, after dropping duplicates and those
// that the object already has.
func (h *referenceHolder) accept(exact bool) {
	var kept []*restoredReference
	for _, r := range h.references {
		same := func(x object.Reference) bool {
			return x.UID == r.restored.UID && x.Kind == r.restored.Kind && x.Name == r.restored.Name
		}
		duplicate := slices.IndexFunc(kept, func(x *restoredReference) bool {
			return same(x.restored) && x.restored.APIVersion == r.restored.APIVersion
		})
		if duplicate >= 0 {
			kept[duplicate].replaces = append(kept[duplicate].replaces, r.replaces...)
			continue
		}
		if h.live != nil && len(r.replaces) == 0 && slices.ContainsFunc(h.live.Owners, same) {
			continue
		}
		r.conflictingController, r.unchanged = h.conflictingController(r), h.isUnchanged(r)
		r.accepted = r.conflictingController == nil && !r.unchanged && (exact || r.judgement.Verdict == collector.VerdictSolid)
		kept = append(kept, r)
	}
	h.references = kept
}

// isUnchanged reports whether all live references that r replaces already equal it.
func (h *referenceHolder) isUnchanged(r *restoredReference) bool {
	if len(r.replaces) == 0 || r.owner.pending() { // a pending owner gets another UID
		return false
	}
	return !slices.ContainsFunc(r.replaces, func(i int) bool {
		return !h.live.Owners[i].Equivalent(r.restored)
	})
}

// conflictingController returns the controller that the object already has, if r
// would give it another.
func (h *referenceHolder) conflictingController(r *restoredReference) *object.Reference {
	if h.live == nil || !r.restored.Controls() {
		return nil
	}
	for i := range h.live.Owners {
		if x := &h.live.Owners[i]; x.Controls() && !h.isReplaced(i) {
			return x
		}
	}
	return nil
}
