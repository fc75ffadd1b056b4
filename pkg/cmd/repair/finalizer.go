package repair

import (
	"context"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// notWithFinalizer are the flags that select more than one object, or references.
var notWithFinalizer = []string{"selector", "rule", "fix", "reference", "all-namespaces"}

// removeFinalizer removes the finalizer of --finalizer from the one target, which is being deleted.
func (c *repairCommand) removeFinalizer(ctx context.Context, args []string) error {
	if err := cli.RefuseFlags(c.given, "--finalizer cannot be combined with --%s: it removes one finalizer from one object", notWithFinalizer...); err != nil {
		return err
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
	if c.selection, err = c.options.Scan.Select(targets, ""); err != nil {
		return err
	}
	scope, err := c.selection.CascadeScope(ctx, c.options.Scan)
	if err != nil {
		return err
	}
	job := cli.Job{Options: c.options, Scope: scope, Plan: c.planRemoval, Remaining: planAfterRemoval, LeavesRestToCollector: true}
	seen, err := cli.Scan(ctx, job)
	if err != nil {
		return err
	}
	if err := c.checkFinalizer(seen.Graph()); err != nil {
		return err
	}
	now, err := cli.Plan(ctx, job, seen)
	if err != nil {
		return err
	}
	var notes []string
	if !now.Plan.Complete {
		notes = append(notes, "The scan is incomplete: unread dependents of this object are not predicted, and are deleted all the same.")
	}
	if traces := simulate.NewFinalizerTraces(now.Graph()).Of(c.finalizer); traces != nil && len(now.Plan.Steps) > 0 {
		notes = append(notes, escape.Sentence(traces.Sentence()+"."))
	}
	return cli.Run(ctx, job, now, notes...)
}

// checkFinalizer returns an error unless one object is selected that is being deleted and has the finalizer.
func (c *repairCommand) checkFinalizer(g *graph.Graph) error {
	found := graph.NewSet(g)
	if err := c.selection.Find(g, found); err != nil {
		return err
	}
	nodes := found.Nodes()
	if len(nodes) != 1 {
		return cli.WithHint(cli.Usagef("%s names %d objects: --finalizer changes only one", cli.Quote(c.selection.Targets[0].String()), len(nodes)), "use -n to choose its namespace")
	}
	n, o := nodes[0], g.Object(nodes[0])
	name, finalizer := cli.Quote(o.String()), cli.Quote(c.finalizer)
	switch {
	case int(n) >= g.Listed():
		return cli.WithHint(cli.Usagef("%s was not listed, so what its deletion causes cannot be predicted", name), "the garbage collector does not watch its type, or you may not list it")
	case o.Contested:
		return cli.Usagef("%s has the same UID as another object, so it is not changed", name)
	case o.IsNamespace() && c.finalizer == object.NamespaceFinalizer:
		return cli.WithCommandHint(cli.Usagef("%s is not in the metadata of %s: the namespace controller removes it from the spec when the namespace is empty", finalizer, name),
			"%s shows what it waits for", "why", "namespace/"+o.Name)
	case !slices.Contains(o.Finalizers, c.finalizer):
		return cli.WithHint(cli.Usagef("%s has no finalizer %s", name, finalizer), otherFinalizers(o))
	case c.finalizer == simulate.DefinitionFinalizer && o.IsCRD():
		return cli.WithCommandHint(cli.Usagef("%s keeps %s until all its objects are deleted: without it they would stay in storage, where nobody can read them", name, finalizer),
			"%s shows which object it waits for", "why", "customresourcedefinition/"+o.Name)
	case !o.Terminating():
		return cli.WithCommandHint(cli.Usagef("%s is not being deleted: its finalizer %s holds nothing", name, finalizer), "%s shows what would be deleted with it", "delete", c.selection.Targets[0].String(), "-n", o.Namespace, "--dry-run")
	}
	return nil
}

// otherFinalizers returns which finalizers an object has, as a hint.
func otherFinalizers(o *object.Object) string {
	if len(o.Finalizers) == 0 {
		return "it has no finalizers"
	}
	names := make([]string, len(o.Finalizers))
	for i, name := range o.Finalizers {
		names[i] = escape.Short(name, 200)
	}
	return "its finalizers: " + wording.List(names, 5)
}

// planRemoval plans the removal from the object if it is still there.
func (c *repairCommand) planRemoval(_ context.Context, seen cli.Scanned, accepted snapshot.AcceptedGaps) (*plan.Plan, error) {
	found := graph.NewSet(seen.Graph())
	o := plan.FinalizerOptions(graph.None, "")
	if err := c.selection.Find(seen.Graph(), found); err == nil && len(found.Nodes()) == 1 {
		o = plan.FinalizerOptions(found.Nodes()[0], c.finalizer)
	}
	o.Accepted = accepted
	return plan.New(seen.Judge, o), nil
}

// planAfterRemoval plans what the garbage collector still has to do with the objects of the plan.
func planAfterRemoval(_ context.Context, done *plan.Plan, after cli.Scanned) (*plan.Plan, error) {
	return plan.Remaining(done, after.Judge, plan.Options{Actor: collector.ActorControllerManager}, false), nil
}
