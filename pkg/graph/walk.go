package graph

import "github.com/kubectl-gc/kubectl-gc/pkg/object"

// Set is a set of nodes of one graph.
type Set struct{ has []bool }

// NewSet returns an empty set for nodes of g.
func NewSet(g *Graph) Set { return Set{make([]bool, g.Len())} }

// Has reports whether n is in the set; None never is.
func (s Set) Has(n Node) bool { return n >= 0 && s.has[n] }

// Add adds n and reports whether it was new. It ignores None.
func (s Set) Add(n Node) bool {
	if n < 0 || s.has[n] {
		return false
	}
	s.has[n] = true
	return true
}

// Remove removes n, which must not be None.
func (s Set) Remove(n Node) { s.has[n] = false }

// Nodes returns the members in ascending order.
func (s Set) Nodes() []Node {
	var out []Node
	for n, in := range s.has {
		if in {
			out = append(out, Node(n))
		}
	}
	return out
}

// Unlimited is the depth of a walk without a limit.
const Unlimited = -1

// AddAncestors adds the start nodes and their direct and indirect owners to into, up to depth
// levels, including absent ones, along the references for which follow returns true.
func (g *Graph) AddAncestors(into Set, depth int, follow func(Edge) bool, start ...Node) {
	g.walk(into, depth, start, func(n Node, visit func(Node)) {
		for i, owner := range g.Owners(n) {
			if follow(Edge{Node: n, Index: i}) {
				visit(owner)
			}
		}
	})
}

// AddDescendants adds the start nodes and their direct and indirect dependents to into, up to depth
// levels.
func (g *Graph) AddDescendants(into Set, depth int, start ...Node) {
	g.walk(into, depth, start, func(n Node, visit func(Node)) {
		for _, e := range g.Dependents(n) {
			visit(e.Node)
		}
	})
}

// walk goes breadth first, so that depth is the length of the shortest path. Start nodes
// may be None. neighbors calls visit for the neighbors of a node.
func (g *Graph) walk(into Set, depth int, start []Node, neighbors func(n Node, visit func(Node))) {
	visited := NewSet(g)
	var level, next []Node
	visit := func(n Node) {
		if visited.Add(n) {
			into.Add(n)
			next = append(next, n)
		}
	}
	for _, n := range start {
		visit(n)
	}
	for ; len(next) > 0 && depth != 0; depth-- {
		level, next = next, level[:0]
		for _, n := range level {
			neighbors(n, visit)
		}
	}
}

// ContainerOf returns an object's namespace or CustomResourceDefinition if it is being deleted,
// or nil.
func (g *Graph) ContainerOf(member *object.Object) *object.Object {
	for n := range g.Listed() {
		if o := g.Object(Node(n)); o.Terminating() && g.View().Contains(o.Identity, member) {
			return o
		}
	}
	return nil
}
