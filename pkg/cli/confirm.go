package cli

import (
	"bufio"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/planview"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// confirmPlan asks whether to carry out the plan that was shown, unless flags answer that.
// The error is an ExitError if it was not confirmed.
func confirmPlan(ctx context.Context, o *MutatingOptions, p *plan.Plan) error {
	s := o.Scan.Streams
	if names := planview.CriticalDeletions(p); len(names) > 0 {
		fmt.Fprintln(s.Err, "The deletion includes:\n  "+strings.Join(names, "\n  "))
	}
	if grants := planview.Grants(p); grants != "" {
		fmt.Fprintln(s.Err, grants)
	}
	switch {
	case len(p.Breaks()) > 0 && !o.allowInUse:
		return Refuse(s, ExitUnconfirmed, planview.Breaks(p)[0]+"; nothing was changed", "to take it away all the same, add --allow-in-use: its users lose it")
	case o.confirm != "" && o.confirm != p.Digest():
		return Refuse(s, ExitUnconfirmed, fmt.Sprintf("the plan differs from the confirmed one: its digest is %s, not %s", p.Digest(), o.confirm), "preview the plan again, with --dry-run=server if admission webhooks or policies guard what goes, and confirm its digest")
	case !o.Prompts() && o.exceedsMaxDeletes(p) != "":
		return Refuse(s, ExitUnconfirmed, "the plan "+o.exceedsMaxDeletes(p),
			fmt.Sprintf("to allow it, use --max-deletes %d", len(p.LostObjects)))
	case !o.Prompts():
		return nil
	case !s.InTerm:
		return Refuse(s, ExitUnconfirmed, "cannot ask for confirmation: standard input is not a terminal", "use --yes, or --confirm "+p.Digest())
	}
	return ask(ctx, s, p, o.place(p), !o.NoBackup)
}

// exceedsMaxDeletes returns what --max-deletes does not allow a plan to do, to continue a
// sentence, and "" if it allows the plan.
func (o *MutatingOptions) exceedsMaxDeletes(p *plan.Plan) string {
	losses := len(p.LostObjects)
	if losses <= o.MaxDeletes {
		return ""
	}
	return fmt.Sprintf("deletes %s, more than --max-deletes allows (%d)", wording.Count(losses, "object"), o.MaxDeletes)
}

// place returns where a plan changes what, and where others are: " in namespace shop on prod (https://10.0.0.5:6443)".
func (o *MutatingOptions) place(p *plan.Plan, others ...object.Identity) string {
	in := planview.Place(p, others...)
	if namespace := o.Scan.Config.Namespace(); len(p.Steps)+len(p.Outcomes) == 0 && namespace != "" {
		in = " in namespace " + escape.Word(namespace)
	}
	return in + o.Scan.where()
}

// question returns the prompt and the answer that confirms: the number of objects to
// delete, which nobody types by accident, or yes if none is deleted. place is where that is. The prompt says so if
// nothing is backed up.
func question(p *plan.Plan, place string, backsUp bool) (prompt, want string) {
	what, want := intent(p)
	kept := ""
	if len(p.LostObjects)+p.Summary().Create+p.Summary().Link == 0 {
		kept = " Nothing will be deleted."
	}
	blocked := 0
	for _, lost := range p.LostObjects {
		if lost.Outcome != nil && lost.Outcome.State == plan.Terminating {
			blocked++
		}
	}
	if !backsUp && len(p.LostObjects) > 0 {
		kept = " " + noUndo
	}
	if blocked > 0 {
		kept += fmt.Sprintf(" %s will be blocked, and cannot be canceled.", wording.Count(blocked, "deletion"))
	}
	first := ""
	if inUse := planview.Breaks(p); len(inUse) > 0 {
		first = wording.List(inUse, 3) + "; its users lose it.\n"
	}
	return first + fmt.Sprintf("%s%s?%s Type %s to confirm: ", what, place, kept, want), want
}

// noUndo is said of a deletion without a backup.
const noUndo = "Nothing is backed up, so it cannot be undone."

// intent returns what a plan does, and the answer that confirms it.
func intent(p *plan.Plan) (what, want string) {
	switch p.Mode {
	case plan.Repair:
		references := 0
		for _, s := range p.Steps {
			references += len(s.References)
		}
		return fmt.Sprintf("Change %s of %s", wording.Count(references, "owner reference"), wording.Count(len(p.Outcomes), "object")), "yes"
	case plan.Restore:
		what = "Recreate " + wording.Count(p.Summary().Create, "object")
		if n := p.Summary().Link; n > 0 {
			what += " and restore owner references of " + wording.Count(n, "object")
		}
		return what, "yes"
	case plan.FinalizerRemoval:
		return removal(p)
	case plan.Collect, plan.Delete:
	}
	changes := changed(p)
	if n := len(p.LostObjects); n > 0 {
		what = "Delete " + wording.Count(n, "object")
		if changes > 0 {
			what += fmt.Sprintf(" and change %d", changes)
		}
		return what + withData(p), strconv.Itoa(n)
	}
	return fmt.Sprintf("Change %s", wording.Count(changes, "object")), "yes"
}

// removal is intent for the removal of a finalizer. The plan has the requested step.
func removal(p *plan.Plan) (what, want string) {
	s := p.Steps[0]
	what = fmt.Sprintf("Remove finalizer %s of %s", escape.Short(s.Finalizer(), 300), escape.Short(s.Object.String(), 300))
	if n := len(p.LostObjects); n > 0 {
		return fmt.Sprintf("%s and delete %s%s", what, wording.Count(n, "object"), withData(p)), strconv.Itoa(n)
	}
	return what, "yes"
}

// withData returns whose data is, or may be, lost with the objects that a plan deletes.
func withData(p *plan.Plan) string {
	switch d := p.Data(); {
	case d.Lost > 0:
		return ", with " + planview.LostData(d) + ","
	case d.Unknown > 0:
		return ", perhaps with the data of " + wording.Count(d.Unknown, "volume") + ","
	}
	return ""
}

// changed counts the objects that the plan changes and does not delete.
func changed(p *plan.Plan) int {
	if p.Mode == plan.Collect {
		return len(p.Steps) - p.Summary().Delete
	}
	n := 0
	for i := range p.Outcomes {
		if p.Outcomes[i].State == plan.Changed {
			n++
		}
	}
	return n
}

func ask(ctx context.Context, s Streams, p *plan.Plan, place string, backsUp bool) error {
	prompt, want := question(p, place, backsUp)
	fmt.Fprint(s.Err, prompt)
	answer := make(chan string, 1)
	go func() {
		line, err := bufio.NewReader(s.In).ReadString('\n')
		if err != nil { // the end of the input, which left the cursor behind the prompt
			fmt.Fprintln(s.Err)
		}
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
		fmt.Fprintf(s.Err, "Aborted: expected %q, got %s. Nothing was changed.\n", want, Quote(given))
		return ExitError(ExitUnconfirmed)
	}
}
