package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

type deleteFlags struct {
	*changing
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

Exit codes: 0 done, 1 a step failed or something hangs, 2 nothing to delete,
3 an incomplete view with --strict, 4 not confirmed, 130 interrupted.`,
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
			chosen, err := f.choose(cmd.Context(), args)
			if err != nil {
				return err
			}
			return f.run(cmd.Context(), chosen)
		},
	}
	f.addFlags(cmd)
	flags := cmd.Flags()
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
	a := &act{changing: f.changing, scope: f.scope(c), others: !f.clientSide}
	targets, err := f.plan(ctx, a, c)
	if err != nil {
		return err
	}
	a.notes = f.defaults(a.graph, targets)
	if !a.plan.Complete {
		a.notes = append(a.notes, "Not everything could be read: what depends on these objects from there is not foretold, and goes all the same.")
	}
	a.perform, a.after = f.perform(a), f.after(a)
	a.renew = func(ctx context.Context) error { return f.renew(ctx, a, c) }
	return a.run(ctx)
}

// plan looks, finds what is to be deleted, and foresees what comes of that.
func (f *deleteFlags) plan(ctx context.Context, a *act, c *choice) (targets []graph.Node, err error) {
	if a.seen, a.live, err = f.look(ctx, a.scope); err != nil {
		return nil, err
	}
	a.graph = graph.New(a.seen)
	if targets, err = f.seek(a.graph, c); err != nil {
		return nil, err
	}
	if len(targets) == 0 && !f.ignoreMissing {
		return nil, &hinted{usagef("nothing matches: there is no %s", f.wanted(c)), called + " tree shows what is there"}
	}
	return targets, f.foresee(ctx, a, targets)
}

// renew looks again after the question was answered: what the cluster's own collector
// takes along it does not ask us about.
func (f *deleteFlags) renew(ctx context.Context, a *act, c *choice) error {
	shown := a.plan.Digest
	if _, err := f.plan(ctx, a, c); err != nil {
		return err
	}
	if a.plan.Digest != shown {
		return refuse(a.Streams, exitUnconfirmed, "while you were reading, the cluster has changed: something else would come of it now. Nothing was changed", "look again: "+a.again())
	}
	return nil
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
