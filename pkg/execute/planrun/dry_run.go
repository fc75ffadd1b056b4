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
	out := r.runner.Write(ctx, r.server, o.Identity, o, nil, func(now *object.Object) (*event.Result, error) {
		if !unchanged(now, o) {
			return runner.Skipped(reason.ChangedSincePlanned), nil
		}
		renewed := *o
		renewed.ResourceVersion = now.ResourceVersion
		_, err := r.send(ctx, &renewed, d)
		return nil, err
	})
	if out == nil {
		out = runner.Done(nil)
	}
	return out
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
