package graph

// Set is a set of nodes of one graph: made by NewSet, asked of that graph's
// nodes only.
type Set struct{ has []bool }

// NewSet is an empty set for nodes of g.
func NewSet(g *Graph) Set { return Set{make([]bool, g.Len())} }

// Has says whether n is in the set; None never is.
func (s Set) Has(n Node) bool { return n >= 0 && s.has[n] }

// Add puts n into the set and says whether it was new; None never is.
func (s Set) Add(n Node) bool {
	if n < 0 || s.has[n] {
		return false
	}
	s.has[n] = true
	return true
}

// Remove takes n out of the set again.
func (s Set) Remove(n Node) { s.has[n] = false }

// Nodes are the set's members in ascending order.
func (s Set) Nodes() []Node {
	var out []Node
	for n, in := range s.has {
		if in {
			out = append(out, Node(n))
		}
	}
	return out
}

// Unlimited is the depth of a walk to the end.
const Unlimited = -1

// Above adds to into what owns the start nodes, directly and in turn, up to
// depth steps, absent owners included, along those references for which follow
// answers true. The start nodes are added too.
func (g *Graph) Above(into Set, depth int, follow func(Edge) bool, start ...Node) {
	g.walk(into, depth, start, func(n Node, visit func(Node)) {
		for i, owner := range g.Owners(n) {
			if follow(Edge{Node: n, Index: i}) {
				visit(owner)
			}
		}
	})
}

// Below adds to into what depends on the start nodes by UID, directly and in
// turn, down to depth steps. The start nodes are added too.
func (g *Graph) Below(into Set, depth int, start ...Node) {
	g.walk(into, depth, start, func(n Node, visit func(Node)) {
		for _, e := range g.Dependents(n) {
			visit(e.Node)
		}
	})
}

// Component is everything that hangs together with the start nodes, along
// owners and dependents (docs/gc-semantics.md#debug-graph).
func (g *Graph) Component(start ...Node) Set {
	into := NewSet(g)
	g.walk(into, Unlimited, start, func(n Node, visit func(Node)) {
		for _, owner := range g.Owners(n) {
			visit(owner)
		}
		for _, e := range g.Dependents(n) {
			visit(e.Node)
		}
	})
	return into
}

// walk goes breadth first, so that depth counts the shortest way. A start of
// None, a UID that nobody knows, leads nowhere.
func (g *Graph) walk(into Set, depth int, start []Node, next func(Node, func(Node))) {
	reached := NewSet(g)
	var level, beyond []Node
	visit := func(n Node) {
		if reached.Add(n) {
			into.Add(n)
			beyond = append(beyond, n)
		}
	}
	for _, n := range start {
		if n != None {
			visit(n)
		}
	}
	for ; len(beyond) > 0 && depth != 0; depth-- {
		level, beyond = beyond, level[:0]
		for _, n := range level {
			next(n, visit)
		}
	}
}
