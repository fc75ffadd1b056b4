package cli

import (
	"bufio"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/output/planview"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// warnOfDeletions names one by one what nobody should delete without having read it.
func (a *MutationFlags) warnOfDeletions(s Streams, names []string) {
	if len(names) > 0 {
		fmt.Fprintln(s.Err, "The deletion includes:")
	}
	for _, name := range names {
		fmt.Fprintln(s.Err, "  "+name)
	}
}

// confirmPlan asks whether to carry out the plan that was shown. The error is a
// status where it is not to be.
func (a *MutationFlags) confirmPlan(ctx context.Context, s Streams, p *plan.Plan) error {
	a.warnOfDeletions(s, planview.Alarming(p))
	switch {
	case a.confirm != "" && a.confirm != p.Digest:
		return refuse(s, ExitUnconfirmed, fmt.Sprintf("the plan differs from the confirmed one: its digest is %s, not %s", p.Digest, a.confirm), "preview the plan again, and confirm its digest")
	case !a.Prompts() && p.Losses() > a.maxDeletes:
		return refuse(s, ExitUnconfirmed, fmt.Sprintf("the plan deletes %s, more than --max-deletes allows (%d)", wording.Count(p.Losses(), "object"), a.maxDeletes),
			fmt.Sprintf("to allow it, use --max-deletes %d", p.Losses()))
	case !a.Prompts():
		return nil
	case !s.InTerm:
		return refuse(s, ExitUnconfirmed, "not confirmed: standard input is not a terminal", "use --yes, or --confirm "+p.Digest)
	}
	return ask(ctx, s, p)
}

// question demands the number of objects to delete, which nobody types by
// accident, or a yes where none is deleted.
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

// changed counts what a pass changes besides, and what a deletion leaves changed.
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
		line, _ := bufio.NewReader(s.In).ReadString('\n') // an end of the input is no yes
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

// refuse says why nothing is done.
func refuse(s Streams, code ExitError, why, hint string) error {
	fmt.Fprintln(s.Err, "error: "+why)
	if hint != "" {
		fmt.Fprintln(s.Err, "hint: "+hint)
	}
	return code
}
