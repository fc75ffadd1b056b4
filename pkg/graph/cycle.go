package graph

import "slices"

// Cycles are the strongly connected components of more than one node, along
// those references for which follow answers true: members ascending, cycles in
// the order of their first member. An object that owns itself is not a cycle.
func (g *Graph) Cycles(follow func(Edge) bool) [][]Node {
	return g.cycles(func(e Edge) Node {
		if follow(e) {
			return g.Owners(e.Node)[e.Index]
		}
		return None
	}, func(n Node) bool { return len(g.Dependents(n)) > 0 }) // most have none, and whoever is in a cycle has one
}

// CyclesOf are the cycles of references that lead elsewhere than their UIDs say:
// lead answers the node of each, or None for one that does not count.
//
// It is Tarjan's algorithm with a stack of its own, since a chain of owners may
// be as long as the cluster is large.
func (g *Graph) CyclesOf(lead func(Edge) Node) [][]Node {
	return g.cycles(lead, func(Node) bool { return true })
}

// cycles looks only from those nodes that may be in one.
func (g *Graph) cycles(lead func(Edge) Node, may func(Node) bool) [][]Node {
	t := tarjan{
		g: g, lead: lead,
		index: make([]int32, g.Len()), low: make([]int32, g.Len()), onStack: make([]bool, g.Len()),
	}
	for n := range g.objects {
		if t.index[n] == 0 && len(g.Owners(Node(n))) > 0 && may(Node(n)) {
			t.run(Node(n))
		}
	}
	slices.SortFunc(t.found, func(a, b []Node) int { return int(a[0] - b[0]) })
	return t.found
}

type tarjan struct {
	g       *Graph
	lead    func(Edge) Node
	index   []int32 // 1 + order of discovery; 0: undiscovered
	low     []int32
	onStack []bool
	stack   []Node
	next    int32
	found   [][]Node
	work    []frame // empty, and as large as it ever was
}

// frame is a node under visit and how many of its owners were looked at.
type frame struct {
	n    Node
	done int
}

func (t *tarjan) run(root Node) {
	work := append(t.work[:0], t.enter(root))
	defer func() { t.work = work }()
	for len(work) > 0 {
		top := &work[len(work)-1]
		if top.done < len(t.g.Owners(top.n)) {
			owner := t.lead(Edge{top.n, top.done})
			top.done++
			switch {
			case t.g.Object(owner) == nil:
			case t.index[owner] == 0:
				work = append(work, t.enter(owner))
			case t.onStack[owner]:
				t.low[top.n] = min(t.low[top.n], t.index[owner])
			}
			continue
		}
		n := top.n
		work = work[:len(work)-1]
		if len(work) > 0 {
			parent := work[len(work)-1].n
			t.low[parent] = min(t.low[parent], t.low[n])
		}
		if t.low[n] == t.index[n] {
			t.leave(n)
		}
	}
}

func (t *tarjan) enter(n Node) frame {
	t.next++
	t.index[n], t.low[n] = t.next, t.next
	t.onStack[n] = true
	t.stack = append(t.stack, n)
	return frame{n: n}
}

// leave takes the component that n roots off the stack.
func (t *tarjan) leave(n Node) {
	from := len(t.stack) - 1
	for t.stack[from] != n {
		from--
	}
	component := t.stack[from:]
	t.stack = t.stack[:from]
	for _, m := range component {
		t.onStack[m] = false
	}
	if len(component) > 1 {
		component = slices.Clone(component)
		slices.Sort(component)
		t.found = append(t.found, component)
	}
}
