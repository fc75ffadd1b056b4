package execute

import (
	"context"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/restore"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// rehearse sends a step to a server that does none of them: what an earlier one
// makes is not there, so references to that are left out, and what needs more of
// it cannot be tried.
func (r *restoration) rehearse(ctx context.Context, i int) *end {
	if ctx.Err() != nil {
		return r.interrupted(ctx)
	}
	step, work := &r.plan.Steps[i], r.of.Work(i)
	add := slices.DeleteFunc(slices.Clone(work.Add), func(a restore.Addition) bool { return r.makes[a.UID] })
	if step.Action != plan.Create {
		return r.rehearseLink(ctx, step, add)
	}
	if missing, ok := r.untried(step); !ok {
		return skipped(reason.DryRunImpossible{Missing: missing})
	}
	body, err := r.of.Body(i, references(add))
	if err != nil {
		return failed(reason.BackupUnreadable{Failure: failureOf(err)})
	}
	_, _, err = r.send(ctx, step.Object.Identity, body)
	switch {
	case classOf(err) == snapshot.Exists:
		return skipped(reason.AlreadyExists{})
	case err != nil:
		return failed(reason.WriteFailed{Failure: failureOf(err)})
	}
	return done(nil)
}

// untried returns what has to be made before an object can even be tried; ok where
// there is nothing.
func (r *restoration) untried(step *plan.Step) (missing reason.Prerequisite, ok bool) {
	kind := step.Object.GroupVersionKind()
	for _, id := range step.After {
		i := r.ids[id]
		other := &r.plan.Steps[i]
		if other.Object.IsNamespace() && other.Object.Name == step.Object.Namespace {
			return reason.ItsNamespace, false
		}
		if slices.ContainsFunc(r.of.Work(i).Defines, func(t snapshot.Type) bool { return t.Group == kind.Group && t.Kind == kind.Kind }) {
			return reason.ItsType, false
		}
	}
	return "", true
}

func (r *restoration) rehearseLink(ctx context.Context, step *plan.Step, add []restore.Addition) *end {
	if r.makes[step.Object.UID] {
		return skipped(reason.DryRunImpossible{Missing: reason.Itself})
	}
	for range attempts {
		o, err := r.server.Read(ctx, step.Object.Identity)
		switch {
		case ctx.Err() != nil:
			return r.interrupted(ctx)
		case err != nil:
			return failed(reason.RereadFailed{Failure: failureOf(err)})
		case o == nil:
			return skipped(reason.ObjectGone{})
		}
		change, _ := linking(o, add)
		_, err = r.server.Patch(ctx, o, change)
		switch class := classOf(err); {
		case class == snapshot.Gone:
			return skipped(reason.ObjectGone{})
		case class == snapshot.Conflict:
			continue
		case err != nil:
			return failed(reason.WriteFailed{Failure: failureOf(err)})
		}
		return done(nil)
	}
	return failed(reason.KeepsChanging{Attempts: attempts})
}
