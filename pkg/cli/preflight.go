package cli

import (
	"context"
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/print/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/print/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// rightsPage is where the rights are that each command needs.
const rightsPage = "https://github.com/kubectl-gc/kubectl-gc/blob/main/docs/rbac.md"

// lacking is a right that a run needs and that the server refuses.
type lacking struct {
	reason.NotPermitted
	objects []object.Identity
}

// preflight asks which rights that the plan needs the server refuses, and says so. A
// rehearsal finds out by itself.
func (a *act) preflight(ctx context.Context) []lacking {
	if a.live == nil || a.dryRun == dryRunServer || len(a.plan.Steps) == 0 || a.strict && !a.plan.CompleteButAccepted() {
		return nil
	}
	needs, samples := a.needs(), a.plan.Samples()
	if a.others {
		samples = nil // the references are theirs to change
	}
	rights := make([]cluster.Right, 0, len(needs)+len(samples))
	for _, n := range needs {
		rights = append(rights, cluster.Right(n))
	}
	for _, s := range samples {
		rights = append(rights, cluster.Right{Verb: "delete", Objects: []object.Identity{s.Object.Identity}})
	}
	grants := a.live.Rights(ctx, a.seen, rights)
	var lacks []lacking
	var untold []string
	for i, n := range needs {
		g := grants[i]
		right := reason.NotPermitted{Verb: n.Verb, Type: g.Type.String(), Namespace: n.Objects[0].Namespace}
		switch {
		case len(g.Refused) > 0:
			lacks = append(lacks, lacking{right, g.Refused})
		case g.Untold != nil:
			untold = append(untold, fmt.Sprintf("%s (%s)", escape.Short(right.Right(), 500), escape.Short(g.Untold.Error(), 300)))
		}
	}
	if len(lacks) == 0 && a.acts() {
		lacks = a.try(ctx, samples, grants[len(needs):])
	}
	if ctx.Err() == nil {
		a.tellRights(lacks, untold)
	}
	return lacks
}

// needs are the rights that a run of the plan uses.
func (a *act) needs() []plan.Need {
	var read []object.Identity
	if saved := a.plan.Saved(); !a.noBackup && len(saved) > 0 {
		read = cluster.Singly(a.seen, saved)
	}
	return a.plan.Needs(a.others, read)
}

// How many rights, and objects for each, are named.
const mostRights, mostNeeding = 20, 3

func (a *act) tellRights(lacks []lacking, untold []string) {
	for _, l := range lacks[:min(len(lacks), mostRights)] {
		names := make([]string, len(l.objects))
		for i, o := range l.objects {
			names[i] = escape.Short(o.String(), 200)
		}
		line := "warning: you may not " + escape.Short(l.Right(), 500) + ", which is needed for " + phrase.List(names, mostNeeding)
		if l.Failure != nil {
			line += ": " + escape.Short(l.Failure.Text(), 2000)
		}
		fmt.Fprintln(a.Err, line)
	}
	if more := len(lacks) - mostRights; more > 0 {
		fmt.Fprintf(a.Err, "warning: %s more that are needed you do not have\n", phrase.Count(more, "right"))
	}
	if len(untold) > 0 {
		fmt.Fprintf(a.Err, "warning: whether you may do all of it is not known until it is done: %s\n", phrase.List(untold, 1))
	}
	if len(lacks) > 0 && !a.acts() {
		fmt.Fprintf(a.Err, "hint: a run would change nothing, as the server would refuse part of it; %s\n", rightsHint)
	}
}

const rightsHint = "the rights that it takes are listed in " + rightsPage

// unsent ends a run before it begins, as part of it would be refused.
func (a *act) unsent(lacks []lacking) error {
	why := map[object.Identity]reason.Reason{}
	for _, l := range lacks {
		for _, o := range l.objects {
			why[o] = l.NotPermitted
		}
	}
	of := map[string]reason.Reason{} // by step
	for i := range a.plan.Outcomes {
		if o := &a.plan.Outcomes[i]; o.Follows != "" && why[o.Object] != nil {
			of[o.Follows] = why[o.Object]
		}
	}
	done := &execute.Report{Results: make([]execute.Result, len(a.plan.Steps))}
	for i := range a.plan.Steps {
		s := &a.plan.Steps[i]
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
	fmt.Fprintln(a.Err, "error: the server would refuse part of this plan: nothing was changed")
	fmt.Fprintln(a.Err, "hint: "+rightsHint)
	return err
}
