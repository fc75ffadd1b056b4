package execute

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// dryRun sends a step on the state that the plan was made from: the effects of
// the steps before it are not there. So a patch is cut down to the part that can
// be made by now, perhaps to nothing, which still shows whether it is allowed.
func (r *run) dryRun(ctx context.Context, step *plan.Step) *end {
	o := r.graph.Object(step.Move.Node)
	d := collector.Decision{
		Action: step.Action, Policy: metav1.DeletionPropagation(step.PropagationPolicy), Change: sofar(o, step.Move),
	}
	if mends(step) { // each step on an object leaves the places of the references as they are, save the last
		d.Change = step.Move.Change
	}
	for range attempts {
		if ctx.Err() != nil {
			return r.interrupted(ctx)
		}
		_, err := r.send(ctx, o, d)
		switch class := classOf(err); {
		case err == nil:
			return done(nil)
		case class == snapshot.Gone:
			return skipped(reason.ObjectGone{})
		case class != snapshot.Conflict:
			return failed(reason.WriteFailed{Failure: failureOf(err)})
		case r.options.RequireUnchanged:
			return failed(reason.ChangedSincePlanned{})
		}
		now, err := r.server.Read(ctx, o.Identity)
		switch {
		case err != nil && ctx.Err() != nil:
			return r.interrupted(ctx)
		case err != nil:
			return failed(reason.RereadFailed{Failure: failureOf(err), Changed: true})
		case now == nil:
			return skipped(reason.ObjectGone{})
		case !unchanged(now, o):
			return skipped(reason.ChangedSincePlanned{})
		}
		renewed := *o
		renewed.ResourceVersion = now.ResourceVersion
		o = &renewed
	}
	return failed(reason.KeepsChanging{Attempts: attempts})
}

// sofar is the part of a move's change that can be made on an object as it was
// before all moves. References only go, so those that the move found stand in
// the same order in what was there before.
func sofar(o *object.Object, move *simulate.Transition) object.Change {
	var out object.Change
	at := 0
	for i, r := range move.StateBefore.Owners {
		for at < len(o.Owners) && !o.Owners[at].SameOwner(r) {
			at++
		}
		if at == len(o.Owners) {
			break
		}
		if move.Change.Drops(i) {
			out.Drop = append(out.Drop, at)
		}
		if move.Change.Unblocks(i) {
			out.Unblock = append(out.Unblock, at)
		}
		at++
	}
	if slices.Contains(o.Finalizers, move.Change.Release) {
		out.Release = move.Change.Release
	}
	return out
}
