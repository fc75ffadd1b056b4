package cli

import (
	"slices"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/planview"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// runOutcome is how a run ended.
type runOutcome struct {
	plan       *plan.Plan
	stale      []plan.Stale
	done       *execute.Report // nil: there was nothing to do
	rehearsal  bool
	backup     string // the folder; empty: none
	unrecorded bool   // the backup or its journal could not be written to its end
	took       time.Duration
	timedOut   bool
	cutShort   bool // a signal came before the end

	verification verification
	gaps         []snapshot.Gap // of the last scan that there was
	left         *plan.Plan     // what the scan after the run would have done now; nil where there was none
	due          int            // how many steps of that are about what the run was about
	blocked      []plan.Blocked // what cannot be done, as the last scan saw it
}

// interrupted says that not every step was seen to its end.
func (o *runOutcome) interrupted() bool { return o.cutShort || o.done != nil && o.done.Interrupted }

// ending is what decides the exit code.
func (o *runOutcome) ending(r *result, dryRun string, strict bool) exitFacts {
	return exitFacts{
		dryRun: dryRun, strict: strict, complete: o.plan.CompleteButAccepted(),
		interrupted: o.cutShort || o.interrupted() && !o.timedOut, timedOut: o.timedOut,
		failed: r.Summary.Failed, left: o.due, blocked: r.Summary.Blocked,
		verification: o.verification, unrecorded: o.unrecorded,
	}
}

// remainingSteps counts the steps of left that are on objects of a plan, on what depends on
// these, and so on: what that plan began and did not end.
func remainingSteps(p, left *plan.Plan) int {
	known := map[string]bool{}
	for i := range p.Steps {
		known[string(p.Steps[i].Object.UID)] = true
	}
	for i := range p.Outcomes {
		known[string(p.Outcomes[i].Object.UID)] = true
	}
	n := 0
	for i := range left.Steps {
		s := &left.Steps[i]
		uid := string(s.Object.UID)
		if known[uid] || slices.ContainsFunc(s.OwnerUIDs, func(owner string) bool { return known[owner] }) {
			known[uid] = true
			n++
		}
	}
	return n
}

// result is the plan's steps with what became of them: the machine's answer of a
// run.
type result struct {
	Mode     plan.Mode            `json:"mode"`
	DryRun   bool                 `json:"dryRun"`
	Complete bool                 `json:"complete"` // of the scan that the plan was made from
	Digest   string               `json:"digest"`
	Backup   string               `json:"backup"` // the folder; empty: none
	Summary  summary              `json:"summary"`
	Steps    []resultStep         `json:"steps"`
	Blocked  []plan.StoredBlocked `json:"blocked"` // by the scan after the run
	Left     []left               `json:"left"`    // steps that a plan of that scan has

	Verification verification   `json:"verification"` // what the scan after the run proves
	Gaps         []snapshot.Gap `json:"gaps"`         // of the last scan that there was
}

type summary struct {
	Done    int `json:"done"`
	Skipped int `json:"skipped"`
	Failed  int `json:"failed"`
	Blocked int `json:"blocked"`
	Left    int `json:"left"`
}

// resultStep is a step of the plan, with its reason, and how it ended.
type resultStep struct {
	plan.StoredStep
	Status event.Status  `json:"status"`
	Result reason.Stored `json:"result"` // why it ended so; without a code where there is nothing to say
}

type left struct {
	Action string      `json:"action"`
	Object plan.Object `json:"object"`
	reason.Stored
}

func (o *runOutcome) result() *result {
	r := &result{
		Mode: o.plan.Mode, DryRun: o.rehearsal, Complete: o.plan.Complete, Digest: o.plan.Digest, Backup: o.backup,
		Steps: []resultStep{}, Blocked: []plan.StoredBlocked{}, Left: []left{},
		Verification: o.verification, Gaps: append([]snapshot.Gap{}, o.gaps...),
	}
	for i := range o.blocked {
		r.Blocked = append(r.Blocked, o.blocked[i].Store())
	}
	all, results := o.allSteps()
	for i := range all.Steps {
		s := &all.Steps[i]
		became := results[i]
		if became.Status == "" {
			became.Status, became.Reason = event.Skipped, reason.LeftToCollector{}
		}
		r.Steps = append(r.Steps, resultStep{s.Store(), became.Status, reason.Store(became.Reason)})
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
			r.Left = append(r.Left, left{string(s.Action), s.Object, reason.Store(s.Reason)})
		}
	}
	r.Summary.Blocked, r.Summary.Left = len(r.Blocked), len(r.Left)
	return r
}

// shownSteps is whole without the steps that nobody waited for, and how many these are.
func (o *runOutcome) shownSteps() (told *plan.Plan, results []planview.Result, others int) {
	all, ended := o.allSteps()
	kept := *all
	kept.Steps = nil
	for i, s := range all.Steps {
		if ended[i].Status == "" {
			others++
			continue
		}
		kept.Steps, results = append(kept.Steps, s), append(results, ended[i])
	}
	return &kept, results, others
}

// allSteps is the plan with the steps that were refused, and what became of each.
func (o *runOutcome) allSteps() (*plan.Plan, []planview.Result) {
	all := *o.plan
	var results []planview.Result
	if o.done != nil {
		for _, became := range o.done.Results {
			results = append(results, planview.Result(became))
		}
	}
	for _, s := range o.stale {
		all.Steps = append(slices.Clip(all.Steps), s.Step)
		results = append(results, refused(s))
	}
	return &all, results
}

func refused(s plan.Stale) planview.Result {
	return planview.Result{Step: s.Step.ID, Status: event.Failed, Reason: reason.StepRefused{Because: reason.Nested{Reason: s.Why}}}
}
