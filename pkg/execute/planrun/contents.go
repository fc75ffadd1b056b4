package planrun

import (
	"context"
	"sync"

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
	deletedBy map[graph.Node]int          // by object inside, the step on the object around it
	inside    map[graph.Node][]graph.Node // by object around
	lastStep  map[graph.Node]int          // by object around, the last step on an object inside
	// following are what the cluster deletes because of a step, without a step of its own. By that step.
	following map[int][]graph.Node

	mu   sync.Mutex
	done map[int]bool // the steps in deletedBy that are done
}

// newContents returns the contents that p deletes; index finds the steps of p by ID.
func newContents(g *graph.Graph, p *plan.Plan, index func(id string) (int, bool)) *contents {
	c := &contents{deletedBy: map[graph.Node]int{}, inside: map[graph.Node][]graph.Node{}, lastStep: map[graph.Node]int{}, following: map[int][]graph.Node{}, done: map[int]bool{}}
	for _, o := range p.Outcomes {
		if step, ok := index(o.Follows); ok {
			n, around := g.Find(o.Object.UID), g.Find(p.Steps[step].Object.UID)
			c.following[step] = append(c.following[step], n)
			if outer := g.Object(around); outer != nil && g.Object(n) != nil && g.View().Contains(outer.Identity, g.Object(n)) {
				c.deletedBy[n] = step
				c.inside[around] = append(c.inside[around], n)
			}
		}
	}
	for i := range p.Steps {
		if step, ok := c.deletedBy[g.Find(p.Steps[i].Object.UID)]; ok {
			c.lastStep[g.Find(p.Steps[step].Object.UID)] = i
		}
	}
	return c
}

// needsLaterStep reports whether the deletion of an object cannot complete before steps
// after step i, which remove finalizers of its contents.
func (c *contents) needsLaterStep(n graph.Node, i int) bool { return c.lastStep[n] > i }

// setDone records that the step on object n is done.
func (c *contents) setDone(n graph.Node, step int) {
	if len(c.inside[n]) > 0 {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.done[step] = true
	}
}

// deleting reports whether this run has caused any deletion of contents.
func (c *contents) deleting() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.done) > 0
}

// checkContents lists again what the deletion of the step's object deletes too, right
// before the DELETE, which has no precondition on that. It returns nil if the plan
// showed all of it.
func (t *task) checkContents(ctx context.Context, o *object.Object) *event.Result {
	s, err := t.run.server.Contents(ctx, o.Identity)
	switch {
	case ctx.Err() != nil:
		return t.run.runner.Interrupted(ctx)
	case err != nil:
		return runner.Failed(reason.ContentsNotListed.Of(runner.FailureOf(err)))
	}
	view := snapshot.NewView(s)
	if gaps := view.ContentsGaps(o.Identity, t.run.plan.AcceptedGaps); len(gaps) > 0 {
		return runner.Failed(reason.ContentsIncomplete.Of(gaps[0].Parameter()))
	}
	for _, inside := range s.Objects {
		if view.Contains(o.Identity, inside) && !t.run.planShows(inside) {
			return runner.Failed(reason.ContentsAdded.Of(inside.Identity))
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
