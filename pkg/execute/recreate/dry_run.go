package recreate

import (
	"context"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/execute/internal/runner"
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
	if step.Action != plan.ActionCreate {
		return r.dryRunLink(ctx, step, add)
	}
	if missing, ok := r.missingPrerequisite(step); ok {
		return runner.Skipped(reason.DryRunImpossible{Missing: missing})
	}
	if _, _, out := r.send(ctx, i, add); out != nil {
		return out
	}
	return runner.Done(nil)
}

// missingPrerequisite returns what has to exist before the creation of an object can even
// be tried; ok is false if that is nothing.
func (r *run) missingPrerequisite(step *plan.Step) (missing reason.Prerequisite, ok bool) {
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

func (r *run) dryRunLink(ctx context.Context, step *plan.Step, add []restore.Addition) *runner.Outcome {
	if r.toCreate[step.Object.UID] {
		return runner.Skipped(reason.DryRunImpossible{Missing: reason.Itself})
	}
	for range runner.MaxAttempts {
		o, err := r.creator.Read(ctx, step.Object.Identity)
		switch {
		case ctx.Err() != nil:
			return r.runner.Interrupted(ctx)
		case err != nil:
			return runner.Failed(reason.RereadFailed{Failure: runner.FailureOf(err)})
		case o == nil:
			return runner.Skipped(reason.ObjectGone)
		}
		change, _ := linkChange(o, add)
		_, err = r.creator.Patch(ctx, o, change)
		switch class := runner.ClassOf(err); {
		case class == snapshot.Gone:
			return runner.Skipped(reason.ObjectGone)
		case class == snapshot.Conflict:
			continue
		case err != nil:
			return runner.Failed(reason.WriteFailed{Failure: runner.FailureOf(err)})
		}
		return runner.Done(nil)
	}
	return runner.Failed(reason.KeepsChanging{Attempts: runner.MaxAttempts})
}
