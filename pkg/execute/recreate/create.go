package recreate

import (
	"context"
	"encoding/json"

	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute/internal/runner"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/restore"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// create creates an object with references to owners that exist.
//
// A controller whose dependents are missing from its cache creates others at once. So
// dependents that a controller is to adopt are created before it, and given time to
// reach its cache.
func (r *restoreRun) create(ctx context.Context, i int) *event.Result {
	step := &r.restoration.Plan.Steps[i]
	add, missing := r.withCurrentUIDs(step.Creation.Add)
	if missing != nil {
		return runner.Skipped(reason.OwnerNotCreated(*missing))
	}
	if step.Creation.WaitForCaches {
		r.runner.EmitWaiting(step, reason.WaitsForWatchers)
		if r.runner.WithoutSlot(func() error { return r.creator.WaitForWatches(ctx) }) != nil {
			return r.runner.Interrupted(ctx)
		}
	}
	if out := r.runner.WaitForTurn(ctx); out != nil {
		return out
	}
	if out := r.checkWrite(ctx, step); out != nil {
		return out
	}
	o, changed, out := r.send(ctx, step, add)
	if out != nil {
		return out
	}
	r.mu.Lock()
	r.created[step.Object.UID] = o.UID
	r.mu.Unlock()
	var remark *reason.Reason
	if changed {
		remark = reason.AddressReplaced
	}
	if err := r.recorder.RecordCreated(step.Object.Identity, o.UID); err != nil {
		r.runner.SetUnrecorded(err)
		remark = reason.CreatedUnrecorded(runner.FailureOf(err))
	}
	if len(step.Creation.Defines) == 0 {
		return runner.Done(remark)
	}
	r.runner.EmitWaiting(step, reason.WaitsForTypes) // later steps create objects of these types
	if r.runner.WithoutSlot(func() error { return r.creator.WaitForServed(ctx, step.Creation.Defines) }) == nil {
		return runner.Done(remark)
	}
	if ctx.Err() != nil {
		r.runner.SetInterrupted()
	}
	return runner.Done(reason.DefinitionNotServed)
}

// send sends the object of a step to the API server, without the fields that servers
// allocate if the server refuses it with them; changed reports whether. The result is
// nil if the object was created.
func (r *restoreRun) send(ctx context.Context, step *plan.Step, add []plan.Addition) (o *object.Object, changed bool, out *event.Result) {
	at := step.Object.Identity
	body, err := r.restoration.Body(step, references(add))
	if err != nil {
		return nil, false, runner.Failed(reason.BackupUnreadable(runner.FailureOf(err)))
	}
	o, err = r.creator.Create(ctx, at, body)
	if runner.ClassOf(err) == snapshot.Invalid {
		var without json.RawMessage
		if without, changed = restore.WithoutAllocatedFields(at, body); changed {
			if out := r.runner.WaitForTurn(ctx); out != nil {
				return nil, false, out
			}
			o, err = r.creator.Create(ctx, at, without)
		}
	}
	switch {
	case runner.ClassOf(err) == snapshot.Exists:
		return nil, changed, runner.Skipped(reason.AlreadyExists)
	case err != nil:
		return nil, changed, runner.Failed(reason.WriteFailed(runner.FailureOf(err)))
	}
	return o, changed, nil
}
