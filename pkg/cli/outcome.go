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
	done       *execute.Report // nil if there was nothing to do
	dryRun     bool            // a server-side dry run
	backup     string          // the folder; empty if there is no backup
	unrecorded bool            // the backup or its journal is incomplete
	took       time.Duration
	timedOut   bool
	cutShort   bool // interrupted by a signal

	verification verification
	gaps         []snapshot.Gap // of the last scan
	left         *plan.Plan     // of the scan after the run; nil if there was none
	due          int            // how many of its steps belong to this run
	blocked      []plan.Blocked // by the last scan
}

// interrupted reports whether some steps were not completed.
func (o *runOutcome) interrupted() bool { return o.cutShort || o.done != nil && o.done.Interrupted }

// exitFacts returns what decides the exit code.
func (o *runOutcome) exitFacts(r *result, dryRun string, strict bool) exitFacts {
	return exitFacts{
		dryRun: dryRun, strict: strict, complete: o.plan.CompleteButAccepted(),
		interrupted: o.cutShort || o.interrupted() && !o.timedOut, timedOut: o.timedOut,
		failed: r.Summary.Failed, left: o.due, blocked: r.Summary.Blocked,
		verification: o.verification, unrecorded: o.unrecorded,
	}
}

// result is the JSON document of a run: the plan's steps, and how each ended.
type result struct {
	Mode     plan.Mode            `json:"mode"`
	DryRun   bool                 `json:"dryRun"`
	Complete bool                 `json:"complete"` // of the scan that the plan was made from
	Digest   string               `json:"digest"`
	Backup   string               `json:"backup"` // the folder; empty if there is no backup
	Summary  summary              `json:"summary"`
	Steps    []resultStep         `json:"steps"`
	Blocked  []plan.StoredBlocked `json:"blocked"` // by the scan after the run
	Left     []left               `json:"left"`    // the steps of a plan of that scan

	Verification verification   `json:"verification"` // what the scan after the run proves
	Gaps         []snapshot.Gap `json:"gaps"`         // of the last scan
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
	Result reason.Stored `json:"result"` // why it ended so; without a code if there is nothing to explain
}

type left struct {
	Action string      `json:"action"`
	Object plan.Object `json:"object"`
	reason.Stored
}

func (o *runOutcome) result() *result {
	r := &result{
		Mode: o.plan.Mode, DryRun: o.dryRun, Complete: o.plan.Complete, Digest: o.plan.Digest, Backup: o.backup,
		Steps: []resultStep{}, Blocked: []plan.StoredBlocked{}, Left: []left{},
		Verification: o.verification, Gaps: append([]snapshot.Gap{}, o.gaps...),
	}
	for i := range o.blocked {
		r.Blocked = append(r.Blocked, o.blocked[i].Store())
	}
	all, results := o.allSteps()
	for i := range all.Steps {
		s := &all.Steps[i]
		ended := results[i]
		if ended.Status == "" {
			ended.Status, ended.Reason = event.Skipped, reason.LeftToCollector
		}
		r.Steps = append(r.Steps, resultStep{s.Store(), ended.Status, reason.Store(ended.Reason)})
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

// shownSteps is allSteps without the steps that are left to the garbage collector, and
// their number.
func (o *runOutcome) shownSteps() (shown *plan.Plan, results []planview.Result, others int) {
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

// allSteps returns the plan including the stale steps of a saved plan, and how each ended.
func (o *runOutcome) allSteps() (*plan.Plan, []planview.Result) {
	all := *o.plan
	var results []planview.Result
	if o.done != nil {
		for _, ended := range o.done.Results {
			results = append(results, planview.Result(ended))
		}
	}
	for _, s := range o.stale {
		all.Steps = append(slices.Clip(all.Steps), s.Step)
		results = append(results, refused(s))
	}
	return &all, results
}

// refused returns the result of a stale step.
func refused(s plan.Stale) planview.Result {
	return planview.Result{Step: s.Step.ID, Status: event.Failed, Reason: reason.StepRefused{Because: reason.Nested{Reason: s.Reason}}}
}
