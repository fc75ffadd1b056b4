package execute

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/restore"
)

// Restore makes again what a plan of a restoration says, and puts references
// back. It answers when every step is over; see Run for how it ends early, and
// for what comes of errors. Options.Frozen has no meaning. In a DryRun nothing is
// recorded.
//
// An object is made with references only to what is there: to owners that this
// run has made before, and to others that are read right before. So no object is
// ever there with a reference that the collector would delete it for.
func Restore(ctx context.Context, of *restore.Restoration, s Creator, k Recorder, o Options) *Report {
	o.Concurrency = max(o.Concurrency, 1)
	r := &restoration{
		walker: newWalker(of.Plan, o), of: of, server: s, recorder: k,
		makes: map[types.UID]bool{}, made: map[types.UID]types.UID{},
	}
	for i := range of.Plan.Steps {
		if step := &of.Plan.Steps[i]; step.Action == plan.Create {
			r.makes[step.Object.UID] = true
		}
	}
	r.do = r.perform
	if o.DryRun {
		r.do = r.rehearse
	}
	r.walk(ctx)
	r.count()
	return r.report
}

type restoration struct {
	*walker
	of       *restore.Restoration
	server   Creator
	recorder Recorder
	makes    map[types.UID]bool // the UIDs of then of what the plan makes

	mu   sync.Mutex
	made map[types.UID]types.UID // by the UID of then, that of what was made
}

func (r *restoration) perform(ctx context.Context, i int) *end {
	if r.plan.Steps[i].Action == plan.Create {
		return r.create(ctx, i)
	}
	return r.link(ctx, i)
}

// uid is that under which an object is known now; false where it is to be made,
// and was not.
func (r *restoration) uid(then types.UID) (types.UID, bool) {
	if !r.makes[then] {
		return then, true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	now, made := r.made[then]
	return now, made
}

// lead has references lead to what their owners are now. Those of owners that
// were not made are left out, and the last of them is named.
func (r *restoration) lead(add []restore.Addition) (lead []restore.Addition, missing *object.Reference) {
	for _, a := range add {
		now, made := r.uid(a.UID)
		if !made {
			missing = &a.Reference
			continue
		}
		a.UID = now
		lead = append(lead, a)
	}
	return lead, missing
}

func references(of []restore.Addition) []object.Reference {
	out := make([]object.Reference, len(of))
	for i, a := range of {
		out[i] = a.Reference
	}
	return out
}

// vanished reads again the owners that this run has not made, save those that the
// plan knows to be no owners and refers to all the same. It names one that is
// gone, or that waits for its dependents to go; nil where there is none.
func (r *restoration) vanished(ctx context.Context, step *plan.Step) (*object.Reference, error) {
	for i := range step.References {
		ref := &step.References[i]
		if ref.Verdict != collector.Solid || r.makes[types.UID(ref.UID)] {
			continue
		}
		now, err := r.server.Read(ctx, object.Identity{
			APIVersion: ref.APIVersion, Kind: ref.Kind, Namespace: step.Object.Namespace, Name: ref.Name, UID: types.UID(ref.UID),
		})
		if err != nil {
			return nil, err
		}
		if now == nil || now.DeletingDependents() {
			return &object.Reference{APIVersion: ref.APIVersion, Kind: ref.Kind, Name: ref.Name, UID: types.UID(ref.UID)}, nil
		}
	}
	return nil, nil
}

// standing ends a step whose owners are not there any more. Nil: they are.
func (r *restoration) standing(ctx context.Context, step *plan.Step) *end {
	owner, err := r.vanished(ctx, step)
	switch {
	case ctx.Err() != nil:
		return r.interrupted(ctx)
	case err != nil:
		return failed(reason.OwnerRereadFailed{Failure: failureOf(err)})
	case owner != nil:
		return skipped(reason.OwnerGone{Owner: *owner})
	}
	return nil
}
