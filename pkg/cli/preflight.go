package cli

import (
	"context"
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/read"
	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// rightsPage is where the rights are that each command needs.
const rightsPage = "https://github.com/kubectl-gc/kubectl-gc/blob/main/docs/rbac.md"

// refusal is a right that a run needs and that the API server refuses.
type refusal struct {
	reason.NotPermitted
	objects []object.Identity
}

// preflight warns of the rights that the plan needs and that the API server refuses, and
// returns these. A server-side dry run finds out by itself.
func (a *Operation) preflight(ctx context.Context) []refusal {
	if a.Cluster == nil || a.Options.DryRun == dryRunServer || len(a.Plan.Steps) == 0 || a.Options.Scan.Strict && !a.Plan.CompleteButAccepted() {
		return nil
	}
	var rights []read.Right
	for _, n := range a.needs() {
		rights = append(rights, read.Right(n))
	}
	needed := len(rights)
	var samples []*plan.Step
	if a.Options.Mutates() && !a.LeavesRestToCollector { // else nobody changes references, or the cluster's own collector does
		samples = a.Plan.PreflightSamples()
	}
	for _, s := range samples {
		rights = append(rights, read.Right{Verb: "delete", Objects: []object.Identity{s.Object.Identity}})
	}
	grants := read.ReviewAccess(ctx, a.Cluster, a.Snapshot, rights)
	var refused []refusal
	var unknown []string
	for i, r := range rights[:needed] {
		g := grants[i]
		right := reason.NotPermitted{Verb: r.Verb, Type: g.Type.String(), Namespace: r.Objects[0].Namespace}
		switch {
		case len(g.Refused) > 0:
			refused = append(refused, refusal{right, g.Refused})
		case g.Unknown != nil:
			unknown = append(unknown, fmt.Sprintf("%s (%s)", escape.Short(right.Right(), 500), escape.Short(g.Unknown.Error(), 300)))
		}
	}
	if len(refused) == 0 {
		refused = a.tryAgainstServer(ctx, samples, grants[needed:])
	}
	if ctx.Err() == nil {
		a.warnOfRefusals(refused, unknown)
	}
	return refused
}

// needs returns the rights that a run of the plan uses.
func (a *Operation) needs() []plan.Need {
	var byName []object.Identity
	if saved := a.Plan.Saved(); !a.Options.NoBackup && len(saved) > 0 {
		byName = read.ByName(a.Snapshot, saved)
	}
	return a.Plan.Needs(a.LeavesRestToCollector, byName)
}

// How many rights, and objects for each, are named.
const mostRights, mostNeeding = 20, 3

func (a *Operation) warnOfRefusals(refused []refusal, unknown []string) {
	for _, r := range refused[:min(len(refused), mostRights)] {
		names := make([]string, len(r.objects))
		for i, o := range r.objects {
			names[i] = escape.Short(o.String(), 200)
		}
		line := "warning: you may not " + escape.Short(r.Right(), 500) + ", which is needed for " + wording.List(names, mostNeeding)
		if r.Failure != nil {
			line += ": " + escape.Short(r.Failure.Text(), 2000)
		}
		fmt.Fprintln(a.Options.Scan.Err, line)
	}
	if more := len(refused) - mostRights; more > 0 {
		fmt.Fprintf(a.Options.Scan.Err, "warning: you lack %s more\n", wording.Count(more, "right"))
	}
	if len(unknown) > 0 {
		fmt.Fprintf(a.Options.Scan.Err, "warning: could not check all permissions before the run: %s\n", wording.List(unknown, 1))
	}
	if len(refused) > 0 && !a.Options.Mutates() {
		fmt.Fprintf(a.Options.Scan.Err, "hint: a run would be refused, because the API server would not permit part of it; %s\n", rightsHint)
	}
}

const rightsHint = "the required permissions are listed in " + rightsPage

// refuseRun ends a run before it begins, since part of it would be refused.
func (a *Operation) refuseRun(refused []refusal) error {
	why := map[object.Identity]reason.Reason{}
	for _, r := range refused {
		for _, o := range r.objects {
			why[o] = r.NotPermitted
		}
	}
	of := map[string]reason.Reason{} // by step
	for i := range a.Plan.Outcomes {
		if o := &a.Plan.Outcomes[i]; o.Follows != "" && why[o.Object] != nil {
			of[o.Follows] = why[o.Object]
		}
	}
	done := &execute.Report{Results: make([]execute.Result, len(a.Plan.Steps))}
	for i := range a.Plan.Steps {
		s := &a.Plan.Steps[i]
		because := why[s.Object.Identity]
		if because == nil {
			because = of[s.ID]
		}
		done.Results[i] = execute.Result{Step: s.ID, Status: event.Failed, Reason: because}
		if because == nil {
			done.Results[i].Status, done.Results[i].Reason = event.Skipped, reason.OtherStepNotPermitted{}
		}
	}
	o := a.outcome()
	o.done = done
	err := a.report(o)
	fmt.Fprintln(a.Options.Scan.Err, "error: the API server would not permit part of this plan: nothing was changed")
	fmt.Fprintln(a.Options.Scan.Err, "hint: "+rightsHint)
	return err
}
