package execute

import (
	"context"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// checkContents lists again what the deletion of the step's object takes along. Nothing
// binds a DELETE to that, so it comes right before. It ends the step if something was not
// in the plan, or if something may not have been listed. Nil: the step goes on.
func (t *task) checkContents(ctx context.Context, o *object.Object) *end {
	s, err := t.server.Contents(ctx, o.Identity)
	switch {
	case ctx.Err() != nil:
		return t.interrupted(ctx)
	case err != nil:
		return failed(reason.ContentsNotListed{Failure: failureOf(err)})
	}
	view := snapshot.NewView(s)
	if gaps := view.ContentsGaps(o.Identity, t.plan.AcceptedGaps); len(gaps) > 0 {
		return failed(reason.ContentsIncomplete{Gap: gaps[0].Parameter()})
	}
	for _, inside := range s.Objects {
		if view.Contains(o.Identity, inside) && !t.shown(inside) {
			return failed(reason.ContentsAdded{Object: inside.Identity})
		}
	}
	t.contentsChecked = true
	return nil
}

// shown reports whether the plan says of an object that it goes, or its deletion was under
// way before.
func (r *run) shown(o *object.Object) bool {
	n := r.graph.Find(o.UID)
	if known := r.graph.Object(n); known == nil || int(n) >= r.graph.Listed() {
		return false
	} else if known.Terminating() {
		return true
	}
	return r.leaves.Has(n)
}
