package repair

import (
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/scan"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/repair"
)

// selectReferences reads what the command line selects, and returns an error if that is not
// clear.
func (c *repairCommand) selectReferences(args []string) error {
	causes, err := c.causes()
	if err != nil {
		return err
	}
	c.repairs.Causes = causes
	if err := c.checkFix(); err != nil {
		return err
	}
	targets, err := cli.ParseTargets(args)
	if err != nil {
		return err
	}
	named := slices.IndexFunc(targets, func(t cli.Target) bool { return t.Name != "" })
	one := len(targets) == 1 && named == 0
	switch {
	case named >= 0 && c.selector != "":
		return cli.Usagef("-l needs types, not names")
	case named >= 0 && c.options.Scan.AllNamespaces:
		return cli.WithHint(
			cli.Usagef("%s cannot be repaired by name in all namespaces", cli.Quote(targets[named].Word+"/"+targets[named].Name)),
			"use -n to choose its namespace",
		)
	case len(c.references) > 0 && (!one || c.repairs.Fix != repair.Unlink || len(c.rules) > 0):
		return cli.Usagef("--reference needs exactly one TYPE/NAME and --fix unlink, and cannot be combined with --rule")
	}
	c.repairs.Named = named >= 0
	for _, uid := range c.references {
		c.repairs.References = append(c.repairs.References, types.UID(uid))
	}
	if c.selection, err = c.options.Scan.Select(targets, c.selector); err != nil {
		return err
	}
	if len(targets) == 0 && !c.selection.Bound {
		c.selection.Namespace = "" // as in audit and collect, the namespace of the context does not count
	}
	return nil
}

// checkFix reads --fix.
func (c *repairCommand) checkFix() error {
	switch {
	case !slices.Contains(fixes.Values(), c.fix):
		return cli.Usagef("--fix %s: must be one of %s", cli.Quote(c.fix), strings.Join(fixes.Values(), ", "))
	case c.fix != autoFix:
		c.repairs.Fix = repair.Fix(c.fix)
	}
	return nil
}

// causes returns what is wrong with the references that the rules of --rule flag.
func (c *repairCommand) causes() ([]collector.Cause, error) {
	if err := cli.CheckRules(c.rules); err != nil {
		return nil, err
	}
	var out []collector.Cause
	for _, rule := range c.rules {
		cause, repairable := audit.RepairFor(rule)
		if !repairable {
			if choices()[rule] != "" {
				return nil, cli.WithHint(cli.Usagef("repair cannot choose which reference to remove for rule %s", cli.Quote(rule)),
					"to see the command for one object: "+c.options.Scan.Suggest("why", "TYPE/NAME"))
			}
			return nil, cli.WithHint(cli.Usagef("repair cannot repair what rule %s flags", cli.Quote(rule)), "rules that it can repair: "+strings.Join(audit.RepairableRules, ", "))
		}
		out = append(out, cause)
	}
	return out, nil
}

// scope returns the whole cluster, as dependents may be anywhere, or the namespace of -n if
// that contains all targets.
func (c *repairCommand) scope(ctx context.Context) (scan.Scope, error) {
	scope, err := c.selection.Scope(ctx, c.options.Scan)
	scope.Running, scope.Widen = true, scan.WidenAll
	if !c.selection.Bound {
		scope.Namespaces = nil
	}
	return scope, err
}

// validateIn returns an error unless the selected objects and references are in the graph.
func (c *repairCommand) validateIn(g *graph.Graph) error {
	targets := graph.NewSet(g)
	if err := c.selection.Find(g, targets); err != nil {
		return err
	}
	found := false
	for n := graph.Node(0); int(n) < g.Len(); n++ {
		o := g.Object(n)
		if o == nil || !c.selects(o, n, targets) {
			continue
		}
		found = true
		if c.repairs.Named && g.Virtual(n) {
			return cli.WithHint(
				cli.Usagef("%s was not listed, so its references cannot be checked", cli.Quote(o.String())),
				"the garbage collector does not watch its type, or you are not allowed to list it",
			)
		}
	}
	if !found && (c.selection.Selector != nil || len(c.selection.Targets) > 0) {
		return c.nothingSelected()
	}
	for _, uid := range c.repairs.References {
		for _, n := range targets.Nodes() {
			o := g.Object(n)
			if !slices.ContainsFunc(o.Owners, func(r object.Reference) bool { return r.UID == uid }) {
				return cli.WithHint(cli.Usagef("%s has no reference to the UID %s", cli.Quote(o.String()), cli.Quote(string(uid))), "its ownerReferences: "+c.options.Scan.SuggestKubectl("get", c.selection.Targets[0].String(), "-o", "yaml", "-n", o.Namespace))
			}
		}
	}
	return nil
}

func (c *repairCommand) nothingSelected() error {
	where := cli.InNamespace(c.selection.Namespace)
	if c.selection.Selector != nil {
		return cli.WithHint(cli.Usagef("nothing matched: no object%s has the labels %s", where, cli.Quote(c.selector)), "nothing was changed")
	}
	return cli.WithHint(cli.Usagef("nothing matched: no %s%s", c.selection.Targets[0].Type, where), "nothing was changed")
}

// selects reports whether an object is selected; targets are the objects of the targets.
func (c *repairCommand) selects(o *object.Object, n graph.Node, targets graph.Set) bool {
	sel := &c.selection
	switch {
	case len(sel.Targets) > 0 && !targets.Has(n):
		return false
	case len(sel.Targets) == 0 && sel.Namespace != "" && o.Namespace != sel.Namespace:
		return false
	}
	return sel.HasLabels(o)
}
