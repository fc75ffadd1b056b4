package execute

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// why returns why a step is not done: what the collector makes of its object instead.
func why(m *simulate.Model, step *plan.Step, n graph.Node, d collector.Decision) reason.Reason {
	switch d.Action {
	case collector.ActionNone:
		return held(m, step, n, d)
	case collector.ActionOrphanDependents:
		return reason.DependentExists{Dependent: dependent(m, n)}
	case collector.ActionUnlink:
		if owner, ok := solid(m, n, nil); ok && step.Action == collector.ActionDelete {
			return reason.OwnerStillExists{Owner: owner}
		}
	case collector.ActionDelete:
		if step.Action == collector.ActionUnlink {
			return reason.NoOwnerLeft{}
		}
	case collector.ActionRemoveFinalizer:
		if step.Action != collector.ActionRemoveFinalizer {
			return reason.AlreadyTerminating{}
		}
		return reason.OtherFinalizerFirst{Finalizer: d.Change.Release}
	case collector.ActionUnblock:
	}
	return reason.DecidedOtherwise{Action: string(d.Action)}
}

// another returns why what was asked for on an object, as it was shown, is not done
// on what it is now; nil where nothing that matters is different.
func another(shown, now *object.Object) reason.Reason {
	switch {
	case now == nil:
		return reason.AlreadyGone{}
	case now.Terminating() != shown.Terminating():
		return reason.AlreadyTerminating{}
	case !sameReferences(now.Owners, shown.Owners):
		return reason.OwnersChanged{}
	case !slices.Equal(now.Finalizers, shown.Finalizers):
		return reason.FinalizersChanged{}
	}
	return nil
}

// held returns why the collector leaves an object as it is.
func held(m *simulate.Model, step *plan.Step, n graph.Node, d collector.Decision) reason.Reason {
	switch d.NoAction {
	case collector.ObjectGone:
		if step.Action == collector.ActionDelete {
			return reason.AlreadyGone{}
		}
		return reason.ObjectGone{}
	case collector.AlreadyTerminating:
		if step.Action != collector.ActionRemoveFinalizer {
			return reason.AlreadyTerminating{}
		}
	case collector.BlockedByDependents:
		if step.Action != collector.ActionRemoveFinalizer {
			return reason.AlreadyTerminating{}
		}
		return reason.DependentBlocks{Dependent: blocking(m, n)}
	case collector.DependentsUnknown:
		return reason.DependentsUnknown{}
	case collector.ContentsUnknown:
		return snapshot.ContentsUnknown(m.ContentsGaps(n))
	case collector.UIDContested:
		return snapshot.Contention(m.Object(n))
	case collector.ReferenceUnknown:
		return reason.OwnerNotResolved{Owner: m.Object(n).Owners[d.UndecidableReference]}
	case collector.NoOwners:
		if step.Action == collector.ActionDelete {
			return reason.NoOwnerReferences{}
		}
	case collector.AllOwnersSolid:
		of := step.OwnerUIDs
		if step.Action == collector.ActionDelete {
			of = nil
		}
		if owner, ok := solid(m, n, of); ok {
			return reason.OwnerStillExists{Owner: owner}
		}
	case collector.ActionTaken:
	}
	return reason.AlreadyDone{}
}

// solid returns a reference to an owner that exists: the first of those, nil being all.
func solid(m *simulate.Model, n graph.Node, of []string) (owner object.Reference, ok bool) {
	o := m.Object(n)
	for i, v := range m.Verdicts(n) {
		if v == collector.Solid && (of == nil || slices.Contains(of, string(o.Owners[i].UID))) {
			return o.Owners[i], true
		}
	}
	return object.Reference{}, false
}

// blocking returns what holds up a deletion, or nil: what was learned later than the
// graph was built is counted but has no name in it.
func blocking(m *simulate.Model, n graph.Node) *object.Identity {
	if by := m.Blocking(n); len(by) > 0 {
		return &m.Object(by[0]).Identity
	}
	return nil
}

// dependent returns what depends on an object, or nil, for the same cause.
func dependent(m *simulate.Model, n graph.Node) *object.Identity {
	uid := m.Graph().UID(n)
	carries := func(r object.Reference) bool { return r.UID == uid }
	for _, e := range m.Graph().Dependents(n) {
		if o := m.Object(e.Node); o != nil && slices.ContainsFunc(o.Owners, carries) {
			return &o.Identity
		}
	}
	return nil
}
