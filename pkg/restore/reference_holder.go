package restore

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// referenceHolder is an object with references to restore.
type referenceHolder struct {
	object     object.Identity
	recreation *recreation    // nil if it survived the run
	live       *object.Object // nil until it is created
	references []*restoredReference
}

// restoredReference is an owner reference to restore.
type restoredReference struct {
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
				if wanted || p.byUID[c.Before.UID] != nil { // a recreated owner gets its dependents back
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
	h.references = append(h.references, &restoredReference{original: r, restored: r, replaces: replaces})
}

// isReplaced reports whether another reference replaces the i-th live one.
func (h *referenceHolder) isReplaced(i int) bool {
	return slices.ContainsFunc(h.references, func(r *restoredReference) bool { return slices.Contains(r.replaces, i) })
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

// revert adds the reference as it was before a change, unless it was changed again
// since.
func (h *referenceHolder) revert(c event.ReferenceChange) {
	for i, has := range h.live.Owners {
		replaced := c.After != nil && has.SameOwner(*c.After)
		if !replaced && !has.SameOwner(c.Before) {
			continue
		}
		if (replaced || has.Blocks() != c.Before.Blocks()) && !h.isReplaced(i) {
			h.add(c.Before, i)
		}
		return
	}
	if c.After == nil {
		h.add(c.Before)
	}
}

// changedReferences returns what the run did to the references of objects that it
// did not delete, by the object's UID. A step without a recorded end counts, and so
// does a skipped one that the cluster's own garbage collector may have performed.
func (p *planner) changedReferences() map[types.UID][]event.ReferenceChange {
	out := map[types.UID][]event.ReferenceChange{}
	for _, s := range p.backup.Steps {
		if s.Action != string(plan.ActionDelete) && !p.undone[s.ID] {
			out[s.Object.UID] = append(out[s.Object.UID], s.References...)
		}
	}
	return out
}
