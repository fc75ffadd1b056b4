package cli

import (
	"cmp"
	"context"
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/print/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/print/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// rightsPage is where the rights are that each command needs.
const rightsPage = "https://github.com/kubectl-gc/kubectl-gc/blob/main/docs/rbac.md"

// refusal is a right that a run needs and that the API server refuses.
type refusal struct {
	verb    string
	what    string // the type and the namespace; escaped
	objects []object.Identity
	said    string // by the server, about a step that was tried; escaped
}

// message returns the refusal in a line; more comes before what the server said.
func (r *refusal) message(more string) string {
	line := "you may not " + r.verb + " " + r.what + more
	if r.said != "" {
		line += ": " + r.said
	}
	return line
}

// preflight warns of the rights that the plan needs and that the API server refuses, and
// returns these. A server-side dry run finds out by itself.
func (a *act) preflight(ctx context.Context) []refusal {
	if a.live == nil || a.dryRun == dryRunServer || len(a.plan.Steps) == 0 || a.strict && !a.plan.CompleteButAccepted() {
		return nil
	}
	var rights []cluster.Right
	for _, n := range a.needs() {
		rights = append(rights, cluster.Right(n))
	}
	needed := len(rights)
	var samples []*plan.Step
	if a.acts() && !a.others { // else nobody changes references, or the cluster's own collector does
		samples = a.plan.Samples()
	}
	for _, s := range samples {
		rights = append(rights, cluster.Right{Verb: "delete", Objects: []object.Identity{s.Object.Identity}})
	}
	grants := a.live.ReviewAccess(ctx, a.seen, rights)
	var refused []refusal
	var unknown []string
	for i, r := range rights[:needed] {
		switch g := grants[i]; {
		case len(g.Refused) > 0:
			refused = append(refused, refusal{verb: r.Verb, what: located(g.Type, r.Objects[0]), objects: g.Refused})
		case g.Unknown != nil:
			unknown = append(unknown, fmt.Sprintf("%s %s (%s)", r.Verb, located(g.Type, r.Objects[0]), escape.Short(g.Unknown.Error(), 300)))
		}
	}
	if len(refused) == 0 {
		refused = a.try(ctx, samples, grants[needed:])
	}
	if ctx.Err() == nil {
		a.warnOfRefusals(refused, unknown)
	}
	return refused
}

// located names a type, and the namespace of o.
func located(of snapshot.Type, o object.Identity) string {
	what := escape.Short(of.String(), 200)
	if o.Namespace != "" {
		what += " in namespace " + escape.Short(o.Namespace, 200)
	}
	return what
}

// needs returns the rights that a run of the plan uses.
func (a *act) needs() []plan.Need {
	var read []object.Identity
	if saved := a.plan.Saved(); !a.noBackup && len(saved) > 0 {
		read = cluster.Singly(a.seen, saved)
	}
	return a.plan.Needs(a.others, read)
}

// How many rights, and objects for each, are named.
const mostRights, mostNeeding = 20, 3

func (a *act) warnOfRefusals(refused []refusal, unknown []string) {
	for _, r := range refused[:min(len(refused), mostRights)] {
		names := make([]string, len(r.objects))
		for i, o := range r.objects {
			names[i] = escape.Short(o.String(), 200)
		}
		fmt.Fprintln(a.Err, "warning: "+r.message(", which is needed for "+phrase.List(names, mostNeeding)))
	}
	if more := len(refused) - mostRights; more > 0 {
		fmt.Fprintf(a.Err, "warning: %s more that are needed you do not have\n", phrase.Count(more, "right"))
	}
	if len(unknown) > 0 {
		fmt.Fprintf(a.Err, "warning: whether you may do all of it is not known until it is done: %s\n", phrase.List(unknown, 1))
	}
	if len(refused) > 0 && !a.acts() {
		fmt.Fprintf(a.Err, "hint: a run would change nothing, as the server would refuse part of it; %s\n", rightsHint)
	}
}

const rightsHint = "the rights that it takes are listed in " + rightsPage

// refuseRun ends a run before it begins, since part of it would be refused.
func (a *act) refuseRun(refused []refusal) error {
	why := map[object.Identity]string{}
	for i := range refused {
		for _, o := range refused[i].objects {
			why[o] = "not sent: " + refused[i].message("")
		}
	}
	whyStep := map[string]string{} // by the objects that follow from it
	for i := range a.plan.Outcomes {
		if o := &a.plan.Outcomes[i]; o.Follows != "" && why[o.Object] != "" {
			whyStep[o.Follows] = why[o.Object]
		}
	}
	o := a.outcome()
	o.done = &execute.Report{}
	for i := range a.plan.Steps {
		s := &a.plan.Steps[i]
		result := execute.Result{Step: s.ID, Status: event.Failed, Message: cmp.Or(why[s.Object.Identity], whyStep[s.ID])}
		if result.Message == "" {
			result.Status, result.Message = event.Skipped, "not sent, as another step would be refused"
		}
		o.done.Results = append(o.done.Results, result)
	}
	err := a.report(o)
	fmt.Fprintln(a.Err, "error: the server would refuse part of this plan: nothing was changed")
	fmt.Fprintln(a.Err, "hint: "+rightsHint)
	return err
}
