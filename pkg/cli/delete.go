package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

type deleteFlags struct {
	*changing
	accepting
	selector      string
	files         manifests
	all           bool
	ignoreMissing bool
	cascade       string
	clientSide    bool
	wait          bool
}

func newDelete(from *source) *cobra.Command {
	f := &deleteFlags{changing: newChanging("delete", from)}
	cmd := &cobra.Command{
		Use:   "delete (TYPE/NAME ... | TYPE -l SELECTOR | -f FILE)",
		Short: "Delete objects, after a look at all that goes with them",
		Long: `Delete objects, after a look at all that goes with them.

First it shows the blast radius: what goes, what stays and which other owner keeps
it, what only loses a reference, what holds the deletion up, and what nobody can
say because it could not be read. Then it asks, saves everything that goes, and
deletes. The cluster's own collector does the rest and is watched to its end;
where there is none, --client-side does its work from here.

--cascade says what becomes of dependents. It is always sent, so the default of a
type never applies:
  background  the object goes at once, its dependents after it (the default)
  foreground  its dependents go first, and the object last
  orphan      its dependents stay, without their reference to it

Exit codes: 0 done, and a complete scan found nothing left, 1 a step failed, or
something is left, blocked or not verified, 2 nothing to delete, 3 an incomplete
scan with --strict, 4 not confirmed, 130 interrupted.`,
		Example: examples(`
# What would go with a Deployment?
kubectl gc delete deployment/web -n shop --dry-run

# The same, and would the server let us?
kubectl gc delete deployment/web -n shop --dry-run=server

# Delete it, dependents first, and wait until all is gone
kubectl gc delete deployment/web -n shop --cascade=foreground

# Delete it and keep its Pods
kubectl gc delete deployment/web -n shop --cascade=orphan

# Every Job of an import, in all namespaces
kubectl gc delete jobs -l task=import -A

# A CustomResourceDefinition takes every object of its kind along: look first
kubectl gc delete crd/redises.cache.example.com --dry-run

# Exactly what a preview has shown, without a terminal
kubectl gc delete deployment/web -n shop --confirm 5f2a9c41d07e9b12

# In a cluster without a collector
kubectl gc delete deployment/web -n shop --client-side`),
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: f.completeTargets,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.read(cmd, args); err != nil {
				return err
			}
			if err := f.accepting.validate(); err != nil {
				return err
			}
			chosen, err := f.choose(cmd.Context(), args)
			if err != nil {
				return err
			}
			return f.run(cmd.Context(), chosen)
		},
	}
	f.changing.addFlags(cmd)
	flags := cmd.Flags()
	f.accepting.addFlags(flags)
	flags.StringVarP(&f.selector, "selector", "l", "", "delete the objects of a type that have these labels")
	flags.BoolVar(&f.all, "all", false, "delete all objects of a type")
	f.files.addFlags(flags)
	flags.BoolVar(&f.ignoreMissing, "ignore-not-found", false, "take what does not exist for deleted")
	flags.StringVar(&f.cascade, "cascade", "background", "what becomes of dependents: "+strings.Join(cascades, ", "))
	flags.BoolVar(&f.clientSide, "client-side", false, "do the collector's work from here, in a cluster that has none or whose own is broken")
	flags.BoolVar(&f.wait, "wait", true, "follow the cluster's own collector until all is gone")
	f.completeFlags(cmd)
	return cmd
}

// cascades are the values of --cascade.
var cascades = []string{"background", "foreground", "orphan"}

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
func (f *deleteFlags) run(ctx context.Context, c *choice) error {
	var targets []graph.Node
	foresee := func(missing bool) planFunc {
		return func(ctx context.Context, p *planned) (err error) {
			if targets, err = f.seek(p.graph, c, missing); err != nil {
				return err
			}
			return f.foresee(ctx, p, targets)
		}
	}
	a := &act{
		changing: f.changing, scope: f.scope(c), others: !f.clientSide, foresee: foresee(true), accepted: f.accepted(),
	}
	if err := a.prepare(ctx, foresee(f.ignoreMissing)); err != nil {
		return err
	}
	a.suppose = func(accepted snapshot.AcceptedGaps) (*plan.Plan, error) {
		return f.making(a.graph, targets, accepted), nil
	}
	a.notes = f.defaults(a.graph, targets)
	if !a.plan.Complete {
		a.notes = append(a.notes, "Not everything could be read: what depends on these objects from there is not foretold, and goes all the same.")
	}
	a.perform, a.left, a.unverified = f.perform(a), f.left(a), !f.clientSide && !f.wait
	return a.run(ctx)
}

// wanted names what nothing was found of.
func (f *deleteFlags) wanted(c *choice) string {
	types := make([]string, len(c.targets))
	for i, t := range c.targets {
		types[i] = quoted(t.word)
	}
	said := strings.Join(types, ", ")
	if f.selector != "" {
		said += " with labels " + quoted(f.selector)
	}
	if c.namespace != "" {
		said += " in namespace " + quoted(c.namespace)
	}
	return said
}
