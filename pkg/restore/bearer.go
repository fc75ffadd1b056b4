package restore

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// referenceHolder is an object with references that are to be put back.
type referenceHolder struct {
	object object.Identity
	made   *subject       // nil: it survived the run
	now    *object.Object // nil: it has yet to be made
	wants  []*want
}

// want is a reference that is to be put back.
type want struct {
	was   object.Reference
	ref   object.Reference // as it is put back; with the UID of then of what has yet to be made
	owner *subject         // nil: it is not of the backup
	over  []int            // the places of the references in the stead of which it comes
	found collector.Judgement
	comes collector.Consequence // of putting it back
	rival *object.Reference     // the controller that the object has meanwhile, where it may have but one
	stays bool                  // it was led to the successor of its owner, and stays there
	kept  bool
	later bool // the owner is made after the object, which is linked then
}

func (m *maker) bear(b *referenceHolder) { m.bearers = append(m.bearers, b) }

// survive finds the references that are to be put back: of what is made, all that
// it had; of what was made before and of what survived the run, those that they
// lack, or that still carry the UID of an object that is made anew.
func (m *maker) survive() {
	for _, s := range m.making {
		s.bearer = &referenceHolder{object: s.saved.Object, made: s}
		for _, r := range s.owners {
			s.bearer.want(r)
		}
		m.bear(s.bearer)
	}
	made := map[types.UID]*subject{}
	for _, s := range m.before {
		made[s.uid] = s
	}
	removed := m.removed()
	for _, now := range m.seen.Objects {
		if now.Terminating() {
			continue
		}
		wanted := m.options.Only == nil || m.options.Only(now.Identity)
		b := &referenceHolder{object: now.Identity, made: made[now.UID], now: now}
		for at, r := range now.Owners {
			if owner := m.of[r.UID]; owner != nil && owner.uid != now.UID {
				b.want(r, at)
			}
		}
		if b.made != nil {
			for _, r := range b.made.owners {
				b.want(r) // settle finds those that it has
			}
		} else {
			for _, r := range removed[now.UID] {
				if wanted || m.of[r.before.UID] != nil { // what is made gets its dependents back
					b.miss(r)
				}
			}
		}
		if len(b.wants) > 0 {
			m.bear(b)
		}
	}
}

func (b *referenceHolder) want(r object.Reference, over ...int) {
	b.wants = append(b.wants, &want{was: r, ref: r, over: over})
}

// replaces says whether a reference that the object has makes way for another.
func (b *referenceHolder) replaces(i int) bool {
	return slices.ContainsFunc(b.wants, func(w *want) bool { return slices.Contains(w.over, i) })
}

// change is what a run made of a reference.
type change struct {
	before object.Reference
	after  *object.Reference // nil: it went, or no longer blocks
}

// miss wants a reference that the run took away, or changed, in the stead of what
// became of it. What somebody has changed since stays as it is.
func (b *referenceHolder) miss(c change) {
	r := c.before
	for i, has := range b.now.Owners {
		switch {
		case c.after != nil && has.SameOwner(*c.after):
			if !b.replaces(i) {
				b.want(r, i)
			}
			return
		case has.SameOwner(r):
			if has.Blocks() != r.Blocks() && !b.replaces(i) {
				b.want(r, i)
			}
			return
		}
	}
	if c.after == nil {
		b.want(r)
	}
}

// removed are the references that the run took from objects which it did not
// delete, or changed, by the UID of the object. Where nothing is noted of a step, or
// a step that is theirs was skipped, the cluster's own collector may have done it.
func (m *maker) removed() map[types.UID][]change {
	out := map[types.UID][]change{}
	if m.backup.Plan == nil {
		return out
	}
	undone, theirs := map[string]bool{}, m.theirs()
	for _, e := range m.backup.Ended {
		undone[e.Step] = e.Status == event.Failed || e.Status == event.Skipped && !theirs[e.Step]
	}
	for i := range m.backup.Plan.Steps {
		s := &m.backup.Plan.Steps[i]
		if s.Action == collector.ActionDelete || undone[s.ID] {
			continue
		}
		for _, r := range s.References {
			c := change{before: referenceOf(r.Reference)}
			if r.Becomes != nil {
				after := referenceOf(*r.Becomes)
				c.after = &after
			}
			out[s.Object.UID] = append(out[s.Object.UID], c)
		}
	}
	return out
}

// referenceOf is a reference of a plan, which does not tell an unset flag from a
// false one: they mean the same.
func referenceOf(r audit.Reference) object.Reference {
	yes := true
	out := object.Reference{APIVersion: r.APIVersion, Kind: r.Kind, Name: r.Name, UID: types.UID(r.UID)}
	if r.Controller {
		out.Controller = &yes
	}
	if r.BlockOwnerDeletion {
		out.BlockOwnerDeletion = &yes
	}
	return out
}
