package simulate

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Inventory returns what is known of what the controller of an object deletes with it, or nil if nothing is.
func (m *Model) Inventory(n graph.Node) *snapshot.Inventory {
	return m.graph.Snapshot().Inventories[m.graph.UID(n)]
}

// ActiveInventory returns the Inventory of an object if its controller deletes the members before the object is gone, or nil.
func (m *Model) ActiveInventory(n graph.Node) *snapshot.Inventory {
	in, o := m.Inventory(n), m.Object(n)
	if in == nil || in.Nothing != nil || o == nil || !slices.Contains(o.Finalizers, in.Finalizer) {
		return nil
	}
	return in
}

// deleteInventory deletes what the controller of a terminating object deletes with it. The order among these deletions
// and those of the collector is not known: they are requests like those of a user.
func (s *simulation) deleteInventory(n graph.Node, inventory *snapshot.Inventory) {
	for _, member := range inventory.Members {
		m := s.model.graph.Find(member.UID)
		before := s.model.Object(m)
		if member.Kept != nil || before == nil || before.Terminating() || m == n || before.DeleteForbidden() || s.model.deletionRefused(m) {
			s.release.addHeld(s, m)
			continue
		}
		t := Transition{
			Node: m, Decision: collector.Decision{Action: collector.ActionDelete, Policy: inventory.Policy}, Requested: true,
			StateBefore: before, Verdicts: s.verdicts(m), OrphanedFrom: graph.None, CausedBy: none,
		}
		if !s.effective(t) {
			continue
		}
		switch {
		case member.Unread:
			s.release.unread = append(s.release.unread, m)
		case s.model.Admission(m, "DELETE").Certain():
			s.bounds.Deletes = append(slices.Clip(s.bounds.Deletes), DeleteRequest{Node: m, Policy: inventory.Policy})
		}
		s.release.release.Members[m] = n
		s.release.add(m, []graph.Node{n})
		if index := s.apply(t); s.model.now[m] != nil {
			s.applySideEffects(index, m)
		}
	}
}

// inventoryLeft reports whether something is left of what the controller of an object deletes with it.
func (s *simulation) inventoryLeft(n graph.Node, inventory *snapshot.Inventory) bool {
	return slices.ContainsFunc(inventory.Members, func(member snapshot.Member) bool {
		m := s.model.graph.Find(member.UID)
		return member.Kept == nil && m != n && s.model.Object(m) != nil
	})
}
