package plan

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// inventory returns what the controller of a deleted object deletes with it, or nil if it has no inventory.
func (b *builder) inventory(n graph.Node) *reason.Reason {
	o, in := b.graph.Object(n), b.result.Model.Inventory(n)
	if in == nil && snapshot.InventoryController(o) != "" {
		in = snapshot.UnreadInventory(o, snapshot.NotInFile)
	}
	switch {
	case snapshot.IsHelmRevision(o.Identity) && b.membership(n) == nil:
		return reason.ReleaseForgotten
	case in == nil:
		return nil
	case in.Nothing != nil:
		return in.Nothing
	case b.result.Model.Object(n) == nil: // a person has removed its finalizer
		return reason.InventoryNotHeld(in.Controller, in.Finalizer)
	case in.Unknown != "":
		return reason.Of(reason.InventoryUnread{Controller: in.Controller, ErrorClass: string(in.Unknown)})
	default:
		out := reason.InventoryDeleted{Controller: in.Controller, Unread: in.Unread, Unapproved: in.Unapproved, Hooks: in.Hooks}
		for _, m := range in.Members {
			switch {
			case m.UID == o.UID:
			case m.Kept != nil:
				out.Kept++
			default:
				out.Objects++
			}
		}
		return reason.Of(out)
	}
}

// membership returns by which inventory an object is deleted later, or nil.
func (b *builder) membership(n graph.Node) *simulate.Membership {
	if b.release == nil {
		return nil
	}
	return b.release.Members[n]
}

// marksUnread returns why it is uncertain whether the controller of another object deletes n, or nil.
func (b *builder) marksUnread(n graph.Node) *reason.Reason {
	if in := b.membership(n); in != nil && in.Member.Unread {
		return reason.MarksUnread(b.result.Model.Inventory(in.Of).Controller)
	}
	return nil
}

// keptMembers calls keep with what the controllers of deleted objects leave of what their inventories list.
func (b *builder) keptMembers(outcomes []Outcome, keep func(graph.Node, *reason.Reason)) {
	for i := range outcomes {
		if outcomes[i].Inventory == nil || outcomes[i].Inventory.Code != inventoryDeleted {
			continue
		}
		for _, m := range b.result.Model.Inventory(b.graph.Find(outcomes[i].Object.UID)).Members {
			if m.Kept != nil {
				keep(b.graph.Find(m.UID), m.Kept)
			}
		}
	}
}

var inventoryDeleted = reason.Of(reason.InventoryDeleted{}).Code
