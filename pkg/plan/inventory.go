package plan

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Inventory is what the controller of a deleted object deletes with it, though no owner reference says so.
type Inventory struct {
	*reason.Reason
	MayDeleteMore bool `json:"mayDeleteMore,omitzero"` // than could be read
}

// inventory returns what the controller of a deleted object deletes with it, or nil if it has no inventory.
func (b *builder) inventory(n graph.Node) *Inventory {
	o, in := b.graph.Object(n), b.result.Model.Inventory(n)
	var withRelease bool // Helm deletes it with all others
	if b.release != nil {
		_, withRelease = b.release.Members[n]
	}
	if in == nil && snapshot.InventoryController(o) != "" {
		in = snapshot.UnreadInventory(o, snapshot.NotInFile)
	}
	switch {
	case snapshot.IsHelmRevision(o.Identity) && !withRelease:
		return &Inventory{Reason: reason.ReleaseForgotten}
	case in == nil:
		return nil
	case in.Nothing != nil:
		return &Inventory{Reason: in.Nothing}
	case b.result.Model.Object(n) == nil: // a person has removed its finalizer
		return &Inventory{Reason: reason.InventoryNotHeld(in.Controller, in.Finalizer)}
	case in.Unknown != "":
		return &Inventory{reason.Of(reason.InventoryUnread{Controller: in.Controller, ErrorClass: string(in.Unknown)}), true}
	}
	out := reason.InventoryDeleted{Controller: in.Controller, Unread: in.Unread, Unapproved: in.Unapproved, Hooks: in.Hooks}
	for _, m := range in.Members {
		switch {
		case m.UID == o.UID, b.result.Model.Admission(b.graph.Find(m.UID), "DELETE").Refused:
		case m.Kept != nil:
			out.Kept++
		default:
			out.Objects++
		}
	}
	return &Inventory{reason.Of(out), in.Unread > 0}
}

// keptMembers calls keep with what the controllers of deleted objects leave of what their inventories list, or may not delete.
func (b *builder) keptMembers(outcomes []Outcome, keep func(n graph.Node, why *reason.Reason, uncertain bool)) {
	for i := range outcomes {
		in := b.result.Model.ActiveInventory(b.graph.Find(outcomes[i].Object.UID))
		if in == nil || !outcomes[i].State.Deletes() {
			continue
		}
		for _, m := range in.Members {
			n := b.graph.Find(m.UID)
			switch answer := b.result.Model.Admission(n, "DELETE"); {
			case m.Kept != nil:
				keep(n, m.Kept, false)
			case answer.Refused:
				keep(n, reason.Of(answer.Because), !answer.Certain())
			}
		}
	}
}
