package repair

import (
	"slices"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/scan"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/repair"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// selection is what a person wants to have mended.
type selection struct {
	targets   []cli.Target    // none: everything
	selector  labels.Selector // nil: whatever its labels
	given     string          // the selector as it was typed
	namespace string          // empty: all
	bound     bool            // -n names the namespace
	options   plan.RepairOptions
}

// selectReferences refuses what is no clear word about what to mend.
func (f *repairFlags) selectReferences(args []string) (*selection, error) {
	a := &selection{given: f.selector}
	var err error
	if a.options.Causes, err = f.causes(); err != nil {
		return nil, err
	}
	if a.options.Fix, err = f.how(); err != nil {
		return nil, err
	}
	if a.targets, err = cli.ParseTargets(args); err != nil {
		return nil, err
	}
	named := slices.IndexFunc(a.targets, func(t cli.Target) bool { return t.Name != "" })
	switch {
	case named >= 0 && f.selector != "":
		return nil, cli.Usagef("-l needs types, not names")
	case named >= 0 && f.options.Scan.AllNamespaces:
		return nil, cli.WithHint(
			cli.Usagef("%s cannot be repaired by name in all namespaces", cli.Quote(a.targets[named].Word+"/"+a.targets[named].Name)),
			"use -n to choose its namespace",
		)
	}
	a.options.Named = named >= 0
	for _, uid := range f.references {
		a.options.References = append(a.options.References, types.UID(uid))
	}
	switch one := len(a.targets) == 1 && named == 0; {
	case len(f.references) == 0:
	case !one || a.options.Fix != repair.Unlink || len(f.rules) > 0:
		return nil, cli.Usagef("--reference needs exactly one TYPE/NAME and --fix unlink, and cannot be combined with --rule")
	}
	if f.selector != "" {
		if a.selector, err = cli.ParseSelector(f.selector); err != nil {
			return nil, err
		}
	}
	if a.namespace, a.bound, err = f.options.Scan.Namespace(); err != nil {
		return nil, err
	}
	if len(a.targets) == 0 && !a.bound {
		a.namespace = "" // the context's is not meant, as with audit and collect
	}
	return a, nil
}

// scope is everything, as an object may depend on what is to be mended from
// anywhere; or the one namespace that -n names, where that holds all that was asked
// for.
func (a *selection) scope(types []snapshot.Type) (scan.Scope, error) {
	scope := scan.Scope{Running: true, Labels: a.selector != nil, Widen: scan.WidenAll}
	var err error
	if a.targets, err = cli.ResolveTargets(a.targets, types); err != nil {
		return scope, err
	}
	if a.bound && !slices.ContainsFunc(a.targets, func(t cli.Target) bool { return !t.Type.Namespaced }) {
		scope.Namespaces = []string{a.namespace}
	}
	for _, t := range a.targets {
		if t.Name != "" {
			scope.Targets = append(scope.Targets, t.Coordinates(a.namespace))
		}
	}
	return scope, nil
}

// plan is that of a repair of what a look showed. First says that what was asked for
// must be there.
func (a *selection) plan(g *graph.Graph, first bool) (*plan.Plan, error) {
	chosen := graph.NewSet(g)
	if err := cli.FindTargets(g, a.targets, a.namespace, chosen); err != nil && first {
		return nil, err
	}
	found := false
	options := a.options
	options.Within = func(n graph.Node) bool { return a.selects(g.Object(n), n, chosen) }
	for n := range g.Len() {
		node := graph.Node(n)
		if g.Object(node) == nil || !options.Within(node) {
			continue
		}
		found = true
		if first && a.options.Named && g.Virtual(node) {
			return nil, cli.WithHint(
				cli.Usagef("%s was not listed, so its references cannot be checked", cli.Quote(g.Object(node).String())),
				"the garbage collector does not watch its type, or you may not list it",
			)
		}
	}
	if first && !found && (a.selector != nil || len(a.targets) > 0) {
		return nil, a.nothingSelected()
	}
	if first {
		if err := a.carried(g, chosen); err != nil {
			return nil, err
		}
	}
	return plan.NewRepair(g, options), nil
}

// carried refuses a reference that the object does not have.
func (a *selection) carried(g *graph.Graph, chosen graph.Set) error {
	for _, uid := range a.options.References {
		for _, n := range chosen.Nodes() {
			o := g.Object(n)
			if !slices.ContainsFunc(o.Owners, func(r object.Reference) bool { return r.UID == uid }) {
				return cli.WithHint(cli.Usagef("%s has no reference to the UID %s", cli.Quote(o.String()), cli.Quote(string(uid))), "kubectl get -o yaml shows its ownerReferences")
			}
		}
	}
	return nil
}

// selects says whether an object is one that was asked for.
func (a *selection) selects(o *object.Object, n graph.Node, chosen graph.Set) bool {
	switch {
	case len(a.targets) > 0 && !chosen.Has(n):
		return false
	case len(a.targets) == 0 && a.namespace != "" && o.Namespace != a.namespace:
		return false
	}
	return a.selector == nil || a.selector.Matches(labels.Set(o.Labels))
}

func (a *selection) nothingSelected() error {
	where := ""
	if a.namespace != "" {
		where = " in namespace " + cli.Quote(a.namespace)
	}
	if a.selector != nil {
		return cli.WithHint(cli.Usagef("nothing matched: no object%s has the labels %s", where, cli.Quote(a.given)), "nothing was changed")
	}
	return cli.WithHint(cli.Usagef("nothing matched: no %s%s", a.targets[0].Type, where), "nothing was changed")
}
