package cli

import (
	"bufio"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/planview"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// planObjects returns the objects that -o name names: those of the steps, or of a deletion
// those that are deleted.
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

// maxPreviewLines is how many lines of a preview are printed.
const maxPreviewLines = 1000

// preview prints the plan: for a program if it is the result of the command, for a person
// always, on standard error if standard output is for a program.
func (op *Operation) preview() error {
	p, out := op.Current.Plan, op.Options.Scan.Out
	switch {
	case op.Options.Output.Structured() && op.Options.DryRun == dryRunClient:
		return op.Options.Output.Write(plan.Kind, p, planObjects(p)...)
	case op.Options.ForPerson():
	case op.Options.Prompts() && op.Options.Mutates():
		out = op.Options.Scan.Err
	default:
		return nil
	}
	palette := op.Options.Scan.Palette()
	if err := planview.Preview(out, p, maxPreviewLines, palette); err != nil {
		return err
	}
	notes := slices.Clip(op.Notes)
	if p.Mode == plan.Delete {
		if sum := planview.DeletionSummary(p, palette); sum != "" {
			notes = append(notes, sum)
		}
	}
	for _, note := range slices.Concat(notes, planview.NotRestored(p, palette), planview.AcceptedGaps(p, maxPreviewLines, palette)) {
		if _, err := fmt.Fprintln(out, note); err != nil {
			return err
		}
	}
	sum := planview.SummaryLine(p)
	if op.Options.DryRun == dryRunClient {
		sum += fmt.Sprintf(" Nothing was changed: dry run, digest %s.", p.Digest)
	}
	if n := len(op.Stale); n > 0 {
		sum += fmt.Sprintf(" %d of %d steps of the saved plan are refused.", n, n+len(p.Steps))
		results := make([]planview.Result, n)
		stale := &plan.Plan{}
		for i, s := range op.Stale {
			stale.Steps, results[i] = append(stale.Steps, s.Step), refused(s)
		}
		if err := planview.Unfinished(out, stale, results, palette); err != nil {
			return err
		}
	}
	if _, err := fmt.Fprintln(out, sum); err != nil {
		return err
	}
	if op.Options.DryRun == dryRunClient && len(p.Steps) > 0 && op.Options.Scan.From == "" {
		fmt.Fprintf(op.Options.Scan.Err, "Run exactly this plan: %s --confirm %s\n", op.Options.rerunCommand(), p.Digest)
	}
	return nil
}

// confirmPlan asks whether to carry out the plan that was shown, unless flags answer that.
// The error is an ExitError if it was not confirmed.
func (o *MutatingOptions) confirmPlan(ctx context.Context, p *plan.Plan) error {
	s := o.Scan.Streams
	if names := planview.CriticalDeletions(p); len(names) > 0 {
		fmt.Fprintln(s.Err, "The deletion includes:\n  "+strings.Join(names, "\n  "))
	}
	switch {
	case o.confirm != "" && o.confirm != p.Digest:
		return refuse(s, ExitUnconfirmed, fmt.Sprintf("the plan differs from the confirmed one: its digest is %s, not %s", p.Digest, o.confirm), "preview the plan again, and confirm its digest")
	case !o.Prompts() && p.Losses() > o.maxDeletes:
		return refuse(s, ExitUnconfirmed, fmt.Sprintf("the plan deletes %s, more than --max-deletes allows (%d)", wording.Count(p.Losses(), "object"), o.maxDeletes),
			fmt.Sprintf("to allow it, use --max-deletes %d", p.Losses()))
	case !o.Prompts():
		return nil
	case !s.InTerm:
		return refuse(s, ExitUnconfirmed, "not confirmed: standard input is not a terminal", "use --yes, or --confirm "+p.Digest)
	}
	return ask(ctx, s, p)
}

// question returns the prompt and the answer that confirms: the number of objects to
// delete, which nobody types by accident, or yes if none is deleted.
func question(p *plan.Plan) (prompt, want string) {
	switch p.Mode {
	case plan.Repair:
		references := 0
		for _, s := range p.Steps {
			references += len(s.References)
		}
		return fmt.Sprintf("Change %s of %s, delete none? Type yes: ", wording.Count(references, "reference"), wording.Count(len(p.Outcomes), "object")), "yes"
	case plan.Restore:
		return fmt.Sprintf("Create %s, link %d? Type yes: ", wording.Count(p.Summary.Create, "object"), p.Summary.Link), "yes"
	case plan.Collect, plan.Delete:
	}
	changes := changed(p)
	if n := p.Losses(); n > 0 {
		return fmt.Sprintf("Delete %s, change %d? Type the number of objects to delete: ", wording.Count(n, "object"), changes), strconv.Itoa(n)
	}
	return fmt.Sprintf("Change %s, delete none? Type yes: ", wording.Count(changes, "object")), "yes"
}

// changed counts the objects that the plan changes and does not delete.
func changed(p *plan.Plan) int {
	if p.Mode == plan.Collect {
		return len(p.Steps) - p.Summary.Delete
	}
	n := 0
	for i := range p.Outcomes {
		if p.Outcomes[i].State == plan.Changed {
			n++
		}
	}
	return n
}

func ask(ctx context.Context, s Streams, p *plan.Plan) error {
	prompt, want := question(p)
	fmt.Fprint(s.Err, prompt)
	answer := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(s.In).ReadString('\n') // the end of the input does not confirm
		answer <- strings.TrimSpace(line)
	}()
	select {
	case <-ctx.Done():
		fmt.Fprintln(s.Err)
		return ctx.Err()
	case given := <-answer:
		if given == want {
			return nil
		}
		return refuse(s, ExitUnconfirmed, "not confirmed: nothing was changed", "")
	}
}
