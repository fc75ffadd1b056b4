package tree

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/tree"
)

// good reports whether a reference leads to its owner.
func (c *treeCommand) good(e graph.Edge) bool { return !c.judge.Reference(e).Broken() }

// family returns what to show, and of a whole namespace or cluster how many isolated objects
// it leaves out.
func (c *treeCommand) family() (family tree.Family, isolated int, err error) {
	g, sel := c.graph, &c.selection
	family = tree.Family{Members: graph.NewSet(g), Targets: graph.NewSet(g)}
	if c.everything() {
		isolated = c.forest(family.Members)
		return family, isolated, nil
	}
	if err := sel.Find(g, family.Targets); err != nil {
		return family, 0, err
	}
	for _, uid := range c.uids {
		n := g.Find(types.UID(uid))
		if n == graph.None {
			return family, 0, cli.Usagef("no object and no reference has the UID %s", cli.Quote(uid))
		}
		family.Targets.Add(n)
	}
	if sel.Selector != nil {
		family.Targets = c.matching(family.Targets)
	}
	c.related(family)
	return family, 0, nil
}

// related adds the targets, the owners above and the dependents below them. The target of a
// bad reference is no owner. If the scan was limited to a namespace, dependents elsewhere
// are left out: the lookups of missing owners may have found some, and a file contains all.
func (c *treeCommand) related(family tree.Family) {
	g, start, depth := c.graph, family.Targets.Nodes(), graph.Unlimited
	if c.depth > 0 {
		depth = c.depth
	}
	if c.owners || !c.dependents {
		g.AddAncestors(family.Members, depth, c.good, start...)
	}
	if c.dependents || !c.owners {
		below := graph.NewSet(g)
		g.AddDescendants(below, depth, start...)
		for _, n := range below.Nodes() {
			if o := g.Object(n); !c.limited || family.Targets.Has(n) || o != nil && o.Namespace == c.selection.Namespace {
				family.Members.Add(n)
			}
		}
	}
}

// forest adds every object of the namespace that has an owner or a dependent,
// with its owners, and counts those that have neither.
func (c *treeCommand) forest(into graph.Set) (isolated int) {
	g, namespace := c.graph, c.selection.Namespace
	var start []graph.Node
	for n := graph.Node(0); int(n) < g.Len() && g.Object(n) != nil; n++ {
		if namespace != "" && g.Object(n).Namespace != namespace || g.Virtual(n) && len(g.Dependents(n)) == 0 {
			continue
		}
		if !c.all && len(g.Owners(n)) == 0 && len(g.Dependents(n)) == 0 {
			isolated++
			continue
		}
		start = append(start, n)
	}
	g.AddAncestors(into, graph.Unlimited, c.good, start...)
	return isolated
}

// matching returns the targets, or without targets all objects, that have the labels.
func (c *treeCommand) matching(targets graph.Set) graph.Set {
	g, sel := c.graph, &c.selection
	out := graph.NewSet(g)
	for n := graph.Node(0); int(n) < g.Len() && g.Object(n) != nil; n++ {
		o := g.Object(n)
		inScope := len(sel.Targets) == 0 && (sel.Namespace == "" || o.Namespace == sel.Namespace) || targets.Has(n)
		if inScope && sel.HasLabels(o) {
			out.Add(n)
		}
	}
	return out
}
