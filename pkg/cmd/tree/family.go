package tree

import (
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/tree"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// judgedGraph is what one look showed, as a tree sees it.
type judgedGraph struct {
	graph *graph.Graph
	judge *collector.Judge
	live  *client.Client // nil when the look came from a file
}

func newJudgedGraph(s *snapshot.Snapshot, live *client.Client) judgedGraph {
	g := graph.New(s)
	return judgedGraph{graph: g, judge: collector.NewJudge(g), live: live}
}

// good says whether a reference leads to its owner.
func (s judgedGraph) good(e graph.Edge) bool { return !s.judge.Reference(e).Bad() }

// family chooses what to show; isolated counts what a forest leaves out.
func (f *treeFlags) family(seen judgedGraph, asked *selection) (family tree.Family, isolated int, err error) {
	g := seen.graph
	family = tree.Family{Members: graph.NewSet(g), Targets: graph.NewSet(g)}
	if len(asked.targets) == 0 && len(asked.uids) == 0 && asked.selector == nil {
		isolated = f.forest(seen, asked.namespace, family.Members)
		return family, isolated, nil
	}
	if err := cli.FindTargets(g, asked.targets, asked.namespace, family.Targets); err != nil {
		return family, 0, err
	}
	for _, uid := range asked.uids {
		n := g.Find(uid)
		if n == graph.None {
			return family, 0, cli.Usagef("no object and no reference has the UID %s", cli.Quote(string(uid)))
		}
		family.Targets.Add(n)
	}
	if asked.selector != nil {
		family.Targets = matching(g, asked, family.Targets)
	}
	f.related(seen, asked.within, family)
	return family, 0, nil
}

// related adds the targets, the owners above and the dependents below them. An
// object that only bears the UID of a bad reference is no owner. Where the look
// was limited to a namespace, what depends on them from outside is left out: a
// search for lost owners may show some of it, and a file all.
func (f *treeFlags) related(seen judgedGraph, within string, family tree.Family) {
	g, start, depth := seen.graph, family.Targets.Nodes(), graph.Unlimited
	if f.depth > 0 {
		depth = f.depth
	}
	if f.owners || !f.dependents {
		g.Above(family.Members, depth, seen.good, start...)
	}
	if f.dependents || !f.owners {
		below := graph.NewSet(g)
		g.Below(below, depth, start...)
		for _, n := range below.Nodes() {
			if o := g.Object(n); within == "" || family.Targets.Has(n) || o != nil && o.Namespace == within {
				family.Members.Add(n)
			}
		}
	}
}

// forest adds every object of the namespace that has an owner or a dependent,
// with its owners, and counts those that have neither.
func (f *treeFlags) forest(seen judgedGraph, namespace string, into graph.Set) (isolated int) {
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
	g.Above(into, graph.Unlimited, seen.good, start...)
	return isolated
}

// drawn are the members and what bears the UIDs of their references: a diagram
// draws a reference even where it leads to no owner.
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

// matching are those of the targets, or of all objects where there are none,
// that have the labels.
func matching(g *graph.Graph, asked *selection, targets graph.Set) graph.Set {
	out := graph.NewSet(g)
	for n := graph.Node(0); int(n) < g.Len() && g.Object(n) != nil; n++ {
		o := g.Object(n)
		inScope := len(asked.targets) == 0 && (asked.namespace == "" || o.Namespace == asked.namespace) || targets.Has(n)
		if inScope && asked.selector.Matches(labels.Set(o.Labels)) {
			out.Add(n)
		}
	}
	return out
}
