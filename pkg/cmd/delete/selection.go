package delete

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// selectTargets reads what the command line selects, and returns an error if that is not
// clear.
func (c *deleteCommand) selectTargets(ctx context.Context, args []string) error {
	if err := cmp.Or(cascades.Check("cascade", c.cascade), c.grace.validate()); err != nil {
		return err
	}
	targets, err := cli.ParseTargets(args)
	if err != nil {
		return err
	}
	named := slices.IndexFunc(targets, func(t cli.Target) bool { return t.Name != "" })
	switch {
	case len(targets) == 0 && !c.files.Any():
		return cli.WithHint(cli.Usagef("nothing to delete given"), "use TYPE/NAME, TYPE -l SELECTOR, TYPE --all, or -f FILE")
	case len(targets) > 0 && c.files.Any(), c.files.Any() && (c.selector != "" || c.all):
		return cli.Usagef("-f cannot be combined with targets, -l or --all")
	case c.selector != "" && c.all:
		return cli.Usagef("-l cannot be combined with --all")
	case named >= 0 && (c.selector != "" || c.all):
		return cli.Usagef("-l and --all need types, not names")
	case named >= 0 && c.options.Scan.AllNamespaces:
		return cli.WithHint(cli.Usagef("%s cannot be deleted by name in all namespaces", cli.Quote(targets[named].Word+"/"+targets[named].Name)), "use -n to choose its namespace")
	}
	if c.selection, err = c.options.Scan.Select(targets, c.selector); err != nil {
		return err
	}
	c.options.Scan.NamespaceMayBeMissing = c.ignoreMissing
	c.manifests, err = c.readManifests(ctx)
	return err
}

// findTargets returns the selected objects among the scanned ones.
func (c *deleteCommand) findTargets(g *graph.Graph, ignoreMissing bool) ([]graph.Node, error) {
	sel := &c.selection
	found := graph.NewSet(g)
	for _, t := range sel.Targets {
		if err := cli.FindTarget(g, t, sel.Namespace, found); err != nil && !(ignoreMissing && cli.IsNotFound(err)) {
			return nil, withNotFoundHint(err, t.Word+"/"+t.Name, sel.Namespace)
		}
	}
	for _, m := range c.manifests {
		if err := findManifest(g, m, sel.Namespace, sel.Bound, found); err != nil && !(ignoreMissing && cli.IsNotFound(err)) {
			return nil, withNotFoundHint(err, strings.ToLower(m.Kind)+"/"+m.Name, cmp.Or(m.Namespace, sel.Namespace))
		}
	}
	var out []graph.Node
	for _, n := range found.Nodes() {
		o := g.Object(n)
		switch {
		case !sel.HasLabels(o):
		case int(n) >= g.Listed():
			return nil, cli.WithHint(cli.Usagef("%s is of a type that the garbage collector does not watch: nothing can be predicted", cli.Quote(o.String())), "without a prediction: "+c.options.Scan.SuggestKubectl("delete", o.String(), "-n", o.Namespace))
		default:
			out = append(out, n)
		}
	}
	if len(out) == 0 && !ignoreMissing {
		return nil, cli.WithCommandHint(cli.Usagef("nothing matches: no %s", c.describe()), "what exists", "tree", "--all")
	}
	return out, c.requireOneNamespace(g, out)
}

// requireOneNamespace returns an error if the targets are in several namespaces of a file, which has no
// current one as a context has, and no flag says which are meant.
func (c *deleteCommand) requireOneNamespace(g *graph.Graph, found []graph.Node) error {
	if c.selection.Namespace != "" || c.options.Scan.AllNamespaces || len(c.manifests) > 0 {
		return nil
	}
	var in []string
	for _, n := range found {
		if o := g.Object(n); o.Namespace != "" {
			in = append(in, o.Namespace)
		}
	}
	slices.Sort(in)
	if in = slices.Compact(in); len(in) < 2 {
		return nil
	}
	hint := "use -n to choose the namespace"
	if c.all || c.selector != "" {
		hint += ", or -A for all of them"
	}
	return cli.WithHint(cli.Usagef("%s: there are %d objects, in the namespaces %s", c.describe(), len(found), cli.Quote(strings.Join(in, ", "))), hint)
}

// requireObjects returns an error if the targets are types, and nothing selects their objects.
func (c *deleteCommand) requireObjects() error {
	if t := c.selection.Targets; len(t) > 0 && t[0].Name == "" && c.selector == "" && !c.all {
		return cli.WithHint(cli.Usagef("%s is a type: specify which of its objects", cli.Quote(t[0].Word)), "use TYPE/NAME, -l SELECTOR, or --all")
	}
	return nil
}

func withNotFoundHint(err error, arg, namespace string) error {
	if cli.IsNotFound(err) {
		return cli.WithCommandHint(err, "to treat it as deleted, use --ignore-not-found; what is known of it", "why", arg, "-n", namespace)
	}
	return err
}

// describe returns the selected types and filters for an error message.
func (c *deleteCommand) describe() string {
	types := make([]string, len(c.selection.Targets))
	for i, t := range c.selection.Targets {
		types[i] = cli.Quote(strings.TrimSuffix(t.Word+"/"+t.Name, "/"))
	}
	out := strings.Join(types, ", ")
	if c.selector != "" {
		out += " with labels " + cli.Quote(c.selector)
	}
	return out + cli.InNamespace(c.selection.Namespace)
}
