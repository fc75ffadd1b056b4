package cli

import (
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/planview"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// report prints how the run ended, and returns its exit code as an error.
func (op *Operation) report(o runOutcome) error {
	r := o.result()
	code := o.exitFacts(r, op.Options.Flags.DryRun, op.Options.Scan.Strict).code()
	if err := op.writeResult(&o, r); err != nil { // printed here, because what follows is still due
		fmt.Fprintf(op.Options.Scan.Err, "error: write the result: %s\n", escape.Short(err.Error(), 2000))
		code = ExitUsage
	}
	op.printInterrupted(&o, r)
	return code.OrNil()
}

// writeResult writes how the run ended in the format of -o.
func (op *Operation) writeResult(o *runOutcome, r *result) error {
	switch {
	case op.Options.writeDocument != nil:
		return op.Options.writeDocument("Result", r, r.done()...)
	case op.Options.Output.Format == jsonLines:
		return op.Options.Scan.writeLine(struct {
			Event string `json:"event"`
			summary
			Backup       string       `json:"backup"`
			Verification verification `json:"verification"`
		}{"finished", r.Summary, o.backup, o.verification})
	case o.done != nil || len(o.stale) > 0:
		return op.printResult(o, r)
	}
	return nil
}

// done returns the objects of the steps that were done.
func (r *result) done() []object.Identity {
	var out []object.Identity
	for _, s := range r.Steps {
		if s.Status == event.Done {
			out = append(out, s.Object.Identity)
		}
	}
	return out
}

// printResult writes the result for a person.
func (op *Operation) printResult(o *runOutcome, r *result) error {
	all, results, others := o.shownSteps()
	if err := planview.Unfinished(op.Options.Scan.Out, all, results, op.Options.Scan.Palette()); err != nil {
		return err
	}
	if o.plan.Mode == plan.Delete && !o.dryRun {
		if err := planview.Blocked(op.Options.Scan.Out, o.blocked, op.Options.Scan.Palette()); err != nil {
			return err
		}
	}
	line := planview.RunSummary(all, results, o.took)
	switch {
	case o.dryRun:
		line = fmt.Sprintf("The API server would accept %d of %d steps. Nothing was changed: dry run, digest %s.", r.Summary.Done, len(all.Steps), r.Digest)
	case others > 0:
		line += "; the cluster's garbage collector does the rest, and nothing was verified."
	default:
		line += op.verificationLine(o, r) + "."
	}
	if o.backup != "" && (o.plan.Summary.Delete > 0 || o.plan.Mode == plan.Repair) {
		line += " Undo: " + CommandName + " restore " + escape.Short(ShellCommand(o.backup), 2000)
	}
	if _, err := fmt.Fprintln(op.Options.Scan.Out, line); err != nil {
		return err
	}
	if !o.interrupted() && r.Summary.Failed == 0 && r.Summary.Left > 0 && !op.LeavesRestToCollector {
		next := op.Options.rerunCommand("plan")
		if o.plan.Mode == plan.Delete { // the objects that it named are gone
			next = CommandName + " collect"
		}
		fmt.Fprintf(op.Options.Scan.Err, "More to do, continue with: %s\n", next)
	}
	return nil
}

// verificationLine returns what the scan after the run found, as the end of a sentence, or
// "" if there was no run.
func (op *Operation) verificationLine(o *runOutcome, r *result) string {
	if o.done == nil {
		return ""
	}
	found := foundLeft(r.Summary.Left, o.blocked)
	if r.Summary.Left > 0 && o.due == 0 {
		found += " (none of it part of this plan)"
	}
	switch {
	case o.verification == verifiedComplete:
		return "; a scan afterwards found " + found
	case o.verification == verifiedIncomplete && r.Summary.Left+len(o.blocked) == 0:
		return "; the scan afterwards was incomplete, so what is left is not known"
	case o.verification == verifiedIncomplete:
		return "; an incomplete scan afterwards found " + found
	case o.verification == verifiedFailed:
		return "; the scan afterwards failed, so what is left is not known"
	case op.SkipVerification && !o.interrupted():
		return "; nothing was verified"
	}
	return ""
}

// printInterrupted prints, in every format, why a run ended early.
func (op *Operation) printInterrupted(o *runOutcome, r *result) {
	switch {
	case o.timedOut:
		fmt.Fprintf(op.Options.Scan.Err, "error: not finished within --timeout %s%s; %s\n", op.Options.Flags.runTimeout, stillThere(r), op.nextCommand(o))
	case o.interrupted() && o.dryRun:
		fmt.Fprintln(op.Options.Scan.Err, "interrupted: nothing was changed")
	case o.interrupted():
		fmt.Fprintf(op.Options.Scan.Err, "interrupted: only the steps above were done%s; %s\n", stillThere(r), op.nextCommand(o))
	}
}

// nextCommand returns what does the rest of an interrupted run.
func (op *Operation) nextCommand(o *runOutcome) string {
	switch {
	case op.LeavesRestToCollector && o.due > 0:
		return CommandName + " collect does the rest"
	case op.LeavesRestToCollector:
		return "the cluster's garbage collector continues with the rest"
	}
	return "run the command again to continue"
}

var deletionIncomplete = reason.CodeOf(reason.DeletionIncomplete{})

// stillThere names the objects whose deletion this run started and did not see completed.
func stillThere(r *result) string {
	var names []string
	for _, s := range r.Steps {
		if s.Status == event.Done && s.Result.Code == deletionIncomplete {
			names = append(names, escape.Short(s.Object.String()+" "+s.Result.Message, 200))
		}
	}
	switch more := len(names) - 1; more {
	case -1:
		return ""
	case 0:
		return ": " + names[0]
	default:
		return fmt.Sprintf(": %s (and %d more)", names[0], more)
	}
}

// maxNamedLeft is how many blocked objects a summary names.
const maxNamedLeft = 5

// foundLeft returns what is left and what is blocked, as a part of a sentence.
func foundLeft(more int, blocked []plan.Blocked) string {
	found := "nothing left to do"
	if more > 0 {
		found = fmt.Sprintf("%d more to do", more)
	}
	if len(blocked) == 0 {
		return found
	}
	names := make([]string, len(blocked))
	for i, b := range blocked {
		names[i] = escape.Short(b.Object.String(), 200)
	}
	return fmt.Sprintf("%s, and %d blocked: %s", found, len(blocked), wording.List(names, maxNamedLeft))
}
