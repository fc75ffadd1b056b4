package planrun

import (
	"context"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute/internal/runner"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// dryRun sends a step against the state that the plan was made from, without the effects
// of earlier steps. A patch is reduced to the part that applies to that state. It is sent
// even if nothing is left of it, to learn whether the API server allows it.
func (r *run) dryRun(ctx context.Context, step *plan.Step) *event.Result {
	o := r.graph.Object(step.Transition().Node)
	d := step.Transition().Decision
	if !step.IsRepair() { // of a repair, only the last step on an object changes the indices of its references
		d.Change = applicablePart(o, step.Transition())
	}
	for range runner.MaxAttempts {
		if ctx.Err() != nil {
			return r.runner.Interrupted(ctx)
		}
		if out := r.runner.WaitForTurn(ctx); out != nil {
			return out
		}
		_, err := r.send(ctx, o, d)
		switch class := runner.ClassOf(err); {
		case err == nil:
			return runner.Done(nil)
		case class == snapshot.Gone:
			return runner.Skipped(reason.ObjectGone)
		case class != snapshot.Conflict:
			return runner.Failed(reason.WriteFailed.Of(runner.FailureOf(err)))
		}
		now, err := r.server.Read(ctx, o.Identity)
		switch {
		case err != nil && ctx.Err() != nil:
			return r.runner.Interrupted(ctx)
		case err != nil:
			return runner.Failed(reason.RereadFailed{Failure: runner.FailureOf(err), Changed: true})
		case now == nil:
			return runner.Skipped(reason.ObjectGone)
		case !unchanged(now, o):
			return runner.Skipped(reason.ChangedSincePlanned)
		}
		renewed := *o
		renewed.ResourceVersion = now.ResourceVersion
		o = &renewed
	}
	return runner.Failed(reason.KeepsChanging.Of(runner.MaxAttempts))
}

// applicablePart returns the part of a transition's change that applies to o, the object
// before all transitions. Transitions only remove references, so those of the
// transition's state occur in o in the same order.
func applicablePart(o *object.Object, move *simulate.Transition) object.Change {
	var out object.Change
	for k, i := range positions(move.StateBefore.Owners, o.Owners) {
		if move.Change.Drops(k) {
			out.Drop = append(out.Drop, i)
		}
		if move.Change.Unblocks(k) {
			out.Unblock = append(out.Unblock, i)
		}
	}
	if slices.Contains(o.Finalizers, move.Change.RemoveFinalizer) {
		out.RemoveFinalizer = move.Change.RemoveFinalizer
	}
	return out
}
