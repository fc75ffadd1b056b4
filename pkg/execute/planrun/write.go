package planrun

import (
	"context"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute/internal/runner"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// write sends the evaluated decision, with the evaluated state as precondition. It returns
// nil if the step has to be evaluated again.
func (t *task) write(ctx context.Context, e evaluation) *runner.Outcome {
	left, err := t.run.send(ctx, e.object, e.decision)
	t.attempts++
	t.reread, t.contentsChecked = nil, false
	switch {
	case err == nil:
		return t.complete(ctx, e, left)
	case runner.ClassOf(err) == snapshot.Conflict && t.run.mustBeUnchanged(t.node):
		return runner.Failed(reason.ChangedSincePlanned)
	case runner.ClassOf(err) == snapshot.Conflict:
		return t.rereadObject(ctx)
	case runner.ClassOf(err) == snapshot.Gone:
		t.run.live.setGone(t.node)
		return nil
	}
	return runner.Failed(reason.WriteFailed{Failure: runner.FailureOf(err)})
}

// mustBeUnchanged reports whether an object may only be written in the state that the plan
// was made from. Changes that this run caused are allowed.
func (r *run) mustBeUnchanged(n graph.Node) bool {
	return r.options.RequireUnchanged && !r.live.hasWritten(n) && !r.contents.deletes(n)
}

func (r *run) send(ctx context.Context, o *object.Object, d collector.Decision) (*object.Object, error) {
	if d.Action == collector.ActionDelete {
		return r.server.Delete(ctx, o, d.Policy)
	}
	return r.server.Patch(ctx, o, d.Change)
}

// complete updates the live model with what a write left, and waits for the deletion that
// the write may have caused.
func (t *task) complete(ctx context.Context, e evaluation, left *object.Object) *runner.Outcome {
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
	if deletes {
		t.run.contents.setDone(t.node, t.index)
	} else if e.decision.Action != collector.ActionRemoveFinalizer {
		return runner.Done(nil)
	}
	return t.waitForDeletion(ctx, e.object.Identity)
}
