package cli

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// choice is what a person wants to have deleted.
type choice struct {
	targets   []target
	selector  labels.Selector // nil: by name, or all of a type
	namespace string          // empty: all
	bound     bool            // -n names the namespace
	files     []object.Identity
}

// choose refuses what is no clear word about what to delete.
func (f *deleteFlags) choose(ctx context.Context, args []string) (*choice, error) {
	if !slices.Contains(cascades.values(), f.cascade) {
		return nil, usagef("--cascade %s: must be background, foreground or orphan", quoted(f.cascade))
	}
	c := &choice{}
	var err error
	if c.targets, err = parseTargets(args); err != nil {
		return nil, err
	}
	named := slices.IndexFunc(c.targets, func(t target) bool { return t.name != "" })
	switch {
	case len(c.targets) == 0 && !f.files.Any():
		return nil, withHint(usagef("nothing to delete given"), "use TYPE/NAME, TYPE -l SELECTOR, or -f FILE")
	case len(c.targets) > 0 && f.files.Any(), f.files.Any() && (f.selector != "" || f.all):
		return nil, usagef("-f cannot be combined with targets, -l or --all")
	case f.selector != "" && f.all:
		return nil, usagef("-l cannot be combined with --all")
	case named >= 0 && (f.selector != "" || f.all):
		return nil, usagef("-l and --all need types, not names")
	case named >= 0 && f.allNamespaces:
		return nil, withHint(usagef("%s cannot be deleted by name in all namespaces", quoted(c.targets[named].word+"/"+c.targets[named].name)), "use -n to choose its namespace")
	case len(c.targets) > 0 && named < 0 && f.selector == "" && !f.all:
		return nil, withHint(usagef("%s is a type: specify which of its objects", quoted(c.targets[0].word)), "use TYPE/NAME, -l SELECTOR, or --all")
	}
	if f.selector != "" {
		if c.selector, err = selecting(f.selector); err != nil {
			return nil, err
		}
	}
	if c.namespace, c.bound, err = f.namespace(); err != nil {
		return nil, err
	}
	c.files, err = f.files.read(ctx, f.In)
	return c, err
}

// scope is the whole cluster, as a dependent may be anywhere, and what was named, so
// that a type which cannot be listed is found too. Of one namespace it begins there,
// for those who may read no more.
func (f *deleteFlags) scope(c *choice) scoped {
	return func(types []snapshot.Type) (cluster.Scope, error) {
		scope := cluster.Scope{Running: true, Labels: c.selector != nil}
		targets, err := resolve(c.targets, types)
		if err != nil {
			return scope, err
		}
		local := len(c.files) == 0 && c.namespace != ""
		for _, t := range targets {
			local = local && t.of.Namespaced
			if t.name != "" {
				scope.Targets = append(scope.Targets, t.at(c.namespace))
			}
		}
		if local {
			scope.Namespaces, scope.Widen = []string{c.namespace}, cluster.WidenAlways
		}
		return scope, nil
	}
}

// seek finds what is to be deleted in what was seen. With missing, it need not be
// there.
func (f *deleteFlags) seek(g *graph.Graph, c *choice, missing bool) ([]graph.Node, error) {
	targets, err := resolve(c.targets, g.Snapshot().Types)
	if err != nil {
		return nil, err
	}
	found := graph.NewSet(g)
	for _, t := range targets {
		if err := find(g, []target{t}, c.namespace, found); err != nil && !(missing && isAbsence(err)) {
			return nil, gone(err)
		}
	}
	for _, m := range c.files {
		if err := locate(g, m, c.namespace, c.bound, found); err != nil && !(missing && isAbsence(err)) {
			return nil, gone(err)
		}
	}
	var out []graph.Node
	for _, n := range found.Nodes() {
		o := g.Object(n)
		switch {
		case c.selector != nil && !c.selector.Matches(labels.Set(o.Labels)):
		case int(n) >= g.Listed():
			return nil, withHint(usagef("%s is of a type that the garbage collector does not watch: nothing can be predicted", quoted(o.String())), "use kubectl delete")
		default:
			out = append(out, n)
		}
	}
	if len(out) == 0 && !missing {
		return nil, withHint(usagef("nothing matches: no %s", f.wanted(c)), called+" tree shows what exists")
	}
	return out, nil
}

// gone adds where to ask after what is not there.
func gone(err error) error {
	if isAbsence(err) {
		return withHint(err, "use "+called+" why TYPE/NAME to see what is known of it, or --ignore-not-found to treat it as deleted")
	}
	return err
}
