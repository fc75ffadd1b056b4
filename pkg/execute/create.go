package execute

import (
	"context"
	"encoding/json"

	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/restore"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// create makes an object, with references to owners that are there.
//
// A controller that adopts makes at once what it does not see. It sees with the
// eyes of a watch of its own, which may be behind: so what it is to adopt is not
// only made before, but given time to be seen.
func (r *restoration) create(ctx context.Context, i int) *end {
	step, work := &r.plan.Steps[i], r.of.Work(i)
	add, missing := r.lead(work.Add)
	if missing != nil {
		return skipped(reason.OwnerNotCreated{Owner: *missing})
	}
	if work.Settle {
		r.tell.of(step, event.Waiting, "", reason.WaitsForWatchers{})
		var err error
		r.unslotted(func() { err = r.server.VerifyCreated(ctx) })
		if err != nil {
			return r.interrupted(ctx)
		}
	}
	if e := r.standing(ctx, step); e != nil {
		return e
	}
	if e := r.unready(); e != nil { // it may have waited above
		return e
	}
	body, err := r.of.Body(i, references(add))
	if err != nil {
		return failed(reason.BackupUnreadable{Failure: failureOf(err)})
	}
	o, different, err := r.send(ctx, step.Object.Identity, body)
	switch {
	case classOf(err) == snapshot.Exists:
		return skipped(reason.AlreadyExists{})
	case err != nil:
		return failed(reason.WriteFailed{Failure: failureOf(err)})
	}
	return r.keep(ctx, step, work, o, different)
}

// send has the server make an object, with less where it refuses it as it is.
func (r *restoration) send(ctx context.Context, at object.Identity, body json.RawMessage) (o *object.Object, different bool, err error) {
	o, err = r.server.Create(ctx, at, body)
	if classOf(err) != snapshot.Invalid {
		return o, false, err
	}
	plainer, ok := restore.WithoutAllocatedFields(at, body)
	if !ok {
		return nil, false, err
	}
	o, err = r.server.Create(ctx, at, plainer)
	return o, true, err
}

// keep notes what was made, and waits where others cannot be made before it works.
func (r *restoration) keep(ctx context.Context, step *plan.Step, work *restore.Work, o *object.Object, different bool) *end {
	r.mu.Lock()
	r.made[step.Object.UID] = o.UID
	r.mu.Unlock()
	var remark reason.Reason
	if different {
		remark = reason.AddressReplaced{}
	}
	if err := r.recorder.Made(step.Object.Identity, o.UID); err != nil {
		remark = reason.CreatedUnrecorded{Failure: failureOf(err)}
	}
	if len(work.Defines) == 0 {
		return done(remark)
	}
	r.tell.of(step, event.Waiting, "", reason.WaitsForTypes{})
	var err error
	r.unslotted(func() { err = r.server.ServedType(ctx, work.Defines) })
	if err != nil {
		if ctx.Err() != nil {
			r.cut.Store(true)
		}
		return done(reason.DefinitionNotServed{})
	}
	return done(remark)
}
