package planrun

import (
	"context"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute/internal/runner"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// task is one step in progress.
type task struct {
	run   *run
	step  *plan.Step
	index int
	node  graph.Node

	attempts        int
	changed         bool                // the object was read again because it is not as the plan knew it
	verified        bool                // the object was read with its owners, after the latest write if there was one
	reread          map[graph.Node]bool // objects that were read since the latest write
	relists         int                 // how often everything was listed again for this step
	contentsChecked bool                // since the latest write
	mayWrite        bool                // the turn of the next write has come
}

// maxRelists is how often everything is listed again at most before a finalizer is removed: once, and once more if
// the object has changed meanwhile, as the server can take half a minute to answer that. An object that changes faster
// than everything can be listed would never lose its finalizer otherwise.
const maxRelists = 2

// attemptsWithoutWaiting is how often RunOptions.NoWait tries a step: a later plan tries it again, and until this one has
// ended, everything else waits.
const attemptsWithoutWaiting = 2

// attempts returns how often a step on an object that keeps changing is tried.
func (r *run) attempts() int {
	if r.options.NoWait {
		return attemptsWithoutWaiting
	}
	return runner.MaxAttempts
}

// perform does the step if it is still what the collector would do.
func (t *task) perform(ctx context.Context) *event.Result {
	for {
		e, out := t.evaluate(ctx)
		if out == nil {
			out = t.advance(ctx, e)
		}
		if out != nil {
			return out
		}
	}
}

// evaluate reads again what the step depends on. It returns an evaluation of a step that
// is to be done, or the result of one that is not.
func (t *task) evaluate(ctx context.Context) (evaluation, *event.Result) {
	for e := t.evaluateNow(); ; {
		unread := slices.DeleteFunc(slices.Clone(e.rereads), func(n graph.Node) bool { return t.reread[n] })
		var out *event.Result
		switch {
		case ctx.Err() != nil:
			return e, t.run.runner.Interrupted(ctx)
		case len(unread) > 0:
			e, out = t.rereadDependencies(ctx, e, unread)
		case e.ownerUnknown && !t.verified:
			out = t.rereadObject(ctx)
			e = t.evaluateNow()
		case e.skip != nil && t.changed && e.object != nil:
			return e, runner.Skipped(reason.ObjectChanged(e.skip))
		case e.skip != nil:
			return e, runner.Skipped(e.skip)
		default:
			return e, t.unfinishedDependents(e)
		}
		if out != nil {
			return e, out
		}
	}
}

func (t *task) evaluateNow() evaluation {
	return t.run.live.evaluate(t.step, nil, t.run.contents.deleting.Load())
}

// advance does the next thing that has to precede the write, or writes. It returns nil
// if the step has to be evaluated again.
func (t *task) advance(ctx context.Context, e evaluation) *event.Result {
	switch {
	case t.attempts == t.run.attempts():
		return runner.Failed(reason.KeepsChanging(t.attempts))
	case t.run.backup != nil && t.step.BacksUp() && (!e.backedUp || t.run.backupErrors[t.node] != nil):
		return t.backUp(ctx, e.object)
	case e.decision.Action == collector.ActionRemoveFinalizer && !t.step.Requested && t.relists <= min(t.attempts, maxRelists-1):
		return t.checkDependents(ctx)
	case e.decision.Action == collector.ActionDelete && !e.object.Terminating() && simulate.DeletesContents(e.object.Identity) && !t.contentsChecked:
		return t.checkContents(ctx, e.object)
	case t.run.runner.Paced() && !t.mayWrite:
		return t.waitForTurn(ctx)
	}
	return t.write(ctx, e)
}

// waitForTurn waits until the next write may be sent. What the step depends on is read again
// afterwards, except for lists: other steps cannot keep this one waiting for long.
func (t *task) waitForTurn(ctx context.Context) *event.Result {
	t.mayWrite, t.verified, t.reread = true, false, nil
	return t.run.runner.WaitForTurn(ctx)
}

// unfinishedDependents returns the result of a step that must not remove the foreground
// finalizer of an owner, or nil. It has to stay if another finalizer keeps the owner and an
// earlier step on a dependent was not done but is still due: without the foreground
// finalizer the owner would be solid, and the dependent would stay for good
// (docs/differences.md).
func (t *task) unfinishedDependents(e evaluation) *event.Result {
	if e.decision.Change.RemoveFinalizer != object.ForegroundFinalizer || simulate.StateAfterPatch(e.object, e.decision.Change) == nil {
		return nil
	}
	for _, id := range t.step.After {
		i, known := t.run.runner.Index(id)
		if !known || t.run.runner.IsDone(i) {
			continue
		}
		earlier := &t.run.plan.Steps[i]
		if n := earlier.Transition().Node; slices.Contains(t.run.graph.Owners(n), t.node) && t.run.live.isDue(n) {
			return runner.Skipped(reason.PrecedingStepNotDone(string(earlier.Action), earlier.Object.Identity))
		}
	}
	return nil
}

// write sends the evaluated decision, with the evaluated state as precondition. It returns
// nil if the step has to be evaluated again.
func (t *task) write(ctx context.Context, e evaluation) *event.Result {
	left, err := t.run.send(ctx, e.object, e.decision)
	t.attempts++
	t.reread, t.contentsChecked, t.mayWrite = nil, false, false
	switch {
	case err == nil:
		return t.complete(ctx, e, left)
	case runner.ClassOf(err) == snapshot.Conflict:
		return t.rereadObject(ctx)
	case runner.ClassOf(err) == snapshot.Gone:
		t.run.live.setGone(t.node)
		return nil
	}
	return runner.Failed(reason.WriteFailed(runner.FailureOf(err)))
}

func (r *run) send(ctx context.Context, o *object.Object, d collector.Decision) (*object.Object, error) {
	if d.Action == collector.ActionDelete {
		return r.server.Delete(ctx, o, d.Policy, d.GraceSeconds)
	}
	return r.server.Patch(ctx, o, d.Change)
}

// complete updates the live model with what a write left, and waits for the deletion that
// the write may have caused.
func (t *task) complete(ctx context.Context, e evaluation, left *object.Object) *event.Result {
	deletes := e.decision.Action == collector.ActionDelete
	expected := e.object.Owners
	if !deletes {
		expected = e.decision.Change.Apply(*e.object).Owners
	}
	if left != nil && !sameReferences(left.Owners, expected) { // changed by an admission webhook
		now, err := t.run.verify(ctx, t.node, e.object.Identity)
		if err != nil {
			now = unverified(left)
		}
		t.run.live.observe(t.node, now)
	} else {
		t.run.live.setWritten(t.node, e.object, left)
	}
	if deletes && len(t.run.contents.inside[t.node]) > 0 {
		t.run.contents.deleting.Store(true)
	}
	if !deletes && e.decision.Action != collector.ActionRemoveFinalizer {
		return runner.Done(nil)
	}
	return t.waitForDeletion(ctx)
}
