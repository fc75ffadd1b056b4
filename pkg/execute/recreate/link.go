package recreate

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute/internal/runner"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// link adds the references that an object has lost, unless its controller has done so. It
// keeps what others have changed meanwhile.
func (r *restoreRun) link(ctx context.Context, i int) *event.Result {
	step := &r.restoration.Plan.Steps[i]
	at := step.Object.Identity
	uid, created := r.currentUID(at.UID)
	if !created {
		return runner.Skipped(reason.NotCreated)
	}
	at.UID = uid
	add, missing := r.withCurrentUIDs(step.Creation.Add)
	if len(add) == 0 && missing != nil {
		return runner.Skipped(reason.OwnerNotCreated(*missing))
	}
	o, err := r.readAdopted(ctx, at, step.Creation.OwnerAdopts, add)
	out := r.patch(ctx, at, o, err, func(o *object.Object) (object.Change, *event.Result) {
		change, conflicting := linkChange(o, add)
		switch {
		case o.Terminating():
			return change, runner.Skipped(reason.AlreadyTerminating)
		case conflicting != nil:
			return change, runner.Skipped(reason.ConflictingController(*conflicting))
		case change.Empty() && step.Creation.OwnerAdopts:
			return change, runner.Done(nil)
		case change.Empty():
			return change, runner.Skipped(reason.AlreadyDone)
		}
		return change, r.checkWrite(ctx, step)
	})
	switch {
	case out != nil:
		return out
	case missing != nil:
		return runner.Done(reason.PartlyLinked(*missing))
	}
	return runner.Done(nil)
}

// readAdopted reads the object after its controller, if there is one, had time to adopt it.
func (r *restoreRun) readAdopted(ctx context.Context, at object.Identity, adopts bool, add []plan.Addition) (o *object.Object, err error) {
	if !adopts {
		return r.creator.Read(ctx, at)
	}
	var controller types.UID
	for _, a := range add {
		if a.Controls() {
			controller = a.UID
		}
	}
	err = r.runner.WithoutSlot(func() (err error) {
		o, err = r.creator.WaitForAdoption(ctx, at, controller)
		return err
	})
	return o, err
}

// patch changes an object, which was read with the result o and err, as decide says. It returns
// the result of decide if there is one, and nil if the object was changed.
func (r *restoreRun) patch(
	ctx context.Context, at object.Identity, o *object.Object, err error, decide func(*object.Object) (object.Change, *event.Result),
) *event.Result {
	return r.runner.Write(ctx, r.creator, at, o, err, func(now *object.Object) (*event.Result, error) {
		change, out := decide(now)
		if out != nil {
			return out, nil
		}
		_, err := r.creator.Patch(ctx, now, change)
		return nil, err
	})
}

// linkChange returns the change that adds the missing references to an object. An object
// can have only one controller: conflicting is the one that it has already, or nil.
func linkChange(o *object.Object, add []plan.Addition) (c object.Change, conflicting *object.Reference) {
	for _, a := range add {
		for i, x := range o.Owners {
			if slices.ContainsFunc(a.Replaces, func(over object.Reference) bool { return x.Equivalent(over) }) && !x.Equivalent(a.Reference) {
				c.Drop = append(c.Drop, i)
			}
		}
		if !slices.ContainsFunc(o.Owners, func(x object.Reference) bool { return satisfies(x, a) }) {
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

// satisfies reports whether an object with reference x does not need the addition. The
// flags of x may differ, as a controller may have set it, unless the addition replaces
// other references.
func satisfies(x object.Reference, a plan.Addition) bool {
	return x.UID == a.UID && x.Kind == a.Kind && x.Name == a.Name && (len(a.Replaces) == 0 || x.Equivalent(a.Reference))
}
