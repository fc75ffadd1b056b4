package cli

import (
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/planview"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// about are the objects that -o name names: those that a plan touches, and of a
// deletion those that go.
func about(p *plan.Plan) []object.Identity {
	var out []object.Identity
	if p.Mode != plan.Delete {
		for i := range p.Steps {
			out = append(out, p.Steps[i].Object.Identity)
		}
		return out
	}
	for i := range p.Outcomes {
		if p.Outcomes[i].State != plan.Changed {
			out = append(out, p.Outcomes[i].Object)
		}
	}
	return out
}

// mostShown is how many lines of a preview are for reading.
const mostShown = 1000

// preview shows the plan: to a machine only where that is the answer, to a person
// always, even if that is only the one who is about to be asked.
func (a *act) preview() error {
	out := a.Out
	switch {
	case a.write != nil && a.dryRun == dryRunClient:
		return a.write(plan.Kind, a.plan, about(a.plan))
	case a.readable():
	case a.asks() && a.acts():
		out = a.Err
	default:
		return nil
	}
	if err := planview.Preview(out, a.plan, mostShown, a.palette()); err != nil {
		return err
	}
	if a.plan.Mode == plan.Delete {
		if sum := planview.Toll(a.plan, a.palette()); sum != "" {
			a.notes = append(a.notes, sum)
		}
	}
	a.notes = append(a.notes, planview.Lost(a.plan, a.palette())...)
	a.notes = append(a.notes, planview.Accepted(a.plan, mostShown, a.palette())...)
	for _, note := range a.notes {
		if _, err := fmt.Fprintln(out, note); err != nil {
			return err
		}
	}
	sum := planview.Sum(a.plan)
	if a.dryRun == dryRunClient {
		sum += fmt.Sprintf(" Nothing was changed: dry run, digest %s.", a.plan.Digest)
	}
	if n := len(a.stale); n > 0 {
		sum += fmt.Sprintf(" %d of %d steps of the saved plan are refused.", n, n+len(a.plan.Steps))
		results := make([]planview.Result, n)
		stale := &plan.Plan{}
		for i, s := range a.stale {
			stale.Steps, results[i] = append(stale.Steps, s.Step), refused(s)
		}
		if err := planview.Unfinished(out, stale, results, a.palette()); err != nil {
			return err
		}
	}
	if _, err := fmt.Fprintln(out, sum); err != nil {
		return err
	}
	if a.dryRun == dryRunClient && len(a.plan.Steps) > 0 && a.from == "" {
		fmt.Fprintf(a.Err, "Run exactly this plan: %s --confirm %s\n", a.again(), a.plan.Digest)
	}
	return nil
}
