package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/planview"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// runOutcome is how a run ended.
type runOutcome struct {
	job          Job
	facts        exitFacts
	plan         *plan.Plan
	done         *execute.RunResult // nil if there was nothing to do
	backup       string             // the folder; empty if there is no backup
	denied       []object.Identity  // that the plan deletes, and the user may not create again
	unidentified bool               // see RunBackup
	gone         int                // how many of the objects that the plan deletes
	took         time.Duration
	gaps         []snapshot.Gap  // of the last scan
	left         *plan.Plan      // of the scan after the run; nil if there was none
	blocked      []plan.Blocked  // by the last scan
	broken       []plan.Breakage // what it took from users that are left
}

// newOutcome returns the outcome of a run that has done nothing yet.
func newOutcome(j Job, p *plan.Plan) runOutcome {
	return runOutcome{job: j, plan: p, gaps: p.Gaps, facts: exitFacts{
		dryRun: j.Options.DryRun, refused: len(p.KeptByAdmission), strict: j.Options.Scan.Strict, complete: p.CompleteButAccepted(), verification: verifiedNone,
	}}
}

// accepted returns what the API server answered to the dry runs of the requests that a run sends itself.
func (o *runOutcome) accepted(done int) string {
	sent, what := 0, "step"
	for i := range o.plan.Steps {
		if !o.job.LeavesRestToCollector || o.plan.Steps[i].Requested {
			sent++
		}
	}
	switch {
	case o.job.LeavesRestToCollector && sent == 0 && o.facts.refused > 0:
		return "The API server would refuse it."
	case o.job.LeavesRestToCollector:
		what = "request"
	}
	text := fmt.Sprintf("The API server would accept %d of %s", done, wording.Count(sent, what))
	if o.facts.refused > 0 {
		text += fmt.Sprintf(", and refuse %s that would follow", wording.Count(o.facts.refused, "deletion"))
	}
	return text + "."
}

// dryRun reports whether this is the outcome of a server-side dry run.
func (o *runOutcome) dryRun() bool { return o.facts.dryRun == dryRunServer }

// interrupted reports whether some steps were not completed.
func (o *runOutcome) interrupted() bool { return o.facts.interrupted || o.facts.timedOut }

// result is the JSON document of a run: the plan's steps, and how each ended.
type result struct {
	Mode     plan.Mode       `json:"mode"`
	DryRun   bool            `json:"dryRun"`
	Complete bool            `json:"complete"` // of the scan that the plan was made from
	Digest   string          `json:"digest"`
	Backup   string          `json:"backup"` // the folder; empty if there is no backup
	Summary  summary         `json:"summary"`
	Steps    []resultStep    `json:"steps"`
	Blocked  []plan.Blocked  `json:"blocked"`          // by the scan after the run
	Broken   []plan.Breakage `json:"broken,omitempty"` // what is gone, and who has lost it
	Left     []left          `json:"left"`             // the steps of a plan of that scan

	Verification verification   `json:"verification"` // what the scan after the run proves
	Gaps         []snapshot.Gap `json:"gaps"`         // of the last scan
}

type summary struct {
	Done    int `json:"done"`
	Skipped int `json:"skipped"`
	Failed  int `json:"failed"`
	Blocked int `json:"blocked"`
	Left    int `json:"left"`
	Deleted int `json:"deleted"` // objects that are gone
}

// resultStep is a step of the plan, with its reason, and how it ended.
type resultStep struct {
	plan.StepDocument
	Status event.Status   `json:"status"`
	Result *reason.Reason `json:"result,omitempty"` // why it ended so; nil if there is nothing to explain
}

type left struct {
	Action string           `json:"action"`
	Object plan.ObjectState `json:"object"`
	*reason.Reason
}

func (o *runOutcome) result() *result {
	r := &result{
		Mode: o.plan.Mode, DryRun: o.dryRun(), Complete: o.plan.Complete, Digest: o.plan.Digest(), Backup: o.backup,
		Steps: []resultStep{}, Blocked: append([]plan.Blocked{}, o.blocked...), Broken: o.broken, Left: []left{},
		Verification: o.facts.verification, Gaps: append([]snapshot.Gap{}, o.gaps...),
	}
	for i := range o.plan.Steps {
		s, ended := &o.plan.Steps[i], o.done.Results[i]
		if ended.Status == "" {
			ended.Status, ended.Reason = event.Skipped, reason.LeftToCollector
		}
		r.Steps = append(r.Steps, resultStep{s.Document(), ended.Status, ended.Reason})
		switch ended.Status {
		case event.Done:
			r.Summary.Done++
		case event.Skipped:
			r.Summary.Skipped++
		case event.Failed:
			r.Summary.Failed++
		}
	}
	if o.left != nil {
		for _, s := range o.left.Steps {
			r.Left = append(r.Left, left{string(s.Action), s.Object, s.Reason})
		}
	}
	r.Summary.Deleted = o.gone
	r.Summary.Blocked, r.Summary.Left = len(r.Blocked), len(r.Left)
	return r
}

// report prints how the run ended, and returns its exit code as an error.
func report(o runOutcome) error {
	r := o.result()
	o.facts.failed, o.facts.blocked = r.Summary.Failed, r.Summary.Blocked
	code := o.facts.code()
	if err := o.writeResult(r); err != nil { // printed here, because what follows is still due
		fmt.Fprintf(o.job.Options.Scan.Err, "error: write the result: %s\n", escape.Short(err.Error(), 2000))
		code = ExitUsage
	}
	o.printInterrupted(r)
	return code.OrNil()
}

// writeResult writes how the run ended in the format of -o.
func (o *runOutcome) writeResult(r *result) error {
	options := o.job.Options
	switch {
	case options.Output.Structured():
		return options.Output.Write("Result", r, r.done()...)
	case options.JSONLines():
		return options.Scan.WriteLine(struct {
			Event string `json:"event"`
			summary
			Backup       string       `json:"backup"`
			Verification verification `json:"verification"`
		}{"finished", r.Summary, o.backup, o.facts.verification})
	case o.done != nil:
		return o.printResult(r)
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
func (o *runOutcome) printResult(r *result) error {
	scan := o.job.Options.Scan
	out := scan.Text()
	if err := planview.Unfinished(out, o.plan, o.done.Results, scan.Palette()); err != nil {
		return err
	}
	if o.plan.Mode.Cascades() && !o.dryRun() && len(o.blocked) > 1 { // one is named below
		if err := planview.Blocked(out, o.blocked, scan.Palette()); err != nil {
			return err
		}
	}
	stuck := ""
	if object, why, ok := planview.Stuck(o.plan, o.blocked); ok && !o.dryRun() && o.gone < len(o.plan.LostObjects) {
		stuck = why + " Next: " + scan.Suggest("why", strings.ToLower(object.Kind)+"/"+object.Name, "-n", object.Namespace)
	}
	found := o.verificationLine(r, stuck)
	if slices.ContainsFunc(o.done.Results, func(e event.Result) bool { return e.Status == "" }) {
		found = "the cluster's garbage collector does the rest, and nothing was verified"
	}
	head, line := planview.RunSummary(o.plan, o.done.Results, o.gone, stuck, found, o.took)
	if head != "" {
		fmt.Fprintln(out, head)
	}
	for _, b := range o.broken {
		for _, user := range b.UsedBy {
			line += " " + escape.Line(user.Lost(b.Object)) + "."
		}
	}
	if o.dryRun() {
		line = fmt.Sprintf("%s Nothing was changed: dry run, digest %s.", o.accepted(r.Summary.Done), r.Digest)
	}
	if o.backup == "" && o.gone > 0 {
		line += " " + noUndo
	}
	if o.backup != "" && r.Summary.Done > 0 && slices.ContainsFunc(o.plan.Steps, func(s plan.Step) bool { return s.BacksUp() }) {
		line += " " + o.undo()
	}
	if line != "" {
		if _, err := fmt.Fprintln(out, strings.TrimSpace(line)); err != nil {
			return err
		}
	}
	if !o.interrupted() && r.Summary.Failed == 0 && r.Summary.Left > 0 && !o.job.LeavesRestToCollector {
		next := o.job.Options.rerunCommand()
		if o.plan.Mode.Cascades() { // the objects that it named are gone
			next = suggestCollect(o.job.Options, o.left)
		}
		fmt.Fprintf(scan.Err, "More to do, continue with: %s\n", next)
	}
	return nil
}

// verificationLine returns what the scan after the run found besides stuck, as the end of a sentence. That nothing is
// left to do is not said of a run that failed or has broken something.
func (o *runOutcome) verificationLine(r *result, stuck string) string {
	blocked := o.blocked
	if stuck != "" && len(blocked) == 1 {
		blocked = nil
	}
	found, nothing := foundLeft(r.Summary.Left, blocked), r.Summary.Left+len(blocked) == 0
	switch {
	case o.facts.verification == verifiedComplete && nothing && (stuck != "" || r.Summary.Failed+len(o.broken) > 0):
		return ""
	case o.facts.verification == verifiedComplete:
		return "a scan afterwards found " + found
	case o.facts.verification == verifiedIncomplete && nothing:
		return "the scan afterwards was incomplete, so more may be left"
	case o.facts.verification == verifiedIncomplete:
		return "an incomplete scan afterwards found " + found
	case o.facts.verification == verifiedFailed:
		return "the scan afterwards failed, so more may be left"
	case o.job.SkipVerification && !o.interrupted():
		return "nothing was verified"
	}
	return ""
}

// printInterrupted prints, in every format, why a run ended early.
func (o *runOutcome) printInterrupted(r *result) {
	stderr := o.job.Options.Scan.Err
	switch {
	case o.facts.timedOut:
		fmt.Fprintf(stderr, "error: not finished within --timeout %s%s; %s\n", o.job.Options.runTimeout, stillThere(r), o.nextCommand())
	case o.interrupted() && o.dryRun():
		fmt.Fprintln(stderr, "interrupted: nothing was changed")
	case o.interrupted():
		fmt.Fprintf(stderr, "interrupted: %d of %d steps were done%s; %s\n", r.Summary.Done, len(r.Steps), stillThere(r), o.nextCommand())
	}
}

// suggestCollect returns a preview of the collection that does the rest of a plan, nil for an
// unknown one. It is as narrow as can be: one namespace if everything left is in one.
func suggestCollect(o *MutatingOptions, left *plan.Plan) string {
	words := []string{"collect", "--dry-run"}
	if left != nil && len(left.Steps) > 0 {
		namespace := left.Steps[0].Object.Namespace
		if !slices.ContainsFunc(left.Steps, func(s plan.Step) bool { return s.Object.Namespace != namespace }) && namespace != "" {
			words = append(words, "-n", namespace)
		} else {
			words = append(words, "-A")
		}
	}
	return o.Scan.Suggest(words...)
}

// nextCommand returns what does the rest of an interrupted run.
func (o *runOutcome) nextCommand() string {
	switch {
	case o.job.LeavesRestToCollector && o.facts.left > 0:
		return "preview the rest: " + suggestCollect(o.job.Options, o.left)
	case o.job.LeavesRestToCollector:
		return "the cluster's garbage collector continues with the rest"
	}
	return "run the command again to continue"
}

// stillThere names the objects whose deletion this run started but did not see completed. A restoration
// deletes nothing, so its steps are left out.
func stillThere(r *result) string {
	var names []string
	for _, s := range r.Steps {
		if s.Status == event.Done && s.Result != nil && s.Action != plan.ActionCreate && s.Action != plan.ActionLink {
			names = append(names, escape.Short(s.Object.String()+" "+s.Result.Message(), 200))
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
	var found []string
	if more > 0 {
		found = append(found, fmt.Sprintf("%d more to do", more))
	}
	if len(blocked) > 0 {
		objects := make([]object.Identity, len(blocked))
		for i, b := range blocked {
			objects[i] = b.Object
		}
		found = append(found, fmt.Sprintf("%d blocked: %s", len(blocked), NameList(objects, maxNamedLeft)))
	}
	return cmp.Or(strings.Join(found, " and "), "nothing left to do")
}
