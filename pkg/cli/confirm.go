package cli

import (
	"bufio"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/planview"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// confirmPlan asks whether to carry out the plan that was shown, unless flags answer that.
// The error is an ExitError if it was not confirmed.
func (o *MutatingOptions) confirmPlan(ctx context.Context, p *plan.Plan) error {
	s := o.Scan.Streams
	if names := planview.CriticalDeletions(p); len(names) > 0 {
		fmt.Fprintln(s.Err, "The deletion includes:\n  "+strings.Join(names, "\n  "))
	}
	switch {
	case o.confirm != "" && o.confirm != p.Digest:
		return Refuse(s, ExitUnconfirmed, fmt.Sprintf("the plan differs from the confirmed one: its digest is %s, not %s", p.Digest, o.confirm), "preview the plan again, and confirm its digest")
	case !o.Prompts() && p.Losses() > o.maxDeletes:
		return Refuse(s, ExitUnconfirmed, fmt.Sprintf("the plan deletes %s, more than --max-deletes allows (%d)", wording.Count(p.Losses(), "object"), o.maxDeletes),
			fmt.Sprintf("to allow it, use --max-deletes %d", p.Losses()))
	case !o.Prompts():
		return nil
	case !s.InTerm:
		return Refuse(s, ExitUnconfirmed, "not confirmed: standard input is not a terminal", "use --yes, or --confirm "+p.Digest)
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
	case plan.FinalizerRemoval:
		return removalQuestion(p)
	case plan.Collect, plan.Delete:
	}
	changes := changed(p)
	if n := p.Losses(); n > 0 {
		return fmt.Sprintf("Delete %s, change %d? Type the number of objects to delete: ", wording.Count(n, "object"), changes), strconv.Itoa(n)
	}
	return fmt.Sprintf("Change %s, delete none? Type yes: ", wording.Count(changes, "object")), "yes"
}

// removalQuestion is question for the removal of a finalizer. The plan has the requested step.
func removalQuestion(p *plan.Plan) (prompt, want string) {
	s := p.Steps[0]
	removal := fmt.Sprintf("Remove finalizer %s of %s", escape.Short(s.Finalizer, 300), escape.Short(s.Object.String(), 300))
	if n := p.Losses(); n > 0 {
		return fmt.Sprintf("%s, delete %s? Type the number of objects to delete: ", removal, wording.Count(n, "object")), strconv.Itoa(n)
	}
	return removal + ", delete none? Type yes: ", "yes"
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
		return Refuse(s, ExitUnconfirmed, "not confirmed: nothing was changed", "")
	}
}
