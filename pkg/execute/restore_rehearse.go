package execute

import (
	"context"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/restore"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// rehearse sends a step to a server that does none of them: what an earlier one
// makes is not there, so references to that are left out, and what needs more of
// it cannot be tried.
func (r *restoration) rehearse(ctx context.Context, i int) *end {
	if ctx.Err() != nil {
		return r.interrupted()
	}
	step, work := &r.plan.Steps[i], r.of.Work(i)
	add := slices.DeleteFunc(slices.Clone(work.Add), func(a restore.Addition) bool { return r.makes[a.UID] })
	if step.Action != plan.Create {
		return r.rehearseLink(ctx, step, add)
	}
	if why := r.untried(step); why != "" {
		return skipped("cannot be tried before " + why)
	}
	body, err := r.of.Body(i, references(add))
	if err != nil {
		return failing("read what was saved", err)
	}
	_, _, err = r.send(ctx, step.Object.Identity, body)
	switch {
	case reasonOf(err) == snapshot.Exists:
		return skipped("another is there by now")
	case err != nil:
		return failedBy(err)
	}
	return done("")
}

// untried says what has to be made before an object can even be tried.
func (r *restoration) untried(step *plan.Step) string {
	kind := step.Object.GroupVersionKind()
	for _, id := range step.After {
		i := r.ids[id]
		other := &r.plan.Steps[i]
		if other.Object.IsNamespace() && other.Object.Name == step.Object.Namespace {
			return "its namespace is there"
		}
		if slices.ContainsFunc(r.of.Work(i).Defines, func(t snapshot.Type) bool { return t.Group == kind.Group && t.Kind == kind.Kind }) {
			return "its type is served"
		}
	}
	return ""
}

func (r *restoration) rehearseLink(ctx context.Context, step *plan.Step, add []restore.Addition) *end {
	if r.makes[step.Object.UID] {
		return skipped("cannot be tried before it is made")
	}
	for range attempts {
		o, err := r.server.Read(ctx, step.Object.Identity)
		switch {
		case ctx.Err() != nil:
			return r.interrupted()
		case err != nil:
			return failing("it could not be read again", err)
		case o == nil:
			return skipped("gone meanwhile")
		}
		change, _ := linking(o, add)
		_, err = r.server.Patch(ctx, o, change)
		switch reasonOf(err) {
		case snapshot.Gone:
			return skipped("gone meanwhile")
		case snapshot.Conflict:
			continue
		}
		if err != nil {
			return failedBy(err)
		}
		return done("")
	}
	return failed("it keeps changing")
}
