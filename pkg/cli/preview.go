package cli

import (
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/planview"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// planObjects are the objects that -o name names: those that a plan touches, and of a
// deletion those that go.
func planObjects(p *plan.Plan) []object.Identity {
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
func (a *Operation) preview() error {
	out := a.Options.Scan.Out
	switch {
	case a.Options.writeDocument != nil && a.Options.Flags.DryRun == dryRunClient:
		return a.Options.writeDocument(plan.Kind, a.Current.Plan, planObjects(a.Current.Plan))
	case a.Options.ForPerson():
	case a.Options.Flags.Prompts() && a.Options.Flags.Mutates():
		out = a.Options.Scan.Err
	default:
		return nil
	}
	if err := planview.Preview(out, a.Current.Plan, mostShown, a.Options.Scan.Palette()); err != nil {
		return err
	}
	if a.Current.Plan.Mode == plan.Delete {
		if sum := planview.DeletionSummary(a.Current.Plan, a.Options.Scan.Palette()); sum != "" {
			a.Notes = append(a.Notes, sum)
		}
	}
	a.Notes = append(a.Notes, planview.Lost(a.Current.Plan, a.Options.Scan.Palette())...)
	a.Notes = append(a.Notes, planview.Accepted(a.Current.Plan, mostShown, a.Options.Scan.Palette())...)
	for _, note := range a.Notes {
		if _, err := fmt.Fprintln(out, note); err != nil {
			return err
		}
	}
	sum := planview.SummaryLine(a.Current.Plan)
	if a.Options.Flags.DryRun == dryRunClient {
		sum += fmt.Sprintf(" Nothing was changed: dry run, digest %s.", a.Current.Plan.Digest)
	}
	if n := len(a.Stale); n > 0 {
		sum += fmt.Sprintf(" %d of %d steps of the saved plan are refused.", n, n+len(a.Current.Plan.Steps))
		results := make([]planview.Result, n)
		stale := &plan.Plan{}
		for i, s := range a.Stale {
			stale.Steps, results[i] = append(stale.Steps, s.Step), refused(s)
		}
		if err := planview.Unfinished(out, stale, results, a.Options.Scan.Palette()); err != nil {
			return err
		}
	}
	if _, err := fmt.Fprintln(out, sum); err != nil {
		return err
	}
	if a.Options.Flags.DryRun == dryRunClient && len(a.Current.Plan.Steps) > 0 && a.Options.Scan.From == "" {
		fmt.Fprintf(a.Options.Scan.Err, "Run exactly this plan: %s --confirm %s\n", a.Options.rerunCommand(), a.Current.Plan.Digest)
	}
	return nil
}
