package recreate

import (
	"context"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/execute/internal/runner"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/restore"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// dryRun sends a step to a server that changes nothing, so that nothing of earlier steps
// exists. It leaves out references to what they create, and skips a step that cannot be
// tried without it.
func (r *run) dryRun(ctx context.Context, i int) *runner.Outcome {
	if ctx.Err() != nil {
		return r.runner.Interrupted(ctx)
	}
	step, work := &r.restoration.Plan.Steps[i], r.restoration.Instructions(i)
	add := slices.DeleteFunc(slices.Clone(work.Add), func(a restore.Addition) bool { return r.toCreate[a.UID] })
	if missing, ok := r.missingPrerequisite(step); ok {
		return runner.Skipped(reason.DryRunImpossible{Missing: missing})
	}
	var out *runner.Outcome
	if step.Action == plan.ActionCreate {
		_, _, out = r.send(ctx, i, add)
	} else {
		o, err := r.creator.Read(ctx, step.Object.Identity)
		out = r.patch(ctx, step.Object.Identity, o, err, func(o *object.Object) (object.Change, *runner.Outcome) {
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
func (r *run) missingPrerequisite(step *plan.Step) (missing reason.Prerequisite, ok bool) {
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
		if slices.ContainsFunc(r.restoration.Instructions(i).Defines, func(t snapshot.Type) bool { return t.Group == kind.Group && t.Kind == kind.Kind }) {
			return reason.ItsType, true
		}
	}
	return "", false
}
