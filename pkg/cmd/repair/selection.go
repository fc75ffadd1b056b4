package repair

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/scan"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/repair"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// selection is what the command line requests to repair.
type selection struct {
	targets   []cli.Target    // empty for everything
	selector  labels.Selector // nil without -l
	given     string          // the value of -l
	namespace string          // empty for all namespaces
	bound     bool            // -n names the namespace
	options   plan.RepairOptions
}

// selectReferences returns what the command line selects, or an error if that is not clear.
func (c *repairCommand) selectReferences(args []string) (*selection, error) {
	sel := &selection{given: c.selector}
	var err error
	if sel.options.Causes, err = c.causes(); err != nil {
		return nil, err
	}
	switch {
	case !slices.Contains(fixes.Values(), c.fix):
		return nil, cli.Usagef("--fix %s: must be one of %s", cli.Quote(c.fix), strings.Join(fixes.Values(), ", "))
	case c.fix != autoFix:
		sel.options.Fix = repair.Fix(c.fix)
	}
	if sel.targets, err = cli.ParseTargets(args); err != nil {
		return nil, err
	}
	named := slices.IndexFunc(sel.targets, func(t cli.Target) bool { return t.Name != "" })
	switch {
	case named >= 0 && c.selector != "":
		return nil, cli.Usagef("-l needs types, not names")
	case named >= 0 && c.options.Scan.AllNamespaces:
		return nil, cli.WithHint(
			cli.Usagef("%s cannot be repaired by name in all namespaces", cli.Quote(sel.targets[named].Word+"/"+sel.targets[named].Name)),
			"use -n to choose its namespace",
		)
	}
	sel.options.Named = named >= 0
	for _, uid := range c.references {
		sel.options.References = append(sel.options.References, types.UID(uid))
	}
	if one := len(sel.targets) == 1 && named == 0; len(c.references) > 0 && (!one || sel.options.Fix != repair.Unlink || len(c.rules) > 0) {
		return nil, cli.Usagef("--reference needs exactly one TYPE/NAME and --fix unlink, and cannot be combined with --rule")
	}
	if c.selector != "" {
		if sel.selector, err = cli.ParseSelector(c.selector); err != nil {
			return nil, err
		}
	}
	if sel.namespace, sel.bound, err = c.options.Scan.Namespace(); err != nil {
		return nil, err
	}
	if len(sel.targets) == 0 && !sel.bound {
		sel.namespace = "" // as in audit and collect, the namespace of the context does not count
	}
	return sel, nil
}

// causes returns what is wrong with the references that the rules of --rule flag.
func (c *repairCommand) causes() ([]collector.Cause, error) {
	if err := audit.Check(c.rules); err != nil {
		return nil, &cli.UsageError{Err: err}
	}
	var out []collector.Cause
	for _, rule := range c.rules {
		cause, repairable := audit.RepairFor(rule)
		if !repairable {
			return nil, cli.WithHint(
				cli.Usagef("repair cannot repair what rule %s flags", cli.Quote(rule)), "rules that it can repair: "+strings.Join(audit.RepairableRules(), ", "),
			)
		}
		out = append(out, cause)
	}
	return out, nil
}

// Scope returns the whole cluster, as dependents may be anywhere, or the namespace of -n if
// that contains all targets.
func (c *repairCommand) Scope(served []snapshot.Type) (scan.Scope, error) {
	sel := c.selection
	scope := scan.Scope{Running: true, Labels: sel.selector != nil, Widen: scan.WidenAll}
	var err error
	if sel.targets, err = cli.ResolveTargets(sel.targets, served); err != nil {
		return scope, err
	}
	if sel.bound && !slices.ContainsFunc(sel.targets, func(t cli.Target) bool { return !t.Type.Namespaced }) {
		scope.Namespaces = []string{sel.namespace}
	}
	for _, t := range sel.targets {
		if t.Name != "" {
			scope.Targets = append(scope.Targets, t.Coordinates(sel.namespace))
		}
	}
	return scope, nil
}

// validateIn returns an error unless the selected objects and references are in the graph.
func (s *selection) validateIn(g *graph.Graph) error {
	targets := graph.NewSet(g)
	if err := cli.FindTargets(g, s.targets, s.namespace, targets); err != nil {
		return err
	}
	found := false
	for n := range g.Len() {
		node := graph.Node(n)
		if g.Object(node) == nil || !s.selects(g.Object(node), node, targets) {
			continue
		}
		found = true
		if s.options.Named && g.Virtual(node) {
			return cli.WithHint(
				cli.Usagef("%s was not listed, so its references cannot be checked", cli.Quote(g.Object(node).String())),
				"the garbage collector does not watch its type, or you may not list it",
			)
		}
	}
	if !found && (s.selector != nil || len(s.targets) > 0) {
		return s.nothingSelected()
	}
	for _, uid := range s.options.References {
		for _, n := range targets.Nodes() {
			o := g.Object(n)
			if !slices.ContainsFunc(o.Owners, func(r object.Reference) bool { return r.UID == uid }) {
				return cli.WithHint(cli.Usagef("%s has no reference to the UID %s", cli.Quote(o.String()), cli.Quote(string(uid))), "kubectl get -o yaml shows its ownerReferences")
			}
		}
	}
	return nil
}

func (s *selection) nothingSelected() error {
	where := ""
	if s.namespace != "" {
		where = " in namespace " + cli.Quote(s.namespace)
	}
	if s.selector != nil {
		return cli.WithHint(cli.Usagef("nothing matched: no object%s has the labels %s", where, cli.Quote(s.given)), "nothing was changed")
	}
	return cli.WithHint(cli.Usagef("nothing matched: no %s%s", s.targets[0].Type, where), "nothing was changed")
}

// plan returns the plan of the repair. Selected objects may be missing.
func (s *selection) plan(j *collector.Judge) *plan.Plan {
	g := j.Graph()
	targets := graph.NewSet(g)
	_ = cli.FindTargets(g, s.targets, s.namespace, targets) // it stops at the first one that is missing
	options := s.options
	options.Within = func(n graph.Node) bool { return s.selects(g.Object(n), n, targets) }
	return plan.NewRepair(j, options)
}

// selects reports whether an object is selected; targets are the objects of s.targets.
func (s *selection) selects(o *object.Object, n graph.Node, targets graph.Set) bool {
	switch {
	case len(s.targets) > 0 && !targets.Has(n):
		return false
	case len(s.targets) == 0 && s.namespace != "" && o.Namespace != s.namespace:
		return false
	}
	return s.selector == nil || s.selector.Matches(labels.Set(o.Labels))
}
