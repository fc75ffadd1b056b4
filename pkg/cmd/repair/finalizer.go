package repair

import (
	"context"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/scan"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute/planrun"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// notWithFinalizer are the flags that select more than one object, or references.
var notWithFinalizer = []string{"selector", "rule", "fix", "reference", "all-namespaces"}

// finalizerRemoval removes one finalizer from one object that is being deleted.
type finalizerRemoval struct {
	options   *cli.MutatingOptions
	finalizer string
	selection cli.Selection
}

// removeFinalizer removes the finalizer of --finalizer from the one target.
func (c *repairCommand) removeFinalizer(ctx context.Context, args []string) error {
	for _, flag := range notWithFinalizer {
		if c.given(flag) {
			return cli.Usagef("--finalizer cannot be combined with --%s: it removes one finalizer from one object", flag)
		}
	}
	targets, err := cli.ParseTargets(args)
	switch {
	case err != nil:
		return err
	case len(targets) != 1 || targets[0].Name == "":
		return cli.WithHint(cli.Usagef("--finalizer needs exactly one TYPE/NAME"), "removing a finalizer skips the cleanup of its controller: decide about each object")
	case c.finalizer == object.ForegroundFinalizer || c.finalizer == object.OrphanFinalizer:
		return cli.WithCommandHint(cli.Usagef("%s is the garbage collector's own finalizer: it stays until the dependents are deleted or orphaned", c.finalizer), "%s previews that, and what removes it then", "collect", "--dry-run")
	}
	f := &finalizerRemoval{options: c.options, finalizer: c.finalizer}
	if f.selection, err = c.options.Scan.Select(targets, ""); err != nil {
		return err
	}
	op := &cli.Operation{Options: c.options, LeavesRestToCollector: true, Command: f}
	if err := op.Prepare(ctx); err != nil {
		return err
	}
	if !op.Current.Plan.Complete {
		op.Notes = append(op.Notes, "The scan is incomplete: unread dependents of this object are not predicted, and are deleted all the same.")
	}
	for _, s := range op.Current.Plan.Steps {
		if why, ok := s.Reason.(reason.FinalizerRemoval); ok && why.Traces != nil {
			op.Notes = append(op.Notes, escape.Sentence(why.Traces.Sentence()+"."))
		}
	}
	return op.Run(ctx)
}

// Scope returns the whole cluster, as dependents may be anywhere.
func (f *finalizerRemoval) Scope(served []snapshot.Type) (scan.Scope, error) {
	scope, err := f.selection.Scope(served)
	scope.Running = true
	if scope.Namespaces != nil {
		scope.Widen = scan.WidenAlways
	}
	return scope, err
}

// Plan plans the removal, and returns an error unless the object is being deleted and has the
// finalizer.
func (f *finalizerRemoval) Plan(ctx context.Context, p *cli.PlannedScan) error {
	found := graph.NewSet(p.Graph())
	if err := f.selection.Find(p.Graph(), found); err != nil {
		return err
	}
	nodes := found.Nodes()
	if len(nodes) != 1 {
		return cli.WithHint(cli.Usagef("%s names %d objects: --finalizer changes only one", cli.Quote(f.selection.Targets[0].String()), len(nodes)), "use -n to choose its namespace")
	}
	if err := f.check(p.Graph(), nodes[0]); err != nil {
		return err
	}
	return f.Replan(ctx, p)
}

// check returns why the finalizer cannot be removed from a node, or nil.
func (f *finalizerRemoval) check(g *graph.Graph, n graph.Node) error {
	o := g.Object(n)
	name, finalizer := cli.Quote(o.String()), cli.Quote(f.finalizer)
	switch {
	case int(n) >= g.Listed():
		return cli.WithHint(cli.Usagef("%s was not listed, so what its deletion causes cannot be predicted", name), "the garbage collector does not watch its type, or you may not list it")
	case o.Contested:
		return cli.Usagef("%s has the same UID as another object, so it is not changed", name)
	case o.IsNamespace() && f.finalizer == object.NamespaceFinalizer:
		return cli.WithCommandHint(cli.Usagef("%s is not in the metadata of %s: the namespace controller removes it from the spec when the namespace is empty", finalizer, name),
			"%s shows what it waits for", "why", "namespace/"+o.Name)
	case !slices.Contains(o.Finalizers, f.finalizer):
		return cli.WithHint(cli.Usagef("%s has no finalizer %s", name, finalizer), f.otherFinalizers(o))
	case f.finalizer == simulate.DefinitionFinalizer && o.IsCRD():
		return cli.WithCommandHint(cli.Usagef("%s keeps %s until all its objects are deleted: without it they would stay in storage, where nobody can read them", name, finalizer),
			"%s shows which object it waits for", "why", "customresourcedefinition/"+o.Name)
	case !o.Terminating():
		return cli.WithCommandHint(cli.Usagef("%s is not being deleted: its finalizer %s holds nothing", name, finalizer), "%s shows what would be deleted with it", "delete", f.selection.Targets[0].String(), "-n", o.Namespace, "--dry-run")
	}
	return nil
}

// otherFinalizers returns which finalizers an object has, as a hint.
func (f *finalizerRemoval) otherFinalizers(o *object.Object) string {
	if len(o.Finalizers) == 0 {
		return "it has no finalizers"
	}
	return "its finalizers: " + wording.List(escaped(o.Finalizers), 5)
}

func escaped(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = escape.Short(name, 200)
	}
	return out
}

// Replan plans the removal from the object if it is still there.
func (f *finalizerRemoval) Replan(_ context.Context, p *cli.PlannedScan) error {
	p.Plan = f.plan(p.Judge, nil)
	return nil
}

func (f *finalizerRemoval) plan(j *collector.Judge, accepted snapshot.AcceptedGaps) *plan.Plan {
	found := graph.NewSet(j.Graph())
	o := plan.FinalizerOptions(graph.None, "")
	if err := f.selection.Find(j.Graph(), found); err == nil && len(found.Nodes()) == 1 {
		o = plan.FinalizerOptions(found.Nodes()[0], f.finalizer)
	}
	o.Accepted = accepted
	return plan.New(j, o)
}

// PlanRemaining plans what the garbage collector still has to do with the objects of the plan.
func (f *finalizerRemoval) PlanRemaining(_ context.Context, done *plan.Plan, p *cli.PlannedScan) error {
	p.Plan = plan.Remaining(done, p.Judge, plan.Options{Actor: collector.ActorControllerManager}, false)
	return nil
}

// PlanAccepting returns the plan of the same removal.
func (f *finalizerRemoval) PlanAccepting(p *cli.PlannedScan, accepted snapshot.AcceptedGaps) (*plan.Plan, error) {
	return f.plan(p.Judge, accepted), nil
}

// Perform removes the finalizer.
func (f *finalizerRemoval) Perform(ctx context.Context, op *cli.Operation, b planrun.BackupWriter, o execute.Options) *execute.Report {
	return op.RunPlan(ctx, b, o)
}
