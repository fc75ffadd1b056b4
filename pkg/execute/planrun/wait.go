package planrun

import (
	"context"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute/internal/runner"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
)

// notify wakes the steps that wait for an object, as it has changed.
func (r *run) notify(n graph.Node) {
	r.waitersMu.Lock()
	defer r.waitersMu.Unlock()
	if changed, waits := r.waiters[n]; waits {
		close(changed)
		delete(r.waiters, n)
	}
}

// waitUntil waits for an object to meet a condition, and reports whether it did before
// the context ended. Nil means gone.
func (r *run) waitUntil(ctx context.Context, n graph.Node, condition func(*object.Object) bool) bool {
	return r.runner.WithoutSlot(func() error {
		for {
			r.waitersMu.Lock()
			if condition(r.live.object(n)) { // observe updates the model before it notifies, so no change is missed
				r.waitersMu.Unlock()
				return nil
			}
			if r.waiters[n] == nil {
				r.waiters[n] = make(chan struct{})
			}
			changed := r.waiters[n]
			r.waitersMu.Unlock()
			select {
			case <-changed:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}) == nil
}

// follow watches everything that the plan touches, until the returned function is called.
func (r *run) follow(ctx context.Context) (stop func()) {
	var objects []object.Identity
	known := graph.NewSet(r.graph)
	add := func(o object.Identity) {
		if known.Add(r.graph.Find(o.UID)) {
			objects = append(objects, o)
		}
	}
	for _, o := range r.plan.Outcomes {
		add(o.Object)
	}
	for i := range r.plan.Steps {
		add(r.plan.Steps[i].Object.Identity)
	}
	watching, cancel := context.WithCancel(ctx)
	var watcher sync.WaitGroup
	watcher.Go(func() { r.options.Watcher.Watch(watching, objects, r.observe) })
	return func() {
		cancel()
		watcher.Wait()
	}
}

func (r *run) observe(uid types.UID, now *object.Object) {
	n := r.graph.Find(uid)
	if r.graph.Object(n) == nil || !r.live.observeWatched(n, now) {
		return
	}
	r.notify(n)
	if now == nil {
		for _, inside := range r.setContentsGone(n) {
			r.notify(inside)
		}
	}
}

// setContentsGone records that the contents of an object that is gone are gone too: a
// Namespace or CustomResourceDefinition goes last. It returns the contents.
func (r *run) setContentsGone(n graph.Node) []graph.Node {
	for _, inside := range r.contents.inside[n] {
		r.live.setGone(inside)
	}
	return r.contents.inside[n]
}

// waitForCollector waits until the cluster's own garbage collector has carried out the step.
func (t *task) waitForCollector(ctx context.Context) *event.Result {
	if !t.causeHappened() {
		return runner.Skipped(reason.CausingStepNotDone)
	}
	t.run.runner.EmitWaiting(t.step, reason.WaitsForCollector)
	if !t.run.waitUntil(ctx, t.node, hasDone(t.step)) {
		t.run.runner.SetInterrupted()
		return runner.Skipped(reason.NotCollectedInTime)
	}
	return t.waitForGone(ctx)
}

// causeHappened reports whether the step without which this one would not happen was
// done, or its object is gone anyway.
func (t *task) causeHappened() bool {
	cause, known := t.run.runner.Index(t.step.Follows)
	return !known || cause >= t.index || t.run.runner.IsDone(cause) || t.run.live.object(t.run.plan.Steps[cause].Transition().Node) == nil
}

// waitForGone waits until everything is gone that the plan expects to be gone because of the step: its
// object, if this is the last step on it, and what has no step of its own.
func (t *task) waitForGone(ctx context.Context) *event.Result {
	for _, n := range t.expectedGone() {
		if !t.run.waitUntil(ctx, n, func(o *object.Object) bool { return o == nil }) {
			t.run.runner.SetInterrupted()
			return runner.Done(reason.Of(reason.DeletionIncomplete{}))
		}
	}
	return runner.Done(nil)
}

// expectedGone returns what the plan expects to be gone because of the step.
func (t *task) expectedGone() []graph.Node {
	out := slices.Clone(t.run.contents.following[t.index])
	if t.run.lastStep[t.node] == t.index {
		out = append(out, t.node)
	}
	return slices.DeleteFunc(out, func(n graph.Node) bool { return !t.run.expectedGone.Has(n) })
}

// hasDone returns a function that reports whether an object is as the step leaves it.
func hasDone(step *plan.Step) func(*object.Object) bool {
	before, change := step.Transition().StateBefore, step.Transition().Change
	return func(o *object.Object) bool {
		switch {
		case o == nil || step.Action == plan.ActionUnblock && o.Terminating():
			return true
		case step.Action == plan.ActionDelete:
			return o.Terminating()
		case step.Action == plan.ActionRemoveFinalizer:
			return !slices.Contains(o.Finalizers, change.RemoveFinalizer)
		}
		return !slices.ContainsFunc(o.Owners, func(r object.Reference) bool {
			same := func(i int) bool { return r.SameOwner(before.Owners[i]) }
			return slices.ContainsFunc(change.Drop, same) || r.Blocks() && slices.ContainsFunc(change.Unblock, same)
		})
	}
}

// waitForDeletion waits for deletions that the plan expects to complete and that need nothing but time: a
// Pod's grace period, or the deletion of contents. Later steps depend on the end of the object of
// this step. If that object is held, the contents deleted with it are awaited instead.
func (t *task) waitForDeletion(ctx context.Context) *event.Result {
	blocked, ok := t.run.live.blockedForNow(t.node)
	awaited := []graph.Node{t.node}
	if !t.run.expectedGone.Has(t.node) {
		blocked, awaited = simulate.ContentsStillDeleting, t.expectedGone()
		ok = len(awaited) > 0
	}
	if !ok || t.run.options.RequestedOnly || t.run.contents.needsLaterStep(t.node, t.index) {
		return runner.Done(nil)
	}
	why := reason.ContentsRemain(reason.Since{})
	if blocked == simulate.PodStillStopping {
		why = reason.WaitsForKubelet
	}
	if t.run.options.NoWait {
		return runner.Done(reason.Of(reason.DeletionIncomplete{WaitsFor: why}))
	}
	t.run.runner.EmitWaiting(t.step, why)
	err := t.run.runner.WithoutSlot(func() (err error) {
		for _, n := range awaited {
			if err = t.run.server.WaitForGone(ctx, t.run.graph.Object(n).Identity); err != nil {
				return err
			}
			t.run.live.setGone(n)
		}
		return nil
	})
	switch {
	case ctx.Err() != nil:
		t.run.runner.SetInterrupted()
		return runner.Done(reason.Of(reason.DeletionIncomplete{WaitsFor: why}))
	case err != nil:
		failure := runner.FailureOf(err)
		return runner.Done(reason.Of(reason.DeletionIncomplete{WaitsFor: why, Failure: &failure}))
	}
	if t.run.live.object(t.node) == nil {
		t.run.setContentsGone(t.node)
	}
	return runner.Done(nil)
}
