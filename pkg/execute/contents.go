package execute

import (
	"context"
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// checkContents lists again what the deletion of the step's object takes along. Nothing
// binds a DELETE to that, so it comes right before. It ends the step if something was not
// in the plan, or if something may not have been listed. Nil: the step goes on.
func (t *task) checkContents(ctx context.Context, o *object.Object) *end {
	s, err := t.server.Contents(ctx, o.Identity)
	switch {
	case ctx.Err() != nil:
		return t.interrupted()
	case err != nil:
		return failing("refused: its contents could not be listed again", err)
	}
	view := snapshot.NewView(s)
	if gaps := view.ContentsGaps(o.Identity, t.plan.AcceptedGaps); len(gaps) > 0 {
		return failed(fmt.Sprintf("refused: its contents could not all be listed again: %s (%s)", gaps[0], gaps[0].Reason))
	}
	for _, inside := range s.Objects {
		if view.Contains(o.Identity, inside) && !t.shown(inside) {
			return failed(fmt.Sprintf("refused: %s in it was not in the plan, and would go along", inside))
		}
	}
	t.contents = true
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
