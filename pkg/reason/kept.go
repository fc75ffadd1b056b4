package reason

import (
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// Why a plan leaves an object as it is, for now or for good.
var (
	LastReferenceLost = fixed("LastReferenceLost", "loses its last owner reference and then has no owner")
	NotReached        = fixed("NotReached", "the garbage collector does not process it")
	// a finalizer protects the object until nothing uses it, and not everything that may use it was read
	UsersUnknown    = fixed("UsersUnknown", "it is already being deleted, and it is unknown what else uses it")
	ContentsDeleted = fixed("ContentsDeleted", "its namespace or CustomResourceDefinition is deleted")

	// the object would lose an owner, but another of its references cannot be resolved, so the collector skips it
	OwnerLossUndecided = says("OwnerLossUndecided", "owner", func(o Owner) string { return "would lose an owner, but " + o.stays() })
	DependsOn          = with[object.Identity]("DependsOn", "object", "it depends on what happens to %s")
	// the object has other owners, which stay
	OwnersRemain = says("OwnersRemain", "owners", func(owners []object.Identity) string { return "is also owned by " + named(owners) })
	// references of the object are left as they are
	NotRepaired = says("NotRepaired", "references", func(references []Unrepaired) string {
		return firstFew(references, func(r Unrepaired) string {
			if r.ByHand {
				return r.fact() + " (to remove the reference anyway: --fix unlink)"
			}
			return r.fact()
		})
	})
	// the object is left as it is, since the collector would delete it if it were repaired in part, and does not
	// delete it now; that is uncertain if not everything could be read on which it depends
	RepairWouldDelete = either("RepairWouldDelete", "uncertain,omitzero",
		"is not repaired: the garbage collector keeps it now, but might delete it after the repair (this tool could not read everything)",
		"is not repaired: the garbage collector keeps it now, but would delete it after a partial repair")
	// another reference names the owner rightly, and the collector knows that owner by the wrong one, or does not watch its type
	RepairMayDeleteOwner = with[object.Identity]("RepairMayDeleteOwner", "owner",
		"is not repaired: the garbage collector might then find %s, and delete it because of its own owners")
	// the collector deletes the object after the repair; fromRepairs: because others are repaired, whether this one is or not
	DeletedDespiteRepair = says2("DeletedDespiteRepair", "because fromRepairs,omitzero", func(why *Reason, others bool) string {
		if others {
			return "would be deleted because other objects are repaired, even if it is not: " + why.Message()
		}
		return "would be deleted even if it is repaired: " + why.Message()
	})
	// the collector may delete the object after the repair, in some order of events
	PerhapsDeletedDespiteRepair = says("PerhapsDeletedDespiteRepair", "because", func(why *Reason) string {
		return "may be deleted even if it is repaired: " + why.Message()
	})
	// the object is not deleted, as the deletion of another object would follow whose contents could not be listed
	CascadeRefused = says2("CascadeRefused", "object gaps", func(o object.Identity, gaps []Gap) string {
		return fmt.Sprintf("is not deleted, because this would also delete %s, and this tool could not list its contents: %s", o, listGaps(gaps))
	})
	// an owner is deleted with the policy Orphan, and the object stays; remaining are its other owners
	OrphanedByOwner = says2("OrphanedByOwner", "owner remaining,omitzero", func(owner object.Identity, remaining []object.Identity) string {
		if len(remaining) == 0 {
			return owner.String() + " orphans it, and no owner remains"
		}
		return owner.String() + " orphans it, and " + named(remaining) + " remains"
	})
	// more than one reason applies
	Several = says("Several", "reasons", func(reasons []*Reason) string {
		return firstFew(reasons, (*Reason).Message)
	})
)

// OrderMatters means that the outcome for the object depends on the order in which the
// collector processes it and an owner.
type OrderMatters struct {
	Owner     *object.Identity `json:"owner,omitempty"`    // nil: an owner that is gone
	Released  bool             `json:"released,omitzero"`  // the owner is in foreground deletion, and does not wait for the object
	OwnerHeld bool             `json:"ownerHeld,omitzero"` // finalizers of others keep the owner
	Orphaned  bool             `json:"orphaned,omitzero"`  // the owner orphans the object
	Unblocked bool             `json:"unblocked,omitzero"` // the object stops blocking the owner's deletion
	UnderWay  bool             `json:"underWay,omitzero"`  // the owner's deletion began before the scan
	Unserved  bool             `json:"unserved,omitzero"`  // the kind of an owner is deleted
}

func (r OrderMatters) Message() string {
	switch {
	case r.Unserved:
		return "it stays if the kind of its owner is no longer served when the garbage collector looks for the owner"
	case r.UnderWay && !r.Unblocked && r.Owner != nil:
		return fmt.Sprintf("it does not block %[1]s, which is already being deleted, so it may stay until %[1]s is gone", r.Owner)
	case r.Orphaned:
		return "it depends on which of its references the garbage collector removes first"
	case r.Owner == nil:
		return "it depends on the order in which the garbage collector processes objects"
	case r.OwnerHeld:
		return "whether it stays depends on when the garbage collector processes it"
	}
	return "whether its own dependents go first depends on when the garbage collector processes it"
}

// Unrepaired is a reference that a repair leaves as it is.
type Unrepaired struct {
	Owner
	ByHand bool `json:"byHand,omitzero"` // --fix unlink would remove it
}

// Combine returns one reason for several: that one itself where it is alone.
func Combine(reasons []*Reason) *Reason {
	if len(reasons) == 1 {
		return reasons[0]
	}
	return Several(reasons)
}
