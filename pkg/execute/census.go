package execute

import (
	"context"
	"sync"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// relistResult is who depends on whom, seen anew: what the mirror knows of an object's
// dependents may be old, and nothing binds the removal of a finalizer to them.
type relistResult struct {
	mu    sync.Mutex
	graph *graph.Graph
	judge *collector.Judge
	model *simulate.Model
}

func (r *run) relist(ctx context.Context, _ struct{}) (*relistResult, error) {
	s, err := r.server.Relist(ctx)
	if err != nil {
		return nil, err
	}
	g := graph.New(s)
	judge := collector.NewJudge(g)
	return &relistResult{graph: g, judge: judge, model: simulate.NewApplyModel(g, judge, r.plan.AcceptedGaps)}, nil
}

// consult asks the collector again on a look that began after the step did. Nil:
// the step is to be looked at again. Nothing is concluded from a look that is
// not whole.
func (t *task) consult(ctx context.Context) *end {
	var c *relistResult
	var err error
	t.unslotted(func() { c, err = t.censuses.ask(ctx, struct{}{}) })
	switch {
	case ctx.Err() != nil:
		return t.interrupted(ctx)
	case err != nil:
		return skipped(reason.DependentsNotListed{Failure: failureOf(err)})
	case !c.model.Complete():
		return skipped(reason.DependentsIncomplete{Gap: c.gap(t.plan.AcceptedGaps)})
	}
	o, judgements, why := c.of(t.step)
	switch {
	case o == nil:
		t.live.gone(t.node)
	case why != nil:
		return skipped(why)
	case !t.frozen(t.node) && !t.live.renew(t.node, o):
		t.live.learn(t.node, examined{object: o, judgements: judgements})
		t.changed = true
	}
	t.counted = true
	return nil
}

// of answers what was seen of a step's object, and why the step is not what the
// collector would do with it; nil where it is. A nil object is gone.
func (c *relistResult) of(step *plan.Step) (o *object.Object, judgements []collector.Judgement, not reason.Reason) {
	c.mu.Lock() // a model may remember what it was asked
	defer c.mu.Unlock()
	n := c.graph.Find(step.Object.UID)
	if o = c.model.Object(n); o == nil {
		return nil, nil, nil
	}
	if d := c.model.Decide(n); d.Action != step.Action || d.Change.Release != step.Finalizer {
		not = why(c.model, step, n, d)
	}
	return o, c.judge.Object(n), not
}

// gap returns the first gap that was not accepted, or nil.
func (c *relistResult) gap(accepted snapshot.AcceptedGaps) *reason.Gap {
	for _, g := range c.graph.Snapshot().Gaps {
		if g.Name == "" && !accepted.Covers(g) {
			gap := g.Parameter()
			return &gap
		}
	}
	return nil
}
