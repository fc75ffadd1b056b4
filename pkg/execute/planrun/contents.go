package planrun

import (
	"context"
	"sync/atomic"

	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute/internal/runner"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// contents knows what other controllers delete because a step deletes the Namespace or
// CustomResourceDefinition around it. It is safe for concurrent use.
type contents struct {
	inside   map[graph.Node][]graph.Node // by container: the Namespace or CustomResourceDefinition
	lastStep map[graph.Node]int          // by container, the index of the last step on one of its contents
	// following maps a step to what the cluster deletes because of it without a step of its own.
	following map[int][]graph.Node

	deleting atomic.Bool // whether this run has caused any deletion of contents
}

// newContents returns the contents that p deletes; index finds the steps of p by ID.
func newContents(g *graph.Graph, p *plan.Plan, index func(id string) (int, bool)) *contents {
	c := &contents{inside: map[graph.Node][]graph.Node{}, lastStep: map[graph.Node]int{}, following: map[int][]graph.Node{}}
	around := map[graph.Node]graph.Node{} // by object inside
	for _, o := range p.Outcomes {
		if step, ok := index(o.Follows); ok {
			n, outside := g.Find(o.Object.UID), g.Find(p.Steps[step].Object.UID)
			c.following[step] = append(c.following[step], n)
			if outer := g.Object(outside); outer != nil && g.Object(n) != nil && g.View().Contains(outer.Identity, g.Object(n)) {
				around[n] = outside
				c.inside[outside] = append(c.inside[outside], n)
			}
		}
	}
	for i := range p.Steps {
		if outside, ok := around[g.Find(p.Steps[i].Object.UID)]; ok {
			c.lastStep[outside] = i
		}
	}
	return c
}

// needsLaterStep reports whether the deletion of an object cannot complete before steps
// after step i, which remove finalizers of its contents.
func (c *contents) needsLaterStep(n graph.Node, i int) bool { return c.lastStep[n] > i }

// checkContents lists again what the deletion of the step's object deletes too, right
// before the DELETE, which has no precondition on that. It returns nil if the plan
// showed all of it.
func (t *task) checkContents(ctx context.Context, o *object.Object) *event.Result {
	s, err := t.run.server.Contents(ctx, o.Identity)
	switch {
	case ctx.Err() != nil:
		return t.run.runner.Interrupted(ctx)
	case err != nil:
		return runner.Failed(reason.ContentsNotListed(runner.FailureOf(err)))
	}
	view := snapshot.NewView(s)
	if gaps := view.ContentsGaps(o.Identity, t.run.plan.AcceptedGaps); len(gaps) > 0 {
		return runner.Failed(reason.ContentsIncomplete(gaps[0].Parameter()))
	}
	for _, inside := range s.Objects {
		if view.Contains(o.Identity, inside) && !t.run.planShows(inside) {
			return runner.Failed(reason.ContentsAdded(inside.Identity))
		}
	}
	t.contentsChecked = true
	return nil
}

// planShows reports whether the plan shows that an object will be deleted, or the object
// was terminating before.
func (r *run) planShows(o *object.Object) bool {
	n := r.graph.Find(o.UID)
	known := r.graph.Object(n)
	return known != nil && int(n) < r.graph.Listed() && (known.Terminating() || r.expectedLeaving.Has(n))
}
