package planrun

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// skipReason returns why a step is skipped, given what the collector decides instead.
func skipReason(m *simulate.Model, step *plan.Step, n graph.Node, d collector.Decision) *reason.Reason {
	switch d.Action {
	case collector.ActionNone:
		return noActionReason(m, step, n, d)
	case collector.ActionOrphanDependents:
		return reason.DependentExists(dependentOf(m, n))
	case collector.ActionUnlink:
		if owner, ok := solidOwner(m, n, nil); ok && step.Action == plan.ActionDelete {
			return reason.OwnerStillExists(owner)
		}
	case collector.ActionDelete:
		if step.Action == plan.ActionUnlink {
			return reason.NoOwnerLeft
		}
	case collector.ActionRemoveFinalizer:
		if step.Action != plan.ActionRemoveFinalizer {
			return reason.AlreadyTerminating
		}
		return reason.OtherFinalizerFirst(d.Change.RemoveFinalizer)
	case collector.ActionUnblock:
	}
	return reason.DecidedOtherwise(string(d.Action))
}

// changeSincePlanned returns why a requested step is skipped: how its object differs from
// what the plan showed. It returns nil if nothing that matters has changed.
func changeSincePlanned(step *plan.Step, now *object.Object) *reason.Reason {
	shown := step.Transition().StateBefore
	switch {
	case now == nil:
		return reason.AlreadyGone
	case now.Terminating() != shown.Terminating():
		return reason.AlreadyTerminating
	case step.Action == plan.ActionRemoveFinalizer && !slices.Contains(now.Finalizers, step.Finalizer()):
		return reason.AlreadyDone
	case !sameReferences(now.Owners, shown.Owners):
		return reason.OwnersChanged
	case !slices.Equal(now.Finalizers, shown.Finalizers):
		return reason.FinalizersChanged
	}
	return nil
}

// noActionReason returns why the collector does not act on an object.
func noActionReason(m *simulate.Model, step *plan.Step, n graph.Node, d collector.Decision) *reason.Reason {
	switch d.NoAction {
	case collector.ObjectGone:
		if step.Action == plan.ActionDelete {
			return reason.AlreadyGone
		}
		return reason.ObjectGone
	case collector.AlreadyTerminating:
		if step.Action != plan.ActionRemoveFinalizer {
			return reason.AlreadyTerminating
		}
	case collector.BlockedByDependents:
		if step.Action != plan.ActionRemoveFinalizer {
			return reason.AlreadyTerminating
		}
		return reason.DependentBlocks(blockingDependent(m, n))
	case collector.DependentsUnknown:
		return reason.DependentsUnknown
	case collector.PatchRejected:
		return reason.PatchRejected
	case collector.WriteRefused:
		return reason.Of(m.RefusedBy(n))
	case collector.ContentsUnknown:
		return snapshot.ContentsUnknown(m.ContentsGaps(n))
	case collector.UIDContested:
		return reason.Of(snapshot.UIDContested(m.Object(n)))
	case collector.ReferenceUnknown:
		return reason.OwnerNotResolved(m.Object(n).Owners[d.UndecidableReference])
	case collector.NoOwners:
		if step.Action == plan.ActionDelete {
			return reason.NoOwnerReferences
		}
	case collector.AllOwnersSolid:
		among := step.OwnerUIDs()
		if step.Action == plan.ActionDelete {
			among = nil
		}
		if owner, ok := solidOwner(m, n, among); ok {
			return reason.OwnerStillExists(owner)
		}
	case collector.ActionTaken:
	}
	return reason.AlreadyDone
}

// solidOwner returns the first reference to an owner that exists. It considers the owners
// with those UIDs, or all if among is nil.
func solidOwner(m *simulate.Model, n graph.Node, among []types.UID) (owner object.Reference, ok bool) {
	o := m.Object(n)
	for i, v := range m.Verdicts(n) {
		if v == collector.VerdictSolid && (among == nil || slices.Contains(among, o.Owners[i].UID)) {
			return o.Owners[i], true
		}
	}
	return object.Reference{}, false
}

// blockingDependent returns a dependent that blocks the deletion of an object. It returns
// nil if the model learned of that dependent after the graph was built.
func blockingDependent(m *simulate.Model, n graph.Node) *object.Identity {
	if by := m.Blocking(n); len(by) > 0 {
		return &m.Object(by[0]).Identity
	}
	return nil
}

// dependentOf returns a dependent of an object, or nil as blockingDependent does.
func dependentOf(m *simulate.Model, n graph.Node) *object.Identity {
	uid := m.Graph().UID(n)
	for _, e := range m.Graph().Dependents(n) {
		if o := m.Object(e.Node); o != nil && slices.ContainsFunc(o.Owners, func(r object.Reference) bool { return r.UID == uid }) {
			return &o.Identity
		}
	}
	return nil
}
