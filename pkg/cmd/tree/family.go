package tree

import (
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/tree"
)

// scannedGraph is the graph of one scan.
type scannedGraph struct {
	graph *graph.Graph
	judge *collector.Judge
	live  *client.Client // nil if the scan read a file
}

// good reports whether a reference leads to its owner.
func (s scannedGraph) good(e graph.Edge) bool { return !s.judge.Reference(e).Broken() }

// family returns what to show, and of a whole namespace or cluster how many isolated objects
// it leaves out.
func (f *treeFlags) family(seen scannedGraph, sel *selection) (family tree.Family, isolated int, err error) {
	g := seen.graph
	family = tree.Family{Members: graph.NewSet(g), Targets: graph.NewSet(g)}
	if len(sel.targets) == 0 && len(f.uids) == 0 && sel.selector == nil {
		isolated = f.forest(seen, sel.namespace, family.Members)
		return family, isolated, nil
	}
	if err := cli.FindTargets(g, sel.targets, sel.namespace, family.Targets); err != nil {
		return family, 0, err
	}
	for _, uid := range f.uids {
		n := g.Find(types.UID(uid))
		if n == graph.None {
			return family, 0, cli.Usagef("no object and no reference has the UID %s", cli.Quote(uid))
		}
		family.Targets.Add(n)
	}
	if sel.selector != nil {
		family.Targets = matching(g, sel, family.Targets)
	}
	f.related(seen, sel.within, family)
	return family, 0, nil
}

// related adds the targets, the owners above and the dependents below them. The target of a
// bad reference is no owner. If the scan was limited to a namespace, dependents elsewhere
// are left out: the lookups of missing owners may have found some, and a file contains all.
func (f *treeFlags) related(seen scannedGraph, within string, family tree.Family) {
	g, start, depth := seen.graph, family.Targets.Nodes(), graph.Unlimited
	if f.depth > 0 {
		depth = f.depth
	}
	if f.owners || !f.dependents {
		g.AddAncestors(family.Members, depth, seen.good, start...)
	}
	if f.dependents || !f.owners {
		below := graph.NewSet(g)
		g.AddDescendants(below, depth, start...)
		for _, n := range below.Nodes() {
			if o := g.Object(n); within == "" || family.Targets.Has(n) || o != nil && o.Namespace == within {
				family.Members.Add(n)
			}
		}
	}
}

// forest adds every object of the namespace that has an owner or a dependent,
// with its owners, and counts those that have neither.
func (f *treeFlags) forest(seen scannedGraph, namespace string, into graph.Set) (isolated int) {
	g := seen.graph
	var start []graph.Node
	for n := graph.Node(0); int(n) < g.Len() && g.Object(n) != nil; n++ {
		if namespace != "" && g.Object(n).Namespace != namespace || g.Virtual(n) && len(g.Dependents(n)) == 0 {
			continue
		}
		if !f.all && len(g.Owners(n)) == 0 && len(g.Dependents(n)) == 0 {
			isolated++
			continue
		}
		start = append(start, n)
	}
	g.AddAncestors(into, graph.Unlimited, seen.good, start...)
	return isolated
}

// drawn returns the members and the targets of all their references: a diagram shows bad
// references, too.
func drawn(g *graph.Graph, members graph.Set) graph.Set {
	out := graph.NewSet(g)
	for _, n := range members.Nodes() {
		out.Add(n)
		for _, owner := range g.Owners(n) {
			out.Add(owner)
		}
	}
	return out
}

// matching returns the targets, or without targets all objects, that have the labels.
func matching(g *graph.Graph, sel *selection, targets graph.Set) graph.Set {
	out := graph.NewSet(g)
	for n := graph.Node(0); int(n) < g.Len() && g.Object(n) != nil; n++ {
		o := g.Object(n)
		inScope := len(sel.targets) == 0 && (sel.namespace == "" || o.Namespace == sel.namespace) || targets.Has(n)
		if inScope && sel.selector.Matches(labels.Set(o.Labels)) {
			out.Add(n)
		}
	}
	return out
}
