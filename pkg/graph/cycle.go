package graph

import (
	"cmp"
	"slices"
)

// Cycles returns the strongly connected components of more than one node, along the
// references for which follow returns true. Members are ascending, and cycles are in the
// order of their first members. An object that owns itself is not a cycle.
func (g *Graph) Cycles(follow func(Edge) bool) [][]Node {
	return g.CyclesThrough(func(e Edge) Node {
		if len(g.Dependents(e.Node)) == 0 || !follow(e) { // most have none, and a member of a cycle has one
			return None
		}
		return g.Owners(e.Node)[e.Index]
	})
}

// CyclesThrough returns the cycles of references whose owners differ from their UIDs: target
// returns the owner of each, or None to ignore it.
//
// It is Tarjan's algorithm with an explicit stack, since a chain of owners may be as long as the
// cluster is large.
func (g *Graph) CyclesThrough(target func(Edge) Node) [][]Node {
	t := tarjan{
		g: g, target: target,
		index: make([]int32, g.Len()), low: make([]int32, g.Len()), onStack: make([]bool, g.Len()),
	}
	for n := range g.objects {
		if t.index[n] == 0 && len(g.Owners(Node(n))) > 0 {
			t.run(Node(n))
		}
	}
	slices.SortFunc(t.found, func(a, b []Node) int { return cmp.Compare(a[0], b[0]) })
	return t.found
}

type tarjan struct {
	g       *Graph
	target  func(Edge) Node
	index   []int32 // 1 + order of discovery; 0: undiscovered
	low     []int32
	onStack []bool
	stack   []Node
	next    int32
	found   [][]Node
	work    []frame // empty between runs, kept for its capacity
}

// frame is a node being visited, with the number of its owners that are done.
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
			owner := t.target(Edge{top.n, top.done})
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

// leave pops the component whose root is n.
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
