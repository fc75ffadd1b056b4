package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/print/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
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
			chosen, err := f.choose(args)
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

// choice is what a person wants to have deleted.
type choice struct {
	targets   []target
	selector  labels.Selector // nil: by name, or all of a type
	namespace string          // empty: all
	bound     bool            // -n names the namespace
	files     []manifest
}

// choose refuses what is no clear word about what to delete.
func (f *deleteFlags) choose(args []string) (*choice, error) {
	if !slices.Contains(cascades, f.cascade) {
		return nil, usagef("--cascade %s: say background, foreground or orphan", quoted(f.cascade))
	}
	c := &choice{}
	var err error
	if c.targets, err = parseTargets(args); err != nil {
		return nil, err
	}
	named := slices.IndexFunc(c.targets, func(t target) bool { return t.name != "" })
	switch {
	case len(c.targets) == 0 && !f.files.any():
		return nil, &hinted{usagef("nothing to delete was named"), "say TYPE/NAME, TYPE -l SELECTOR, or -f FILE"}
	case len(c.targets) > 0 && f.files.any(), f.files.any() && (f.selector != "" || f.all):
		return nil, usagef("-f says what to delete: it excludes targets, -l and --all")
	case f.selector != "" && f.all:
		return nil, usagef("-l and --all exclude each other")
	case named >= 0 && (f.selector != "" || f.all):
		return nil, usagef("-l and --all go with types, not with names")
	case named >= 0 && f.allNamespaces:
		return nil, &hinted{usagef("%s is one object, in one namespace: it cannot be deleted by name in all of them", quoted(c.targets[named].word+"/"+c.targets[named].name)), "name its namespace with -n"}
	case len(c.targets) > 0 && named < 0 && f.selector == "" && !f.all:
		return nil, &hinted{usagef("%s is a type: say which of its objects", quoted(c.targets[0].word)), "name them as TYPE/NAME, or say -l SELECTOR, or --all"}
	}
	if f.selector != "" {
		if c.selector, err = selecting(f.selector); err != nil {
			return nil, err
		}
	}
	if c.namespace, c.bound, err = f.namespace(); err != nil {
		return nil, err
	}
	c.files, err = f.files.read()
	return c, err
}

// scope is the whole cluster, as a dependent may be anywhere, and what was named,
// so that a type which cannot be listed is found too.
func (f *deleteFlags) scope(c *choice) scoped {
	return func(types []snapshot.Type) (cluster.Scope, error) {
		scope := cluster.Scope{Running: true, Labels: c.selector != nil, Widen: cluster.WidenAll}
		targets, err := resolve(c.targets, types)
		if err != nil {
			return scope, err
		}
		for _, t := range targets {
			if t.name != "" {
				scope.Targets = append(scope.Targets, t.at(c.namespace))
			}
		}
		return scope, nil
	}
}

// seek finds what is to be deleted in what was seen.
func (f *deleteFlags) seek(g *graph.Graph, c *choice) ([]graph.Node, error) {
	targets, err := resolve(c.targets, g.Snapshot().Types)
	if err != nil {
		return nil, err
	}
	found := graph.NewSet(g)
	for _, t := range targets {
		if err := find(g, []target{t}, c.namespace, found); err != nil && !(f.ignoreMissing && isAbsence(err)) {
			return nil, gone(err)
		}
	}
	for _, m := range c.files {
		if err := m.find(g, c.namespace, c.bound, found); err != nil && !(f.ignoreMissing && isAbsence(err)) {
			return nil, gone(err)
		}
	}
	var out []graph.Node
	for _, n := range found.Nodes() {
		o := g.Object(n)
		switch {
		case c.selector != nil && !c.selector.Matches(labels.Set(o.Labels)):
		case int(n) >= g.Listed():
			return nil, &hinted{usagef("%s is of a type that the collector does not watch: there is nothing to foresee", quoted(o.String())), "delete it with kubectl delete"}
		default:
			out = append(out, n)
		}
	}
	return out, nil
}

// gone adds where to ask after what is not there.
func gone(err error) error {
	if isAbsence(err) {
		return &hinted{err, "what is known of it: " + called + " why TYPE/NAME; to take what is not there for deleted, say --ignore-not-found"}
	}
	return err
}

// run shows what would go, asks, and deletes it.
func (f *deleteFlags) run(ctx context.Context, c *choice) error {
	a := &act{changing: f.changing, scope: f.scope(c), others: !f.clientSide}
	var err error
	if a.seen, a.live, err = f.look(ctx, a.scope); err != nil {
		return err
	}
	a.graph = graph.New(a.seen)
	targets, err := f.seek(a.graph, c)
	if err != nil {
		return err
	}
	if len(targets) == 0 && !f.ignoreMissing {
		return &hinted{usagef("nothing matches: there is no %s", f.wanted(c)), "kubectl gc tree shows what is there"}
	}
	if err := f.foresee(ctx, a, targets); err != nil {
		return err
	}
	a.notes = f.defaults(a.graph, targets)
	a.perform, a.after = f.perform(a), f.after(a)
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

// foresee makes the plan of a deletion: by the cluster's own collector, or by us.
// Where claims go, it first asks which Pods use them.
func (f *deleteFlags) foresee(ctx context.Context, a *act, targets []graph.Node) error {
	hand := collector.Theirs
	if f.clientSide {
		hand = collector.Ours
	}
	deletes := make([]collector.Deletion, len(targets))
	for i, n := range targets {
		deletes[i] = collector.Deletion{Node: n, Policy: f.policy()}
	}
	a.plan = plan.Make(a.graph, plan.Deletion(hand, deletes...))
	guarded := a.plan.Guarded()
	if a.live == nil || len(guarded) == 0 {
		return nil
	}
	seen, err := a.live.MarkClaims(ctx, a.seen, guarded)
	if err != nil {
		return err
	}
	a.seen, a.graph = seen, graph.New(seen) // of the same objects in the same order
	a.plan = plan.Make(a.graph, plan.Deletion(hand, deletes...))
	return nil
}

// defaults names the types of targets whose own default is another than the policy
// that is sent (gc-semantics 6.2).
func (f *deleteFlags) defaults(g *graph.Graph, targets []graph.Node) []string {
	var out []string
	for _, n := range targets {
		o := g.Object(n)
		of := collector.DefaultPolicy(o.Identity)
		if of == f.policy() || of != metav1.DeletePropagationOrphan {
			continue
		}
		said := fmt.Sprintf("A DELETE of a %s that names no policy orphans its dependents; this one says %s.", escape.Short(o.Kind, 200), f.cascade)
		if !slices.Contains(out, said) {
			out = append(out, said)
		}
	}
	return out
}

// perform deletes what was asked for, and watches the cluster's own collector do
// the rest; or does all of it.
func (f *deleteFlags) perform(a *act) func(context.Context, *cluster.Writer, execute.Keeper, execute.Options) *execute.Report {
	return func(ctx context.Context, w *cluster.Writer, k execute.Keeper, o execute.Options) *execute.Report {
		o.Asked = !f.clientSide
		if o.Asked && f.wait && !o.DryRun {
			o.Others = w
			dog := watch(ctx, a.explain)
			defer dog.stop()
			tell := o.Tell
			o.Tell = func(e event.Event) {
				dog.hear(e)
				tell(e)
			}
		}
		return execute.Run(ctx, a.plan, a.graph, w, k, o)
	}
}

// after looks again where not everything was seen to its end.
func (f *deleteFlags) after(a *act) func(context.Context, *outcome) error {
	return func(ctx context.Context, o *outcome) (err error) {
		if !f.wait || !o.done.Interrupted && o.done.Failed == 0 && len(a.plan.Blocked) == 0 {
			return nil
		}
		o.idle, o.blocked, err = a.snagged(ctx)
		if o.idle > 0 {
			fmt.Fprintln(a.Err, "warning: "+silent(o.idle))
		}
		return err
	}
}
