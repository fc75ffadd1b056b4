package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
)

// verification is what the scan after a run proves. The values are part of the JSON
// contract.
type verification string

const (
	verifiedComplete   verification = "complete"   // the scan read everything: what it did not find does not exist
	verifiedIncomplete verification = "incomplete" // the scan had gaps
	verifiedFailed     verification = "failed"     // the scan failed
	verifiedNone       verification = "none"       // there was no scan
)

func verifiedBy(complete bool) verification {
	if complete {
		return verifiedComplete
	}
	return verifiedIncomplete
}

// verify scans the cluster after the run, with the same time limit as the run, and adds
// what is left to the outcome.
func (op *Operation) verify(ctx context.Context, o *runOutcome) {
	scanning, cancel := op.withRunTimeout(ctx)
	defer cancel()
	now, blocked, err := op.remaining(scanning)
	switch {
	case ctx.Err() != nil:
		return
	case err != nil:
		o.facts.verification, o.blocked = verifiedFailed, op.Current.Plan.Blocked
		fmt.Fprintf(op.Options.Scan.Err, "warning: the scan after the run failed, so what is left is not known: %s\n", escape.Short(err.Error(), 2000))
		return
	}
	o.facts.verification, o.gaps = verifiedBy(now.Plan.CompleteButAccepted()), now.Plan.Gaps
	o.gone = countGone(o.plan, o.done, now.Graph())
	o.left, o.blocked = now.Plan, slices.Concat(o.blocked, blocked, op.deletedButPresent(o.done, now.Graph()))
	o.facts.left = len(now.Plan.Steps)
	if !now.Plan.CompleteButAccepted() {
		if !slices.Equal(now.Plan.Gaps, op.Current.Plan.Gaps) {
			op.Options.Scan.WarnOfGaps(now.Snapshot)
		}
		fmt.Fprintln(op.Options.Scan.Err, "warning: the scan after the run was incomplete, so more may be left than it could find")
	}
	if op.LeavesRestToCollector && o.facts.left > 0 {
		fmt.Fprintln(op.Options.Scan.Err, "warning: "+idleWarning(o.facts.left, op.suggestCollect(o.left)))
	}
}

// remaining scans the cluster and returns the plan of what is left to do, and what is
// blocked: according to that plan, and of the deletions that this run started.
func (op *Operation) remaining(ctx context.Context) (PlannedScan, []plan.Blocked, error) {
	now, err := op.scanAndPlan(ctx, func(ctx context.Context, p *PlannedScan) error {
		return op.Command.PlanRemaining(ctx, op.Current.Plan, p)
	})
	if err != nil {
		return PlannedScan{}, nil, err
	}
	known := graph.NewSet(now.Graph())
	for _, b := range now.Plan.Blocked {
		known.Add(now.Graph().Find(b.Object.UID))
	}
	return now, append(now.Plan.Blocked, op.stillTerminating(now.Judge, known)...), nil
}

// countGone returns how many objects that the plan deletes are gone: the run or a list after it has
// shown that.
func countGone(p *plan.Plan, done *execute.Report, after *graph.Graph) int {
	gone := 0
	for _, lost := range p.LostObjects() {
		m, served := after.View().Map(lost.Object.APIVersion, lost.Object.Kind)
		absent := served && after.Object(after.Find(lost.Object.UID)) == nil && after.View().Listed(m.Type.GroupResource(), lost.Object.Namespace)
		if absent || done.Gone[lost.Object.UID] {
			gone++
		}
	}
	return gone
}

// deletedButPresent returns the objects that a step deleted successfully and that exist
// all the same, not even terminating.
func (op *Operation) deletedButPresent(done *execute.Report, g *graph.Graph) []plan.Blocked {
	var out []plan.Blocked
	for i, result := range done.Results {
		s := &op.Current.Plan.Steps[i]
		if s.Action != plan.ActionDelete || result.Status != event.Done {
			continue
		}
		if now := g.Object(g.Find(s.Object.UID)); now != nil && !now.Terminating() {
			out = append(out, plan.Blocked{
				Object: s.Object.Identity, By: []object.Identity{},
				Reason: reason.DeletionWithoutEffect,
			})
		}
	}
	return out
}

// stillTerminating returns the objects that this run has deleted and that still exist,
// except the known ones, and adds them to known. What goes after a Node is not waited for.
func (op *Operation) stillTerminating(j *collector.Judge, known graph.Set) []plan.Blocked {
	g := j.Graph()
	blockers := audit.NewBlockers(simulate.NewModel(j, simulate.Options{Applying: true, Accepted: op.Options.AcceptedGaps}))
	var out []plan.Blocked
	for _, o := range op.Current.Plan.Outcomes {
		n := g.Find(o.Object.UID)
		if now := g.Object(n); now != nil && now.Terminating() && !o.AfterNode() && known.Add(n) {
			by := blockers.Blocker(n)
			out = append(out, plan.Blocked{Object: o.Object, By: by.By, Reason: by.Reason})
		}
	}
	return out
}
