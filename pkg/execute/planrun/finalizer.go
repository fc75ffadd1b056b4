package planrun

import (
	"context"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute/internal/runner"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
)

// relist returns the model of a new scan, which nothing changes. A finalizer is removed only if this scan agrees:
// the live model may not know all dependents of an object, and the removal has no precondition on them.
func (r *run) relist(ctx context.Context, _ struct{}) (*simulate.Model, error) {
	s, err := r.server.Relist(ctx)
	if err != nil {
		return nil, err
	}
	return simulate.NewModel(collector.NewJudge(graph.New(s)), simulate.Own.Accepting(r.plan.AcceptedGaps)), nil
}

// checkDependents lists every object again and skips the step if the collector would not
// do it then, or if the scan is incomplete. It returns nil if the step has to be
// evaluated again.
func (t *task) checkDependents(ctx context.Context) *event.Result {
	var relisted *simulate.Model
	err := t.run.runner.Check(func() (err error) {
		relisted, err = t.run.relists.do(ctx, struct{}{})
		return err
	})
	switch {
	case ctx.Err() != nil:
		return t.run.runner.Interrupted(ctx)
	case err != nil:
		return runner.Skipped(reason.DependentsNotListed(runner.FailureOf(err)))
	}
	if !relisted.Complete(t.step.Object.Namespace) {
		return runner.Skipped(reason.DependentsIncomplete(t.run.firstGap(relisted.Graph())))
	}
	n := relisted.Graph().Find(t.step.Object.UID)
	o := relisted.Object(n)
	t.relists++
	if o == nil {
		t.run.live.setGone(t.node)
		return nil
	}
	if d := relisted.Decide(n); plan.Action(d.Action) != t.step.Action || d.Change.RemoveFinalizer != t.step.Finalizer() {
		return runner.Skipped(skipReason(relisted, t.step, n, d))
	}
	if !t.run.live.updateVersion(t.node, o) {
		t.run.live.observe(t.node, observation{object: o, judgements: relisted.Judge().Object(n)})
		t.changed = true
	}
	return nil
}

// firstGap returns the first gap that was not accepted, or nil.
func (r *run) firstGap(g *graph.Graph) *reason.Gap {
	for _, gap := range g.Snapshot().Gaps {
		if gap.Name == "" && !r.plan.AcceptedGaps.Covers(gap) {
			out := gap.Parameter()
			return &out
		}
	}
	return nil
}
