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
	UsersUnknown    = fixed("UsersUnknown", "its deletion was under way, and whether anything else uses it is unknown")
	ContentsDeleted = fixed("ContentsDeleted", "its namespace or definition is deleted")

	// the object would lose an owner, but another of its references cannot be resolved, so the collector skips it
	OwnerLossUndecided = says("OwnerLossUndecided", "owner", func(o Owner) string { return "would lose an owner, but is left alone: " + o.Undecidable() })
	DependsOn          = with[object.Identity]("DependsOn", "object", "it depends on the outcome for %s")
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
		"is not repaired: the garbage collector does not delete it now, but might after the repair, because not everything that this depends on could be read",
		"is not repaired: the garbage collector does not delete it now, but would after a partial repair")
	// the collector deletes the object after the repair; fromRepairs: because others are repaired, whether this one is or not
	DeletedDespiteRepair = says2("DeletedDespiteRepair", "because fromRepairs,omitzero", func(why Nested, others bool) string {
		if others {
			return "would be deleted because other objects are repaired, even if it is not: " + Message(why.Reason)
		}
		return "would be deleted even if it is repaired: " + Message(why.Reason)
	})
	// the object is not deleted, as the deletion of another object would follow whose contents could not be listed
	CascadeRefused = says2("CascadeRefused", "object gaps", func(o object.Identity, gaps []Gap) string {
		return fmt.Sprintf("is not deleted, because this would also delete %s, whose contents could not be listed: %s", o, listGaps(gaps))
	})
	// an owner is deleted with the policy Orphan, and the object stays; remaining are its other owners
	OrphanedByOwner = says2("OrphanedByOwner", "owner remaining,omitzero", func(owner object.Identity, remaining []object.Identity) string {
		if len(remaining) == 0 {
			return owner.String() + " orphans it, and no owner remains"
		}
		return owner.String() + " orphans it, and " + named(remaining) + " remains"
	})
	// more than one reason applies
	Several = says("Several", "reasons", func(reasons []Nested) string {
		return firstFew(reasons, func(n Nested) string { return Message(n.Reason) })
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
	owner := "an owner that is gone"
	if r.Owner != nil {
		owner = r.Owner.String()
	}
	switch {
	case r.Unserved:
		return "it stays if the kind of its owner is no longer served when the garbage collector looks for the owner"
	case r.Owner == nil && !r.Orphaned:
		return "that depends on the order in which the garbage collector processes objects"
	case r.UnderWay && !r.Unblocked:
		return fmt.Sprintf("it does not block %s, whose deletion is already under way, so it may stay until %s is gone", owner, owner)
	case r.Orphaned:
		return fmt.Sprintf("it stays if the garbage collector removes its reference to %s before another owner orphans it", owner)
	case r.Unblocked && r.OwnerHeld:
		return fmt.Sprintf("it no longer blocks %s, which a finalizer holds: it is deleted if the garbage collector processes it in time", owner)
	case r.Unblocked:
		return fmt.Sprintf("it no longer blocks %s: it waits for its own dependents if the garbage collector processes it in time", owner)
	case r.OwnerHeld:
		return fmt.Sprintf("it does not block %s, which a finalizer holds: it stays if the garbage collector processes it late", owner)
	}
	return fmt.Sprintf("it does not block %s: it does not wait for its own dependents if the garbage collector processes it late", owner)
}

// Unrepaired is a reference that a repair leaves as it is.
type Unrepaired struct {
	Owner
	ByHand bool `json:"byHand,omitzero"` // --fix unlink would remove it
}

// Combine returns one reason for several: that one itself where it is alone.
func Combine(reasons []Reason) Reason {
	if len(reasons) == 1 {
		return reasons[0]
	}
	all := make([]Nested, len(reasons))
	for i, r := range reasons {
		all[i] = Nested{r}
	}
	return Several.Of(all)
}
