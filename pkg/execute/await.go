package execute

import (
	"context"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// until answers when an object is as it is to be, and false if the context ends
// before.
func (r *run) until(ctx context.Context, n graph.Node, satisfied func(*object.Object) bool) bool {
	w := &waiter{satisfied, make(chan struct{})}
	r.waiters.mu.Lock()
	if satisfied(r.live.object(n)) { // witnessed before the onlookers are told, so nothing is missed
		r.waiters.mu.Unlock()
		return true
	}
	r.waiters.waiting[n] = append(r.waiters.waiting[n], w)
	r.waiters.mu.Unlock()
	over := false
	r.unslotted(func() {
		select {
		case <-w.over:
			over = true
		case <-ctx.Done():
		}
	})
	return over
}

// waitForController sees a step done by the cluster's own collector.
func (t *task) waitForController(ctx context.Context) *end {
	if !t.begun() {
		return skipped(reason.CausingStepNotDone{})
	}
	t.tell.of(t.step, event.Waiting, "", reason.WaitsForCollector{})
	if !t.until(ctx, t.node, did(t.step)) {
		t.cut.Store(true)
		return skipped(reason.NotCollectedInTime{})
	}
	return t.waitForGone(ctx)
}

// begun says whether what this step follows has come about, by this run or without
// it: else it is not to be.
func (t *task) begun() bool {
	before, known := t.ids[t.step.Follows]
	return !known || before >= t.index || t.report.Results[before].Status == event.Done ||
		t.live.object(t.plan.Steps[before].Move.Node) == nil
}

// waitForGone waits until an object is gone that is foretold to go, once the last
// step on it was taken.
func (t *task) waitForGone(ctx context.Context) *end {
	if !t.goes.Has(t.node) || t.last[t.node] != t.index {
		return done(nil)
	}
	if !t.until(ctx, t.node, func(o *object.Object) bool { return o == nil }) {
		t.cut.Store(true)
		return done(reason.DeletionIncomplete{})
	}
	return done(nil)
}

// did says by an object whether a step on it was taken.
func did(step *plan.Step) func(*object.Object) bool {
	before := step.Move.StateBefore
	meant := func(o *object.Object, indices []int, still func(object.Reference) bool) bool {
		for _, i := range indices {
			if slices.ContainsFunc(o.Owners, func(r object.Reference) bool { return r.SameOwner(before.Owners[i]) && still(r) }) {
				return true
			}
		}
		return false
	}
	return func(o *object.Object) bool {
		if o == nil {
			return true
		}
		switch step.Action {
		case collector.ActionDelete:
			return o.Terminating()
		case collector.ActionUnlink:
			return !meant(o, step.Move.Change.Drop, func(object.Reference) bool { return true })
		case collector.ActionUnblock:
			return o.Terminating() || !meant(o, step.Move.Change.Unblock, object.Reference.Blocks)
		case collector.ActionRemoveFinalizer:
			return !slices.Contains(o.Finalizers, step.Move.Change.Release)
		case collector.ActionNone, collector.ActionOrphanDependents:
		}
		return true
	}
}
