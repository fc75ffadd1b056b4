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

// report says how the run ended, and answers its exit code.
func (a *Operation) report(o runOutcome) error {
	r := o.result()
	code := o.ending(r, a.Options.Flags.DryRun, a.Options.Scan.Strict).code()
	if err := a.writeResult(&o, r); err != nil { // said here, since the run is over all the same
		fmt.Fprintf(a.Options.Scan.Err, "error: write the result: %s\n", escape.Short(err.Error(), 2000))
		code = ExitUsage
	}
	a.printInterrupted(&o, r)
	return code.OrNil()
}

// writeResult writes how the run ended in the format that was asked for.
func (a *Operation) writeResult(o *runOutcome, r *result) error {
	switch {
	case a.Options.writeDocument != nil:
		return a.Options.writeDocument("Result", r, doneIn(r))
	case a.Options.Output == jsonLines:
		return a.Options.Scan.writeLine(struct {
			Event string `json:"event"`
			summary
			Backup       string       `json:"backup"`
			Verification verification `json:"verification"`
		}{"finished", r.Summary, o.backup, o.verification})
	case o.done != nil || len(o.stale) > 0:
		return a.printResult(o, r)
	}
	return nil
}

func doneIn(r *result) []object.Identity {
	var out []object.Identity
	for _, s := range r.Steps {
		if s.Status == event.Done {
			out = append(out, s.Object.Identity)
		}
	}
	return out
}

// printResult says it to a person.
func (a *Operation) printResult(o *runOutcome, r *result) error {
	all, results, others := o.shownSteps()
	if err := planview.Unfinished(a.Options.Scan.Out, all, results, a.Options.Scan.Palette()); err != nil {
		return err
	}
	if o.plan.Mode == plan.Delete && !o.rehearsal {
		if err := planview.Held(a.Options.Scan.Out, o.blocked, a.Options.Scan.Palette()); err != nil {
			return err
		}
	}
	line := planview.Ran(all, results, o.took)
	switch {
	case o.rehearsal:
		line = fmt.Sprintf("The API server would accept %d of %d steps. Nothing was changed: dry run, digest %s.", r.Summary.Done, len(all.Steps), r.Digest)
	case others > 0:
		line += "; the cluster's garbage collector does the rest, and nothing was verified."
	default:
		line += a.verificationLine(o, r) + "."
	}
	if o.backup != "" && (o.plan.Summary.Delete > 0 || o.plan.Mode == plan.Repair) {
		line += " Undo: " + CommandName + " restore " + escape.Short(ShellCommand(o.backup), 2000)
	}
	if _, err := fmt.Fprintln(a.Options.Scan.Out, line); err != nil {
		return err
	}
	if !o.interrupted() && r.Summary.Failed == 0 && r.Summary.Left > 0 && !a.LeavesRestToCollector {
		next := a.Options.rerunCommand("plan")
		if o.plan.Mode == plan.Delete { // what it was asked for is gone
			next = CommandName + " collect"
		}
		fmt.Fprintf(a.Options.Scan.Err, "More to do, continue with: %s\n", next)
	}
	return nil
}

// verificationLine says what the scan after the run found, as the end of a sentence. It is
// empty where nothing was run.
func (a *Operation) verificationLine(o *runOutcome, r *result) string {
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
	case a.SkipVerification && !o.interrupted():
		return "; nothing was verified"
	}
	return ""
}

// printInterrupted says, whatever the format, why a run ended early.
func (a *Operation) printInterrupted(o *runOutcome, r *result) {
	switch {
	case o.timedOut:
		fmt.Fprintf(a.Options.Scan.Err, "error: not finished within --timeout %s%s; %s\n", a.Options.Flags.runTimeout, stillThere(r), a.nextCommand(o))
	case o.interrupted() && o.rehearsal:
		fmt.Fprintln(a.Options.Scan.Err, "interrupted: nothing was changed")
	case o.interrupted():
		fmt.Fprintf(a.Options.Scan.Err, "interrupted: only the steps above were done%s; %s\n", stillThere(r), a.nextCommand(o))
	}
}

// nextCommand says who takes up what a run has left.
func (a *Operation) nextCommand(o *runOutcome) string {
	switch {
	case a.LeavesRestToCollector && o.due > 0:
		return CommandName + " collect does the rest"
	case a.LeavesRestToCollector:
		return "the cluster's garbage collector continues with the rest"
	}
	return "run the command again to continue"
}

var deletionIncomplete = reason.CodeOf(reason.DeletionIncomplete{})

// stillThere names what this run has deleted, and what has yet to go.
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

// maxNamedLeft is how many of the objects that are left a sum names.
const maxNamedLeft = 5

// foundLeft says what a scan after the run found.
func foundLeft(more int, blocked []plan.Blocked) string {
	found := "nothing left to do"
	if more > 0 {
		found = fmt.Sprintf("%d more to do", more)
	}
	if len(blocked) == 0 {
		return found
	}
	return fmt.Sprintf("%s, and %d blocked: %s", found, len(blocked), named(blocked))
}

func named(blocked []plan.Blocked) string {
	names := make([]string, len(blocked))
	for i, b := range blocked {
		names[i] = escape.Short(b.Object.String(), 200)
	}
	return wording.List(names, maxNamedLeft)
}
