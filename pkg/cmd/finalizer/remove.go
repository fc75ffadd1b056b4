package finalizer

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

type removeCommand struct {
	options   *cli.MutatingOptions
	finalizer string
	selection cli.Selection // of the one object
}

func newRemove(scan *cli.ScanOptions) *cobra.Command {
	c := &removeCommand{options: cli.NewMutatingOptions("finalizer remove", scan)}
	cmd := &cobra.Command{
		Use:        "remove TYPE/NAME FINALIZER",
		SuggestFor: []string{"delete", "rm"},
		Short:      "Remove one finalizer from an object that is being deleted",
		Long: `Remove one finalizer from an object that is being deleted, when the controller
that should remove it is gone for good.

Its controller's cleanup is skipped: what it manages outside of the cluster may
stay. The preview shows what is deleted then: the object, its dependents, and
an owner or a namespace that waited for it. Then it asks, backs up what goes,
and removes the finalizer, only if the object has not changed since.

Exit codes: 0 done, and a complete scan found nothing left; 1 a step failed, or
something is left or not verified; 2 error: wrong usage, or the cluster cannot
be read; 3 incomplete scan with --strict; 4 not confirmed; 130 interrupted.`,
		Example: cli.Examples(`
# What holds it, and who should remove that?
kubectl gc stuck pvc/import-scratch -n shop

# Preview what the removal deletes
kubectl gc finalizer remove pvc/import-scratch example.com/hold -n shop --dry-run

# Run exactly what that showed, without a terminal
kubectl gc finalizer remove pvc/import-scratch example.com/hold -n shop --confirm 5f2a9c41d07e9b12`),
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: completeRemove(scan),
		RunE:              c.run,
	}
	c.options.AddFlags(cmd)
	c.options.AddMaxDeletesFlag(cmd.Flags())
	c.options.AddInUseFlag(cmd.Flags())
	c.options.AddAskFlag(cmd.Flags())
	return cmd
}

// completeRemove completes the object, and then one of its finalizers.
func completeRemove(scan *cli.ScanOptions) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		switch len(args) {
		case 0:
			return scan.CompleteTargets(cmd, args, typed)
		case 1:
			return scan.CompleteFinalizers(cmd, args, typed)
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}

func (c *removeCommand) run(cmd *cobra.Command, args []string) error {
	if err := c.options.Complete(cmd, args); err != nil {
		return err
	}
	switch len(args) {
	case 1: // an error will list the object's finalizers
	case 2:
		c.finalizer = args[1]
	default:
		return cli.WithHelp(cli.Usagef("name one object as TYPE/NAME, and one finalizer"), cmd.CommandPath())
	}
	ctx := cmd.Context()
	targets, err := cli.ParseTargets(args[:1])
	switch {
	case err != nil:
		return err
	case len(targets) != 1 || targets[0].Name == "":
		return cli.WithHint(cli.Usagef("%s is not TYPE/NAME", cli.Quote(args[0])), "removing a finalizer skips the cleanup of its controller: decide about each object")
	case c.options.Scan.AllNamespaces:
		return cli.WithHint(cli.Usagef("-A cannot be combined with TYPE/NAME: only one object is changed"), "use -n to choose its namespace")
	case c.finalizer == object.ForegroundFinalizer || c.finalizer == object.OrphanFinalizer:
		return cli.WithCommandHint(cli.Usagef("%s is the garbage collector's own finalizer: it stays until the dependents are deleted or orphaned", c.finalizer), "to preview that, and what removes it then", "collect", "--dry-run")
	}
	if c.selection, err = c.options.Scan.Select(targets, ""); err != nil {
		return err
	}
	scope, err := c.selection.CascadeScope(ctx, c.options.Scan)
	switch swapped, parseErr := cli.ParseTargets(args[len(args)-1:]); {
	case err != nil && len(args) == 2 && parseErr == nil && len(swapped) == 1 && swapped[0].Name != "":
		return cli.WithCommandHint(err, "the object comes before the finalizer", "finalizer", "remove", args[1], args[0], "-n", c.options.Scan.Config.Namespace())
	case err != nil:
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
	notes := cli.IncompleteNotes(now.Plan)
	if steps := now.Plan.Steps; len(steps) > 0 {
		if traces := simulate.NewFinalizerTraces(now.Graph()).Of(c.finalizer, steps[0].Object.Identity); traces != nil {
			notes = append(notes, escape.Sentence(traces.Sentence()+"."))
		}
	}
	return cli.Run(ctx, job, now, notes...)
}

// checkFinalizer returns an error unless one object is selected that is being deleted and has the finalizer.
func (c *removeCommand) checkFinalizer(g *graph.Graph) error {
	found := graph.NewSet(g)
	if err := c.selection.Find(g, found); err != nil {
		return err
	}
	nodes := found.Nodes()
	if len(nodes) != 1 {
		return cli.WithHint(cli.Usagef("%s names %d objects: only one is changed", cli.Quote(c.selection.Targets[0].String()), len(nodes)), "use -n to choose its namespace")
	}
	n, o := nodes[0], g.Object(nodes[0])
	name, finalizer := cli.Quote(o.String()), cli.Quote(c.finalizer)
	switch {
	case int(n) >= g.Listed():
		return cli.WithHint(cli.Usagef("%s was not listed, so this tool cannot predict its deletion", name), "the garbage collector does not watch its type, or you are not allowed to list it")
	case o.Contested:
		return cli.Usagef("%s has the same UID as another object, so it is not changed", name)
	case o.IsNamespace() && c.finalizer == object.NamespaceFinalizer:
		return cli.WithCommandHint(cli.Usagef("%s is not in the metadata of %s: the namespace controller removes it from the spec when the namespace is empty", finalizer, name),
			"what it waits for", "why", "namespace/"+o.Name)
	case c.finalizer == "":
		return cli.WithHint(cli.Usagef("name one finalizer of %s", name), otherFinalizers(o))
	case !slices.Contains(o.Finalizers, c.finalizer):
		return cli.WithHint(cli.Usagef("%s has no finalizer %s", name, finalizer), otherFinalizers(o))
	case c.finalizer == simulate.DefinitionFinalizer && o.IsCRD():
		return cli.WithCommandHint(cli.Usagef("%s keeps %s until all its objects are deleted: without it they would stay in storage, where nobody can read them", name, finalizer),
			"which object it waits for", "why", "customresourcedefinition/"+o.Name)
	case !o.Terminating():
		return cli.WithCommandHint(cli.Usagef("%s is not being deleted: its finalizer %s holds nothing", name, finalizer), "what would be deleted with it", "delete", c.selection.Targets[0].String(), "-n", o.Namespace, "--dry-run")
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
func (c *removeCommand) planRemoval(_ context.Context, seen cli.Scanned, accepted snapshot.AcceptedGaps) (*plan.Plan, error) {
	found := graph.NewSet(seen.Graph())
	node, finalizer := graph.None, ""
	if err := c.selection.Find(seen.Graph(), found); err == nil && len(found.Nodes()) == 1 {
		node, finalizer = found.Nodes()[0], c.finalizer
	}
	return plan.New(seen.Judge, plan.FinalizerPurpose(node, finalizer, accepted)), nil
}

// planAfterRemoval plans what the garbage collector still has to do with the objects of the plan.
func planAfterRemoval(_ context.Context, done *plan.Plan, after cli.Scanned) (*plan.Plan, error) {
	return plan.Remaining(done, after.Judge, simulate.Cluster, false), nil
}
