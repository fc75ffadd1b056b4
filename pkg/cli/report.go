package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/print/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/print/machine"
	"github.com/kubectl-gc/kubectl-gc/pkg/print/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/print/steps"
)

// outcome is how a run ended.
type outcome struct {
	plan      *plan.Plan
	stale     []plan.Stale
	done      *execute.Report // nil: there was nothing to do
	rehearsal bool
	backup    string // the folder; empty: none
	unclosed  bool   // the backup could not be brought to its end
	took      time.Duration
	timedOut  bool
	left      *plan.Plan     // made anew after the run; nil where nobody looked
	blocked   []plan.Blocked // what hangs, as the last look saw it
}

// interrupted says that not every step was seen to its end.
func (o *outcome) interrupted() bool { return o.done != nil && o.done.Interrupted }

// result is the plan's steps with what became of them: the machine's answer of a
// run.
type result struct {
	Mode     plan.Mode      `json:"mode"`
	DryRun   bool           `json:"dryRun"`
	Complete bool           `json:"complete"`
	Digest   string         `json:"digest"`
	Backup   string         `json:"backup"` // the folder; empty: none
	Summary  summary        `json:"summary"`
	Steps    []resultStep   `json:"steps"`
	Blocked  []plan.Blocked `json:"blocked"` // by a fresh look after the run
	Left     []left         `json:"left"`    // steps that a fresh look would take
}

type summary struct {
	Done    int `json:"done"`
	Skipped int `json:"skipped"`
	Failed  int `json:"failed"`
	Blocked int `json:"blocked"`
	Left    int `json:"left"`
}

type resultStep struct {
	plan.Step
	Status  event.Status `json:"status"`
	Message string       `json:"message"`
}

type left struct {
	Action string      `json:"action"`
	Object plan.Object `json:"object"`
	Reason string      `json:"reason"`
}

func (o *outcome) result() *result {
	r := &result{
		Mode: o.plan.Mode, DryRun: o.rehearsal, Complete: o.plan.Complete, Digest: o.plan.Digest, Backup: o.backup,
		Steps: []resultStep{}, Blocked: append([]plan.Blocked{}, o.blocked...), Left: []left{},
	}
	all, results := o.whole()
	for i, s := range all.Steps {
		r.Steps = append(r.Steps, resultStep{s, results[i].Status, results[i].Message})
	}
	for _, s := range r.Steps {
		switch s.Status {
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
	r.Summary.Blocked, r.Summary.Left = len(r.Blocked), len(r.Left)
	return r
}

// whole is the plan with the steps that were refused, and what became of each.
func (o *outcome) whole() (*plan.Plan, []steps.Result) {
	all := *o.plan
	var results []steps.Result
	if o.done != nil {
		for _, became := range o.done.Results {
			results = append(results, steps.Result(became))
		}
	}
	for _, s := range o.stale {
		all.Steps = append(slices.Clip(all.Steps), s.Step)
		results = append(results, refused(s))
	}
	return &all, results
}

func refused(s plan.Stale) steps.Result {
	return steps.Result{Step: s.Step.ID, Status: event.Failed, Message: "refused: " + s.Why}
}

// code is the exit code of a run.
func (o *outcome) code(r *result, strict bool) int {
	switch {
	case o.interrupted() && !o.timedOut:
		return exitInterrupted
	case strict && !r.Complete:
		return exitIncomplete
	case r.Summary.Failed > 0, !o.rehearsal && r.Summary.Blocked > 0, o.timedOut, o.unclosed:
		return exitFound
	}
	return exitDone
}

// jsonLines is the format in which events are told as they happen.
const jsonLines = "jsonl"

// writer chooses how the answer is written, before anything is asked; nil where
// it is for a person, or told line by line.
func (f *collectFlags) writer() (func(kind string, value any, named []object.Identity) error, error) {
	switch f.output {
	case "table":
		return nil, nil
	case jsonLines:
		if f.dryRun == dryRunClient {
			return nil, usagef("-o jsonl tells of a run: with --dry-run=client there is none")
		}
		return nil, nil
	}
	format, err := f.formats.ToPrinter(f.output, own["collect"]...)
	if err != nil {
		return nil, &usage{err: err}
	}
	return func(kind string, value any, named []object.Identity) error {
		return format.Print(f.Out, machine.NewDocument(kind, value, named...), f.OutTerm)
	}, nil
}

// readable says whether the answer is for a person.
func (f *collectFlags) readable() bool { return f.output == "table" }

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
		fmt.Fprintf(a.Err, "Act on exactly this: %s --confirm %s\n", again("collect", a.given), a.plan.Digest)
	}
	return nil
}

// report says how the run ended, and answers its exit code.
func (a *act) report(o outcome) error {
	r := o.result()
	code := status(o.code(r, a.strict))
	if err := a.answer(&o, r); err != nil { // said here, since the run is over all the same
		fmt.Fprintf(a.Err, "error: write the result: %s\n", escape.Short(err.Error(), 2000))
		code = exitUsage
	}
	a.tellCut(&o, r)
	if code == exitDone {
		return nil
	}
	return code
}

// answer writes how the run ended in the format that was asked for.
func (a *act) answer(o *outcome, r *result) error {
	switch {
	case a.write != nil:
		return a.write("Result", r, doneIn(r))
	case a.output == jsonLines:
		return json.NewEncoder(a.Out).Encode(struct {
			Event string `json:"event"`
			summary
			Backup string `json:"backup"`
		}{"finished", r.Summary, o.backup})
	case o.done != nil || len(o.stale) > 0:
		return a.tellResult(o, r)
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

// tellResult says it to a person.
func (a *act) tellResult(o *outcome, r *result) error {
	all, results := o.whole()
	if err := steps.Unfinished(a.Out, all, results, a.palette()); err != nil {
		return err
	}
	line := steps.Ran(all, results, o.took)
	switch {
	case o.rehearsal:
		line = fmt.Sprintf("The server would allow %d of %d steps. Nothing was changed: dry run, digest %s.", r.Summary.Done, len(r.Steps), r.Digest)
	case o.left != nil:
		line += "; a fresh look finds " + foundLeft(r.Summary.Left, o.blocked) + "."
	default:
		line += "."
	}
	if o.backup != "" && o.plan.Summary.Delete > 0 {
		line += " Saved in " + escape.Short(o.backup, 2000) + "."
	}
	if _, err := fmt.Fprintln(a.Out, line); err != nil {
		return err
	}
	if !o.interrupted() && r.Summary.Failed == 0 && r.Summary.Left > 0 {
		fmt.Fprintf(a.Err, "More to do: %s\n", again("collect", a.given, "plan"))
	}
	return nil
}

// tellCut says, whatever the format, why a run ended early.
func (a *act) tellCut(o *outcome, r *result) {
	switch {
	case o.timedOut:
		fmt.Fprintf(a.Err, "error: not everything was over within --timeout %s%s; running again continues\n", a.patience, stillThere(r))
	case o.interrupted() && o.rehearsal:
		fmt.Fprintln(a.Err, "interrupted: nothing was changed")
	case o.interrupted():
		fmt.Fprintf(a.Err, "interrupted: what is above was done, and nothing else%s; running again continues\n", stillThere(r))
	}
}

// stillThere names what this run has deleted, and what has yet to go.
func stillThere(r *result) string {
	var names []string
	for _, s := range r.Steps {
		if s.Status == event.Done && s.Message != "" {
			names = append(names, escape.Short(s.Object.String()+" is "+s.Message, 200))
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

// mostLeft is how many of the objects that are left a sum names.
const mostLeft = 5

// foundLeft says what a look after the run found.
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
	return fmt.Sprintf("%s, and %d blocked: %s", found, len(blocked), phrase.List(names, mostLeft))
}
