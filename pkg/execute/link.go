package execute

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/restore"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// link puts references back, unless who owns the object has done so by now. What
// others changed meanwhile stays as it is.
func (r *restoration) link(ctx context.Context, i int) *end {
	step, work := &r.plan.Steps[i], r.of.Work(i)
	at := step.Object.Identity
	now, made := r.uid(at.UID)
	if !made {
		return skipped(reason.NotCreated{})
	}
	at.UID = now
	add, missing := r.lead(work.Add)
	if len(add) == 0 && missing != nil {
		return skipped(reason.OwnerNotCreated{Owner: *missing})
	}
	o, err := r.sight(ctx, at, work, add)
	for range attempts {
		switch {
		case ctx.Err() != nil:
			return r.interrupted(ctx)
		case err != nil:
			return failed(reason.RereadFailed{Failure: failureOf(err)})
		case o == nil:
			return skipped(reason.ObjectGone{})
		case o.Terminating():
			return skipped(reason.AlreadyTerminating{})
		}
		change, rival := linking(o, add)
		switch {
		case rival != nil:
			return skipped(reason.ConflictingController{Owner: *rival})
		case change.Empty() && work.Adopted:
			return done(nil)
		case change.Empty():
			return skipped(reason.AlreadyDone{})
		}
		if e := r.standing(ctx, step); e != nil {
			return e
		}
		if e := r.unready(); e != nil { // it may have waited above
			return e
		}
		_, err = r.server.Patch(ctx, o, change)
		switch class := classOf(err); {
		case class == snapshot.Gone:
			return skipped(reason.ObjectGone{})
		case class == snapshot.Conflict:
			o, err = r.server.Read(ctx, at)
			continue
		case err != nil:
			return failed(reason.WriteFailed{Failure: failureOf(err)})
		case missing != nil:
			return done(reason.PartlyLinked{Owner: *missing})
		}
		return done(nil)
	}
	return failed(reason.KeepsChanging{Attempts: attempts})
}

// sight reads the object, once its controller has had the time to adopt it.
func (r *restoration) sight(ctx context.Context, at object.Identity, work *restore.Work, add []restore.Addition) (o *object.Object, err error) {
	if !work.Adopted {
		return r.server.Read(ctx, at)
	}
	var owner types.UID
	for _, a := range add {
		if a.Controls() {
			owner = a.UID
		}
	}
	r.unslotted(func() { o, err = r.server.Adopted(ctx, at, owner) })
	return o, err
}

// linking is the change that gives an object the references which it lacks. An
// object has one controller at most: rival is the one that it has already, or nil.
func linking(o *object.Object, add []restore.Addition) (c object.Change, rival *object.Reference) {
	for _, a := range add {
		for i, x := range o.Owners {
			if slices.ContainsFunc(a.Over, func(over object.Reference) bool { return alike(x, over) }) && !alike(x, a.Reference) {
				c.Drop = append(c.Drop, i)
			}
		}
		if !slices.ContainsFunc(o.Owners, met(a)) {
			c.Add = append(c.Add, a.Reference)
		}
	}
	slices.Sort(c.Drop)
	c.Drop = slices.Compact(c.Drop)
	for i, x := range o.Owners {
		if x.Controls() && !slices.Contains(c.Drop, i) && slices.ContainsFunc(c.Add, object.Reference.Controls) {
			return object.Change{}, &x
		}
	}
	return c, nil
}

// met says whether a reference that an object has is what the addition would
// bring. One that a controller has set itself may differ in its flags; one that is
// to come in another's stead may not.
func met(a restore.Addition) func(object.Reference) bool {
	return func(x object.Reference) bool {
		return x.UID == a.UID && x.Kind == a.Kind && x.Name == a.Name && (len(a.Over) == 0 || alike(x, a.Reference))
	}
}

func alike(a, b object.Reference) bool { return a.SameOwner(b) && a.Blocks() == b.Blocks() }
