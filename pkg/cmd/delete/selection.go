package delete

import (
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/scan"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// selection is what the command line requests to delete.
type selection struct {
	targets   []cli.Target
	selector  labels.Selector // nil without -l
	namespace string          // empty for all namespaces
	bound     bool            // -n names the namespace
	files     []object.Identity
}

// selectTargets returns what the command line selects, or an error if that is not clear.
func (c *deleteCommand) selectTargets(ctx context.Context, args []string) (*selection, error) {
	if !slices.Contains(cascades.Values(), c.cascade) {
		return nil, cli.Usagef("--cascade %s: must be background, foreground or orphan", cli.Quote(c.cascade))
	}
	sel := &selection{}
	var err error
	if sel.targets, err = cli.ParseTargets(args); err != nil {
		return nil, err
	}
	named := slices.IndexFunc(sel.targets, func(t cli.Target) bool { return t.Name != "" })
	switch {
	case len(sel.targets) == 0 && !c.files.Any():
		return nil, cli.WithHint(cli.Usagef("nothing to delete given"), "use TYPE/NAME, TYPE -l SELECTOR, or -f FILE")
	case len(sel.targets) > 0 && c.files.Any(), c.files.Any() && (c.selector != "" || c.all):
		return nil, cli.Usagef("-f cannot be combined with targets, -l or --all")
	case c.selector != "" && c.all:
		return nil, cli.Usagef("-l cannot be combined with --all")
	case named >= 0 && (c.selector != "" || c.all):
		return nil, cli.Usagef("-l and --all need types, not names")
	case named >= 0 && c.options.Scan.AllNamespaces:
		return nil, cli.WithHint(cli.Usagef("%s cannot be deleted by name in all namespaces", cli.Quote(sel.targets[named].Word+"/"+sel.targets[named].Name)), "use -n to choose its namespace")
	case len(sel.targets) > 0 && named < 0 && c.selector == "" && !c.all:
		return nil, cli.WithHint(cli.Usagef("%s is a type: specify which of its objects", cli.Quote(sel.targets[0].Word)), "use TYPE/NAME, -l SELECTOR, or --all")
	}
	if c.selector != "" {
		if sel.selector, err = cli.ParseSelector(c.selector); err != nil {
			return nil, err
		}
	}
	if sel.namespace, sel.bound, err = c.options.Scan.Namespace(); err != nil {
		return nil, err
	}
	sel.files, err = c.files.ReadObjects(ctx, c.options.Scan.In)
	return sel, err
}

// Scope returns the whole cluster, as dependents may be anywhere. It begins with the
// namespace if there is only one, for users who may read no more, and includes the targets,
// for types that cannot be listed.
func (c *deleteCommand) Scope(served []snapshot.Type) (scan.Scope, error) {
	sel := c.selection
	scope := scan.Scope{Running: true, Labels: sel.selector != nil}
	targets, err := cli.ResolveTargets(sel.targets, served)
	if err != nil {
		return scope, err
	}
	local := len(sel.files) == 0 && sel.namespace != ""
	for _, t := range targets {
		local = local && t.Type.Namespaced
		if t.Name != "" {
			scope.Targets = append(scope.Targets, t.Coordinates(sel.namespace))
		}
	}
	if local {
		scope.Namespaces, scope.Widen = []string{sel.namespace}, scan.WidenAlways
	}
	return scope, nil
}

// findTargets returns the selected objects among the scanned ones.
func (c *deleteCommand) findTargets(g *graph.Graph, ignoreMissing bool) ([]graph.Node, error) {
	sel := c.selection
	targets, err := cli.ResolveTargets(sel.targets, g.Snapshot().Types)
	if err != nil {
		return nil, err
	}
	found := graph.NewSet(g)
	for _, t := range targets {
		if err := cli.FindTargets(g, []cli.Target{t}, sel.namespace, found); err != nil && !(ignoreMissing && cli.IsNotFound(err)) {
			return nil, withNotFoundHint(err)
		}
	}
	for _, m := range sel.files {
		if err := cli.FindManifest(g, m, sel.namespace, sel.bound, found); err != nil && !(ignoreMissing && cli.IsNotFound(err)) {
			return nil, withNotFoundHint(err)
		}
	}
	var out []graph.Node
	for _, n := range found.Nodes() {
		o := g.Object(n)
		switch {
		case sel.selector != nil && !sel.selector.Matches(labels.Set(o.Labels)):
		case int(n) >= g.Listed():
			return nil, cli.WithHint(cli.Usagef("%s is of a type that the garbage collector does not watch: nothing can be predicted", cli.Quote(o.String())), "use kubectl delete")
		default:
			out = append(out, n)
		}
	}
	if len(out) == 0 && !ignoreMissing {
		return nil, cli.WithHint(cli.Usagef("nothing matches: no %s", c.describe(sel)), cli.CommandName+" tree shows what exists")
	}
	return out, nil
}

func withNotFoundHint(err error) error {
	if cli.IsNotFound(err) {
		return cli.WithHint(err, "use "+cli.CommandName+" why TYPE/NAME to see what is known of it, or --ignore-not-found to treat it as deleted")
	}
	return err
}

// describe returns the types and filters of a selection for an error message.
func (c *deleteCommand) describe(sel *selection) string {
	types := make([]string, len(sel.targets))
	for i, t := range sel.targets {
		types[i] = cli.Quote(t.Word)
	}
	out := strings.Join(types, ", ")
	if c.selector != "" {
		out += " with labels " + cli.Quote(c.selector)
	}
	if sel.namespace != "" {
		out += " in namespace " + cli.Quote(sel.namespace)
	}
	return out
}
