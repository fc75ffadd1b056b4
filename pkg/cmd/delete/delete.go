package delete

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

type deleteFlags struct {
	options       *cli.MutatingOptions
	gaps          cli.GapFlags
	selector      string
	files         cli.ManifestFlags
	all           bool
	ignoreMissing bool
	cascade       string
	clientSide    bool
	wait          bool
}

func New(from *cli.ScanOptions) *cobra.Command {
	f := &deleteFlags{options: cli.NewMutatingOptions("delete", from)}
	cmd := &cobra.Command{
		Use:   "delete (TYPE/NAME ... | TYPE -l SELECTOR | -f FILE)",
		Short: "Delete objects, after a preview of everything that is deleted with them",
		Long: `Delete objects, after a preview of everything that is deleted with them.

First it shows which objects are deleted, which are kept and by which other owner,
which references are removed, what blocks the deletion, and what is unknown because
it could not be read. Then it asks, backs up what will be deleted, and deletes. The
cluster's garbage collector does the rest, and this command waits until it is done;
in a cluster without one, --client-side does its work.

--cascade determines what happens to dependents. It is always sent, so the default
of a type never applies:
  background  delete the object at once, its dependents after it (the default)
  foreground  delete its dependents first, the object last
  orphan      keep its dependents, without their reference to it

Exit codes: 0 done, and a complete scan found nothing left, 1 a step failed, or
something is left, blocked or not verified, 2 nothing to delete, 3 an incomplete
scan with --strict, 4 not confirmed, 130 interrupted.`,
		Example: cli.Examples(`
# Preview the deletion of a Deployment
kubectl gc delete deployment/web -n shop --dry-run

# Preview it, and ask the API server whether it would accept each step
kubectl gc delete deployment/web -n shop --dry-run=server

# Delete it, dependents first, and wait until everything is gone
kubectl gc delete deployment/web -n shop --cascade=foreground

# Delete it and keep its Pods
kubectl gc delete deployment/web -n shop --cascade=orphan

# Every Job of an import, in all namespaces
kubectl gc delete jobs -l task=import -A

# Deleting a CustomResourceDefinition deletes every object of its kind: preview first
kubectl gc delete crd/redises.cache.example.com --dry-run

# Run exactly what a preview showed, without a terminal
kubectl gc delete deployment/web -n shop --confirm 5f2a9c41d07e9b12

# In a cluster without a garbage collector
kubectl gc delete deployment/web -n shop --client-side`),
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: f.options.Scan.CompleteTargets,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.options.Complete(cmd, args); err != nil {
				return err
			}
			if err := f.gaps.Validate(); err != nil {
				return err
			}
			chosen, err := f.selectTargets(cmd.Context(), args)
			if err != nil {
				return err
			}
			return f.run(cmd.Context(), chosen)
		},
	}
	f.options.AddFlags(cmd)
	flags := cmd.Flags()
	f.gaps.AddFlags(flags)
	flags.StringVarP(&f.selector, "selector", "l", "", "delete the objects of a type that have these labels")
	flags.BoolVar(&f.all, "all", false, "delete all objects of a type")
	f.files.AddFlags(flags)
	flags.BoolVar(&f.ignoreMissing, "ignore-not-found", false, "treat objects that do not exist as deleted")
	flags.StringVar(&f.cascade, "cascade", "background", "what happens to dependents: "+strings.Join(cascades.Values(), ", "))
	flags.BoolVar(&f.clientSide, "client-side", false, "do the garbage collector's work, in a cluster that has none or whose own is broken")
	flags.BoolVar(&f.wait, "wait", true, "wait until the cluster's garbage collector has deleted everything")
	cli.CompleteFlag(cmd, "cascade", cli.CompleteOne(cascades.Described()...))
	f.options.Scan.CompleteFlags(cmd)
	return cmd
}

// cascades are the values of --cascade, with what they mean.
var cascades = cli.Choices{
	{"background", "delete the object at once, its dependents after it"},
	{"foreground", "delete its dependents first, the object last"},
	{"orphan", "keep its dependents, without their reference to it"},
}

func (f *deleteFlags) policy() metav1.DeletionPropagation {
	switch f.cascade {
	case "foreground":
		return metav1.DeletePropagationForeground
	case "orphan":
		return metav1.DeletePropagationOrphan
	}
	return metav1.DeletePropagationBackground
}

// run shows what would go, asks, and deletes it.
func (f *deleteFlags) run(ctx context.Context, c *selection) error {
	var targets []graph.Node
	foresee := func(missing bool) cli.PlanFunc {
		return func(ctx context.Context, p *cli.PlannedScan) (err error) {
			if targets, err = f.findTargets(p.Graph, c, missing); err != nil {
				return err
			}
			return f.planDeletion(ctx, p, targets)
		}
	}
	a := &cli.Operation{
		Options: f.options, Scope: f.scope(c), LeavesRestToCollector: !f.clientSide, Replan: foresee(true), AcceptedGaps: f.gaps.Accepted(),
	}
	if err := a.Prepare(ctx, foresee(f.ignoreMissing)); err != nil {
		return err
	}
	a.PlanAccepting = func(accepted snapshot.AcceptedGaps) (*plan.Plan, error) {
		return f.buildPlan(a.Current.Graph, targets, accepted), nil
	}
	a.Notes = f.defaults(a.Current.Graph, targets)
	if !a.Current.Plan.Complete {
		a.Notes = append(a.Notes, "The scan is incomplete: unread dependents of these objects are not predicted, and are deleted all the same.")
	}
	a.Perform, a.PlanRemaining, a.SkipVerification = f.perform(a), f.planRemaining(a), !f.clientSide && !f.wait
	return a.Run(ctx)
}

// wanted names what nothing was found of.
func (f *deleteFlags) wanted(c *selection) string {
	types := make([]string, len(c.targets))
	for i, t := range c.targets {
		types[i] = cli.Quote(t.Word)
	}
	said := strings.Join(types, ", ")
	if f.selector != "" {
		said += " with labels " + cli.Quote(f.selector)
	}
	if c.namespace != "" {
		said += " in namespace " + cli.Quote(c.namespace)
	}
	return said
}
