package planrun

import (
	"cmp"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/repair"
)

// unknownRepair is the repair of a reference that could not be looked up.
var unknownRepair = repair.Repair{Fix: repair.None, Found: reason.Found{State: reason.StateUnverified}}

// decideRepair decides again on a step that repairs o. The step is done if the same
// repairs are needed as planned; skip is nil then. Rereads are the new owners, which must
// have been read since the latest write.
func (m *liveModel) decideRepair(step *plan.Step, o *object.Object) (d collector.Decision, skip *reason.Reason, rereads []graph.Node) {
	d = collector.Decision{Action: collector.Action(step.Action)}
	switch {
	case o == nil:
		return d, reason.ObjectGone, nil
	case o.Terminating() && !step.Patch.Repairs[0].UserSelected:
		return d, reason.AlreadyTerminating, nil
	}
	touched, left := step.Patch.Change.Touched(), slices.Clone(o.Owners)
	for k, planned := range step.Patch.Repairs {
		ref := step.Patch.StateBefore.Owners[touched[k]]
		i := slices.IndexFunc(left, ref.SameOwner)
		if i < 0 {
			continue // somebody else has repaired or removed it
		}
		left[i] = object.Reference{} // a duplicate reference is another one
		now, same := m.repairOf(step.Patch.Node, ref, func(now repair.Repair) bool { return stillFits(step.Action, planned, now) })
		switch {
		case !same && now.Fix == repair.None:
			return d, reason.Of(reason.OwnerNotRepairable{Owner: ref, Found: now.Found}), nil
		case !same:
			return d, reason.RepairedOtherwise(ref, string(now.Fix)), nil
		case step.Action == plan.ActionUnlink:
			d.Change.Drop = append(d.Change.Drop, i)
			continue
		}
		owner := m.graph.Find(now.Becomes.UID)
		switch o := m.model.Object(owner); {
		case o == nil:
			return d, reason.NewOwnerGone(now.Becomes), nil
		case o.Terminating():
			return d, reason.NewOwnerTerminating(now.Becomes), nil
		}
		d.Change.Rewrite = append(d.Change.Rewrite, object.Rewrite{Index: i, Reference: now.Becomes})
		rereads = append(rereads, owner)
	}
	if d.Change.Empty() {
		return d, reason.AlreadyDone, nil
	}
	slices.Sort(d.Change.Drop)
	slices.SortFunc(d.Change.Rewrite, func(a, b object.Rewrite) int { return cmp.Compare(a.Index, b.Index) })
	return d, nil, rereads
}

// repairOf returns the latest known repair of a reference, and reports whether it fits.
// Of duplicate references it prefers one whose repair fits.
func (m *liveModel) repairOf(n graph.Node, r object.Reference, fits func(repair.Repair) bool) (now repair.Repair, ok bool) {
	known, read := m.repairs[n]
	if !read {
		known = observation{object: m.graph.Object(n), repairs: m.repairer.Object(n)}
		m.repairs[n] = known
	}
	now = unknownRepair
	for i, owner := range known.object.Owners {
		if owner.SameOwner(r) {
			if now = known.repairs[i]; fits(now) {
				return now, true
			}
		}
	}
	return now, false
}

// stillFits reports whether a planned repair is right where the repair now is. An owner
// that was replaced once more is still missing.
func stillFits(action plan.Action, planned, now repair.Repair) bool {
	switch {
	case planned.UserSelected:
		return true
	case action == plan.ActionUnlink:
		return now.Fix == repair.Unlink || now.Fix == repair.Relink && planned.Fix == repair.Relink
	}
	return planned.Same(now)
}
