// Package recreate recreates the objects of a backup and links them to their owners.
//
// Objects are created with references only to owners that exist: those that this run has
// created, and others that are read right before. So no object ever has a reference for
// which the collector would delete it.
package recreate

import (
	"context"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute/internal/runner"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/restore"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Run carries out the plan of a restoration and returns when every step has ended. When
// the context ends no further write begins, and the APIServer completes those in flight.
// All errors are in the report. A dry run records nothing.
func Run(ctx context.Context, of *restore.Restoration, c APIServer, rec Recorder, o execute.Tuning) *execute.RunResult {
	r := &restoreRun{
		runner:      runner.New(of.Plan, o, func(int) runner.Ownership { return runner.Own }),
		restoration: of, creator: c, recorder: rec,
		toCreate: map[types.UID]bool{}, created: map[types.UID]types.UID{},
	}
	for i := range of.Plan.Steps {
		if step := &of.Plan.Steps[i]; step.Action == plan.ActionCreate {
			r.toCreate[step.Object.UID] = true
		}
	}
	if o.DryRun {
		return r.runner.Run(ctx, r.dryRun)
	}
	return r.runner.Run(ctx, r.perform)
}

type restoreRun struct {
	runner      *runner.Runner
	restoration *restore.Restoration
	creator     APIServer
	recorder    Recorder
	toCreate    map[types.UID]bool // by UID in the backup

	mu      sync.Mutex
	created map[types.UID]types.UID // new UIDs by UID in the backup
}

func (r *restoreRun) perform(ctx context.Context, i int) *event.Result {
	if r.restoration.Plan.Steps[i].Action == plan.ActionCreate {
		return r.create(ctx, i)
	}
	return r.link(ctx, i)
}

// dryRun sends a step to a server that changes nothing, so that nothing of earlier steps
// exists. It leaves out references to what they create, and skips a step that cannot be
// tried without it.
func (r *restoreRun) dryRun(ctx context.Context, i int) *event.Result {
	if ctx.Err() != nil {
		return r.runner.Interrupted(ctx)
	}
	step := &r.restoration.Plan.Steps[i]
	add := slices.DeleteFunc(slices.Clone(step.Creation.Add), func(a plan.Addition) bool { return r.toCreate[a.UID] })
	if missing, ok := r.missingPrerequisite(step); ok {
		return runner.Skipped(reason.DryRunImpossible(missing))
	}
	var out *event.Result
	if step.Action == plan.ActionCreate {
		if out = r.runner.WaitForTurn(ctx); out == nil {
			_, _, out = r.send(ctx, step, add)
		}
	} else {
		o, err := r.creator.Read(ctx, step.Object.Identity)
		out = r.patch(ctx, step.Object.Identity, o, err, func(o *object.Object) (object.Change, *event.Result) {
			change, _ := linkChange(o, add)
			return change, nil
		})
	}
	if out == nil {
		out = runner.Done(nil)
	}
	return out
}

// missingPrerequisite returns what has to exist before a step can even be tried; ok is
// false if that is nothing.
func (r *restoreRun) missingPrerequisite(step *plan.Step) (missing reason.Prerequisite, ok bool) {
	if step.Action != plan.ActionCreate {
		return reason.Itself, r.toCreate[step.Object.UID]
	}
	kind := step.Object.GroupVersionKind()
	for _, id := range step.After {
		i, _ := r.runner.Index(id)
		before := &r.restoration.Plan.Steps[i]
		if before.Object.IsNamespace() && before.Object.Name == step.Object.Namespace {
			return reason.ItsNamespace, true
		}
		if slices.ContainsFunc(before.Creation.Defines, func(t snapshot.Type) bool { return t.Group == kind.Group && t.Kind == kind.Kind }) {
			return reason.ItsType, true
		}
	}
	return "", false
}

// currentUID returns the UID that an object of the backup has now; false if this run has
// to create the object and has not.
func (r *restoreRun) currentUID(old types.UID) (types.UID, bool) {
	if !r.toCreate[old] {
		return old, true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	uid, created := r.created[old]
	return uid, created
}

// withCurrentUIDs returns the additions with the current UIDs of the owners. It leaves out
// owners that were not created, and returns the last of them as missing.
func (r *restoreRun) withCurrentUIDs(add []plan.Addition) (current []plan.Addition, missing *object.Reference) {
	for _, a := range add {
		uid, created := r.currentUID(a.UID)
		if !created {
			missing = &a.Reference
			continue
		}
		a.UID = uid
		current = append(current, a)
	}
	return current, missing
}

func references(add []plan.Addition) []object.Reference {
	out := make([]object.Reference, len(add))
	for i, a := range add {
		out[i] = a.Reference
	}
	return out
}

// checkWrite returns the result of a step that may not write, or nil if it may. It reads
// the owners that the plan found solid, apart from those that this run creates: none may be
// gone or wait for its dependents to be deleted.
func (r *restoreRun) checkWrite(ctx context.Context, step *plan.Step) *event.Result {
	for i := range step.References {
		ref := &step.References[i]
		uid := types.UID(ref.UID)
		if ref.Verdict != collector.VerdictSolid || r.toCreate[uid] {
			continue
		}
		now, err := r.creator.Read(ctx, object.Identity{
			APIVersion: ref.APIVersion, Kind: ref.Kind, Namespace: step.Object.Namespace, Name: ref.Name, UID: uid,
		})
		switch {
		case ctx.Err() != nil:
			return r.runner.Interrupted(ctx)
		case err != nil:
			return runner.Failed(reason.OwnerRereadFailed(runner.FailureOf(err)))
		case now == nil || now.DeletingDependents():
			return runner.Skipped(reason.OwnerGone(object.Reference{APIVersion: ref.APIVersion, Kind: ref.Kind, Name: ref.Name, UID: uid}))
		}
	}
	if ctx.Err() != nil {
		return r.runner.Interrupted(ctx)
	}
	return r.runner.CheckReady()
}
