package snapshottest

import "github.com/kubectl-gc/kubectl-gc/pkg/graph"

// Component returns the connected components of the start nodes, along owners and
// dependents (docs/gc-semantics.md#debug-graph).
func Component(g *graph.Graph, start ...graph.Node) graph.Set {
	into := graph.NewSet(g)
	var left []graph.Node
	visit := func(n graph.Node) {
		if into.Add(n) {
			left = append(left, n)
		}
	}
	for _, n := range start {
		visit(n)
	}
	for len(left) > 0 {
		n := left[0]
		left = left[1:]
		for _, owner := range g.Owners(n) {
			visit(owner)
		}
		for _, e := range g.Dependents(n) {
			visit(e.Node)
		}
	}
	return into
}
