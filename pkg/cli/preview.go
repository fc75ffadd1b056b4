package cli

import (
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/print/steps"
)

// mostShown is how many lines of a preview are for reading.
const mostShown = 1000

// preview shows the plan: to a machine only where that is the answer, to a person
// always, even if that is only the one who is about to be asked.
func (a *act) preview() error {
	out := a.Out
	switch {
	case a.write != nil && a.dryRun == dryRunClient:
		named := make([]object.Identity, len(a.plan.Steps))
		for i, s := range a.plan.Steps {
			named[i] = s.Object.Identity
		}
		return a.write(plan.Kind, a.plan, named)
	case a.readable():
	case a.asks() && a.acts():
		out = a.Err
	default:
		return nil
	}
	if err := steps.Preview(out, a.plan, mostShown, a.palette()); err != nil {
		return err
	}
	if err := steps.Lost(out, a.plan, a.palette()); err != nil {
		return err
	}
	sum := steps.Sum(a.plan)
	if a.dryRun == dryRunClient {
		sum += fmt.Sprintf(" Nothing was changed: dry run, digest %s.", a.plan.Digest)
	}
	if n := len(a.stale); n > 0 {
		sum += fmt.Sprintf(" Of the saved plan, %d of %d steps are refused.", n, n+len(a.plan.Steps))
		results := make([]steps.Result, n)
		stale := &plan.Plan{}
		for i, s := range a.stale {
			stale.Steps, results[i] = append(stale.Steps, s.Step), refused(s)
		}
		if err := steps.Unfinished(out, stale, results, a.palette()); err != nil {
			return err
		}
	}
	if _, err := fmt.Fprintln(out, sum); err != nil {
		return err
	}
	if a.dryRun == dryRunClient && len(a.plan.Steps) > 0 && a.from == "" {
		fmt.Fprintf(a.Err, "Act on exactly this: %s --confirm %s\n", a.again(), a.plan.Digest)
	}
	return nil
}
