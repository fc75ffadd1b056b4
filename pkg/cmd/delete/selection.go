package delete

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/scan"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// selection is what a person wants to have deleted.
type selection struct {
	targets   []cli.Target
	selector  labels.Selector // nil: by name, or all of a type
	namespace string          // empty: all
	bound     bool            // -n names the namespace
	files     []object.Identity
}

// selectTargets refuses what is no clear word about what to delete.
func (f *deleteFlags) selectTargets(ctx context.Context, args []string) (*selection, error) {
	if !slices.Contains(cascades.Values(), f.cascade) {
		return nil, cli.Usagef("--cascade %s: must be background, foreground or orphan", cli.Quote(f.cascade))
	}
	c := &selection{}
	var err error
	if c.targets, err = cli.ParseTargets(args); err != nil {
		return nil, err
	}
	named := slices.IndexFunc(c.targets, func(t cli.Target) bool { return t.Name != "" })
	switch {
	case len(c.targets) == 0 && !f.files.Any():
		return nil, cli.WithHint(cli.Usagef("nothing to delete given"), "use TYPE/NAME, TYPE -l SELECTOR, or -f FILE")
	case len(c.targets) > 0 && f.files.Any(), f.files.Any() && (f.selector != "" || f.all):
		return nil, cli.Usagef("-f cannot be combined with targets, -l or --all")
	case f.selector != "" && f.all:
		return nil, cli.Usagef("-l cannot be combined with --all")
	case named >= 0 && (f.selector != "" || f.all):
		return nil, cli.Usagef("-l and --all need types, not names")
	case named >= 0 && f.options.Scan.AllNamespaces:
		return nil, cli.WithHint(cli.Usagef("%s cannot be deleted by name in all namespaces", cli.Quote(c.targets[named].Word+"/"+c.targets[named].Name)), "use -n to choose its namespace")
	case len(c.targets) > 0 && named < 0 && f.selector == "" && !f.all:
		return nil, cli.WithHint(cli.Usagef("%s is a type: specify which of its objects", cli.Quote(c.targets[0].Word)), "use TYPE/NAME, -l SELECTOR, or --all")
	}
	if f.selector != "" {
		if c.selector, err = cli.ParseSelector(f.selector); err != nil {
			return nil, err
		}
	}
	if c.namespace, c.bound, err = f.options.Scan.Namespace(); err != nil {
		return nil, err
	}
	c.files, err = f.files.ReadObjects(ctx, f.options.Scan.In)
	return c, err
}

// scope is the whole cluster, as a dependent may be anywhere, and what was named, so
// that a type which cannot be listed is found too. Of one namespace it begins there,
// for those who may read no more.
func (f *deleteFlags) scope(c *selection) cli.ScopeFunc {
	return func(types []snapshot.Type) (scan.Scope, error) {
		scope := scan.Scope{Running: true, Labels: c.selector != nil}
		targets, err := cli.ResolveTargets(c.targets, types)
		if err != nil {
			return scope, err
		}
		local := len(c.files) == 0 && c.namespace != ""
		for _, t := range targets {
			local = local && t.Type.Namespaced
			if t.Name != "" {
				scope.Targets = append(scope.Targets, t.Coordinates(c.namespace))
			}
		}
		if local {
			scope.Namespaces, scope.Widen = []string{c.namespace}, scan.WidenAlways
		}
		return scope, nil
	}
}

// findTargets finds what is to be deleted in what was seen. With missing, it need not be
// there.
func (f *deleteFlags) findTargets(g *graph.Graph, c *selection, missing bool) ([]graph.Node, error) {
	targets, err := cli.ResolveTargets(c.targets, g.Snapshot().Types)
	if err != nil {
		return nil, err
	}
	found := graph.NewSet(g)
	for _, t := range targets {
		if err := cli.FindTargets(g, []cli.Target{t}, c.namespace, found); err != nil && !(missing && cli.IsNotFound(err)) {
			return nil, noLongerThere(err)
		}
	}
	for _, m := range c.files {
		if err := cli.FindManifest(g, m, c.namespace, c.bound, found); err != nil && !(missing && cli.IsNotFound(err)) {
			return nil, noLongerThere(err)
		}
	}
	var out []graph.Node
	for _, n := range found.Nodes() {
		o := g.Object(n)
		switch {
		case c.selector != nil && !c.selector.Matches(labels.Set(o.Labels)):
		case int(n) >= g.Listed():
			return nil, cli.WithHint(cli.Usagef("%s is of a type that the garbage collector does not watch: nothing can be predicted", cli.Quote(o.String())), "use kubectl delete")
		default:
			out = append(out, n)
		}
	}
	if len(out) == 0 && !missing {
		return nil, cli.WithHint(cli.Usagef("nothing matches: no %s", f.wanted(c)), cli.CommandName+" tree shows what exists")
	}
	return out, nil
}

// noLongerThere adds where to ask after what is not there.
func noLongerThere(err error) error {
	if cli.IsNotFound(err) {
		return cli.WithHint(err, "use "+cli.CommandName+" why TYPE/NAME to see what is known of it, or --ignore-not-found to treat it as deleted")
	}
	return err
}
