package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/health"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/read"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/write"
	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

const rightsHint = "the required permissions are listed in https://github.com/kubectl-gc/kubectl-gc/blob/main/docs/rbac.md"

// warnOfRefusedWrites warns of writes of the plan, and of deletions that follow from them, that the API
// server refuses because of admission.
func warnOfRefusedWrites(ctx context.Context, s *ScanOptions, now Planned) {
	p := now.Plan
	var writes []snapshot.WriteRequest
	for _, lost := range p.LostObjects {
		if lost.By == nil || !lost.By.Object.IsCRD() || lost.By.Object.Identity == lost.Object { // instances are deleted without admission
			writes = append(writes, snapshot.WriteRequest{Object: lost.Object, Operation: "DELETE"})
		}
	}
	for i := range p.Steps {
		if step := &p.Steps[i]; step.Patch != nil {
			writes = append(writes, snapshot.WriteRequest{Object: step.Object.Identity, Operation: "UPDATE", Finalizer: step.Finalizer(), UnderWay: step.Patch.StateBefore.Terminating()})
		}
	}
	if len(p.Steps) == 0 || len(writes) == 0 {
		return
	}
	s.WarnOfWebhooks(health.Refusals(ctx, now.Cluster, now.Snapshot, writes))
}

// WarnOfWebhooks warns of what the API server refuses because of admission, and says what a person may do about it.
func (s *ScanOptions) WarnOfWebhooks(refusals []reason.WebhookRefuses) {
	for i, r := range refusals {
		fmt.Fprintf(s.Err, "warning: %s\n", escape.Sentence(r.Message()))
		if sentence, command := r.Remedy(); i+1 == len(refusals) || refusals[i+1].Configuration != r.Configuration {
			fmt.Fprintf(s.Err, "hint: %s: %s\n", escape.Sentence(sentence), s.SuggestKubectl(command[1:]...))
		}
	}
}

// deniedRight is a right that a run needs and that the API server denies for these objects.
type deniedRight struct {
	reason.NotPermitted
	objects []object.Identity
}

// preflight returns the rights that the plan needs and that the API server denies, and
// warns of them. A server-side dry run does not need it.
func preflight(ctx context.Context, j Job, now Planned) []deniedRight {
	o := j.Options
	if now.Cluster == nil || o.DryRun == dryRunServer || len(now.Plan.Steps) == 0 || o.Scan.Strict && !now.Plan.CompleteButAccepted() {
		return nil
	}
	var byName []object.Identity
	if saved := now.Plan.ObjectsToBackUp(); !o.NoBackup && len(saved) > 0 {
		byName = read.ByName(now.Snapshot, saved)
	}
	rights := now.Plan.Needs(j.LeavesRestToCollector, byName)
	needed := len(rights)
	var samples []*plan.Step
	if o.Mutates() && !j.LeavesRestToCollector { // otherwise this run changes no references
		samples = now.Plan.PreflightSamples()
	}
	for _, s := range samples {
		rights = append(rights, object.Right{Verb: "delete", Objects: []object.Identity{s.Object.Identity}})
	}
	grants := read.ReviewAccess(ctx, now.Cluster, now.Snapshot, rights)
	refused, unknown := refusals(rights[:needed], grants)
	if len(refused) == 0 {
		refused = dryRunSteps(ctx, now.Scanned, samples, grants[needed:])
	}
	if ctx.Err() != nil {
		return refused
	}
	o.Scan.warnOfRefusals(refused, unknown)
	if len(refused) > 0 && !o.Mutates() {
		fmt.Fprintf(o.Scan.Err, "hint: the API server would refuse part of a run; %s\n", rightsHint)
	}
	return refused
}

// RequireRights is preflight for an action that has no plan, such as taking a Lease. If the API server
// denies one of the rights, it names each and returns an error. A right that could not be reviewed
// only causes a warning.
func (s *ScanOptions) RequireRights(ctx context.Context, c *client.Client, seen *snapshot.Snapshot, what string, rights []object.Right) error {
	refused, unknown := refusals(rights, read.ReviewAccess(ctx, c, seen, rights))
	if ctx.Err() != nil {
		return ctx.Err()
	}
	s.warnOfRefusals(refused, unknown)
	if len(refused) == 0 {
		return nil
	}
	return Refuse(s.Streams, ExitFound, "the API server would not permit "+what+": nothing was changed", rightsHint)
}

// refusals returns the rights that are denied, and those that could not be reviewed as text.
func refusals(rights []object.Right, grants []read.Grant) (refused []deniedRight, unknown []string) {
	for i, r := range rights {
		g := grants[i]
		right := reason.NotPermitted{Verb: r.Verb, Type: g.Type.String(), Namespace: r.Objects[0].Namespace}
		switch {
		case len(g.Refused) > 0:
			refused = append(refused, deniedRight{right, g.Refused})
		case g.Unknown != nil:
			unknown = append(unknown, fmt.Sprintf("%s (%s)", escape.Short(right.Right(), 500), escape.Short(g.Unknown.Error(), 300)))
		}
	}
	return refused, unknown
}

// maxNamedRights and maxNamedObjects limit how many rights, and objects for each, the
// warning names.
const maxNamedRights, maxNamedObjects = 20, 3

func (s *ScanOptions) warnOfRefusals(refused []deniedRight, unknown []string) {
	for _, r := range refused[:min(len(refused), maxNamedRights)] {
		line := "warning: you are not allowed to " + escape.Short(r.Right(), 500) + ", which is needed for " + NameList(r.objects, maxNamedObjects)
		if r.Failure != nil {
			line += ": " + escape.Short(r.Failure.Text(), 2000)
		}
		fmt.Fprintln(s.Err, line)
	}
	if more := len(refused) - maxNamedRights; more > 0 {
		fmt.Fprintf(s.Err, "warning: you lack %s more\n", wording.Count(more, "right"))
	}
	if len(unknown) > 0 {
		fmt.Fprintf(s.Err, "warning: could not check all permissions before the run: %s\n", wording.List(unknown, 1))
	}
}

// maxDryRuns is how many steps the preflight sends as a dry run.
const maxDryRuns = 20

// dryRunSteps sends steps that change references to the API server as a dry run. The
// admission plugin OwnerReferencesPermissionEnforcement may refuse them to a user who may
// patch the object, but not delete it, or if the new reference blocks the deletion of its
// owner. The grants are those to delete the object of each step. An aggregated API is not asked: its server may carry out
// a dry run.
func dryRunSteps(ctx context.Context, seen Scanned, samples []*plan.Step, grants []read.Grant) []deniedRight {
	writer := write.New(seen.Cluster, seen.Snapshot, true)
	var sent []int
	for i, s := range samples {
		mayBeRefused := len(grants[i].Refused) > 0 || addsBlockingReference(s)
		if len(sent) < maxDryRuns && mayBeRefused && seen.Snapshot.ServedByKubernetes(seen.Graph().View(), s.Object.Identity) {
			sent = append(sent, i)
		}
	}
	refused, _ := client.InParallel(ctx, maxDryRuns, sent, func(i int) []deniedRight {
		s := samples[i]
		_, err := writer.Patch(ctx, seen.Graph().Object(s.Patch.Node), s.Patch.Change)
		var failed *client.RequestError
		if !errors.As(err, &failed) || failed.Reason != snapshot.Forbidden {
			return nil // the run will report it
		}
		right := reason.NotPermitted{
			Verb: "patch", Type: grants[i].Type.String(), Namespace: s.Object.Namespace,
			Failure: &reason.Failure{ErrorClass: string(failed.Reason), Detail: failed.Err.Error(), Hint: failed.Hint()},
		}
		return []deniedRight{{right, []object.Identity{s.Object.Identity}}}
	})
	return slices.Concat(refused...) // the caller looks whether the context has ended
}

// addsBlockingReference reports whether the step points a reference that blocks the deletion
// of its owner at another owner.
func addsBlockingReference(s *plan.Step) bool {
	return slices.ContainsFunc(s.References, func(r plan.StepReference) bool { return r.Becomes != nil && r.Blocks() })
}

// refuseRun reports a run that does not start because the API server would deny a part of it.
func refuseRun(j Job, p *plan.Plan, refused []deniedRight) error {
	denied := map[object.Identity]*reason.Reason{}
	for _, r := range refused {
		for _, o := range r.objects {
			denied[o] = reason.Of(r.NotPermitted)
		}
	}
	byStep := map[string]*reason.Reason{}
	for i := range p.Outcomes {
		if o := &p.Outcomes[i]; o.Follows != "" && denied[o.Object] != nil {
			byStep[o.Follows] = denied[o.Object]
		}
	}
	r := newOutcome(j, p)
	r.done = &execute.RunResult{Results: make([]event.Result, len(p.Steps))}
	for i := range p.Steps {
		s := &p.Steps[i]
		why := cmp.Or(denied[s.Object.Identity], byStep[s.ID])
		r.done.Results[i] = event.Result{Status: event.Failed, Reason: why}
		if why == nil {
			r.done.Results[i] = event.Result{Status: event.Skipped, Reason: reason.OtherStepNotPermitted}
		}
	}
	err := report(r)
	fmt.Fprintln(j.Options.Scan.Err, "error: the API server would not permit part of this plan: nothing was changed")
	fmt.Fprintln(j.Options.Scan.Err, "hint: "+rightsHint)
	return err
}
