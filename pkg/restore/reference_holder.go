package restore

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// referenceHolder is an object with references to restore.
type referenceHolder struct {
	object     object.Identity
	recreation *recreation    // nil if it survived the run
	live       *object.Object // nil until it is created
	references []*reference
}

// reference is an owner reference to restore.
type reference struct {
	original object.Reference
	// restored is what it becomes. Until the owner is recreated it carries the UID
	// of the deleted owner.
	restored    object.Reference
	owner       *recreation // nil if the owner is not restored from the backup
	replaces    []int       // indexes of the live references that it replaces
	judgement   collector.Judgement
	consequence collector.Consequence // of restoring it

	conflictingController *object.Reference // an object may have only one controller
	unchanged             bool              // the live reference already equals it
	accepted              bool              // it is restored
	linkedLater           bool              // the owner is created after the object, which is linked then
}

// findReferences collects the references to restore: all those of an object that is
// created; of an object that exists, those that it lost and those that carry the
// UID of a deleted object.
func (p *planner) findReferences() {
	for _, c := range p.toCreate {
		c.holder = &referenceHolder{object: c.saved.Object, recreation: c}
		for _, r := range c.owners {
			c.holder.add(r)
		}
		p.holders = append(p.holders, c.holder)
	}
	created := map[types.UID]*recreation{}
	for _, c := range p.alreadyCreated {
		created[c.uid()] = c
	}
	changed := p.changedReferences()
	for _, live := range p.seen.Objects {
		if live.Terminating() {
			continue
		}
		h := &referenceHolder{object: live.Identity, recreation: created[live.UID], live: live}
		for i, r := range live.Owners {
			if owner := p.byUID[r.UID]; owner != nil && owner.uid() != live.UID {
				h.add(r, i)
			}
		}
		if h.recreation != nil {
			for _, r := range h.recreation.owners {
				h.add(r) // accept drops those that it has
			}
		} else {
			wanted := p.options.Only == nil || p.options.Only(live.Identity)
			for _, c := range changed[live.UID] {
				if wanted || p.byUID[c.before.UID] != nil { // a recreated owner gets its dependents back
					h.revert(c)
				}
			}
		}
		if len(h.references) > 0 {
			p.holders = append(p.holders, h)
		}
	}
}

func (h *referenceHolder) add(r object.Reference, replaces ...int) {
	h.references = append(h.references, &reference{original: r, restored: r, replaces: replaces})
}

// isReplaced reports whether another reference replaces the i-th live one.
func (h *referenceHolder) isReplaced(i int) bool {
	return slices.ContainsFunc(h.references, func(r *reference) bool { return slices.Contains(r.replaces, i) })
}

// owners returns the references that the object gets: the live ones that stay,
// then the restored ones.
func (h *referenceHolder) owners() []object.Reference {
	var out []object.Reference
	if h.live != nil {
		for i, r := range h.live.Owners {
			if !h.isReplaced(i) {
				out = append(out, r)
			}
		}
	}
	for _, r := range h.references {
		out = append(out, r.restored)
	}
	return out
}

// referenceChange is what a run did to a reference.
type referenceChange struct {
	before object.Reference
	after  *object.Reference // nil if it was removed, or no longer blocks
}

// revert adds the reference as it was before a change, unless it was changed again
// since.
func (h *referenceHolder) revert(c referenceChange) {
	for i, has := range h.live.Owners {
		replaced := c.after != nil && has.SameOwner(*c.after)
		if !replaced && !has.SameOwner(c.before) {
			continue
		}
		if (replaced || has.Blocks() != c.before.Blocks()) && !h.isReplaced(i) {
			h.add(c.before, i)
		}
		return
	}
	if c.after == nil {
		h.add(c.before)
	}
}

// changedReferences returns what the run did to the references of objects that it
// did not delete, by the object's UID. A step without a recorded end counts, and so
// does a skipped one that the cluster's own garbage collector may have performed.
func (p *planner) changedReferences() map[types.UID][]referenceChange {
	out := map[types.UID][]referenceChange{}
	if p.backup.Plan == nil {
		return out
	}
	for i := range p.backup.Plan.Steps {
		s := &p.backup.Plan.Steps[i]
		if s.Action == plan.ActionDelete || p.undone[s.ID] {
			continue
		}
		for _, r := range s.References {
			c := referenceChange{before: objectReference(r.Reference)}
			if r.Becomes != nil {
				after := objectReference(*r.Becomes)
				c.after = &after
			}
			out[s.Object.UID] = append(out[s.Object.UID], c)
		}
	}
	return out
}

// objectReference converts a reference of a plan, in which an unset flag is the
// same as a false one.
func objectReference(r audit.Reference) object.Reference {
	out := object.Reference{APIVersion: r.APIVersion, Kind: r.Kind, Name: r.Name, UID: types.UID(r.UID)}
	if r.Controller {
		out.Controller = object.Flag(true)
	}
	if r.BlockOwnerDeletion {
		out.BlockOwnerDeletion = object.Flag(true)
	}
	return out
}
