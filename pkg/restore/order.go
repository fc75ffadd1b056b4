package restore

import (
	"cmp"
	"container/heap"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// strength is how important a precedence is. In a cycle the weakest one yields.
type strength int

const (
	preferred strength = iota // so that the API server does not refuse the object
	ownership                 // so that the object can be created with its reference; otherwise it is linked later
	required                  // the object cannot be created without
)

// precedence says that one object is created before another.
type precedence struct {
	before, after int // indexes in toCreate
	strength      strength
}

// creationOrder returns the order of creation and, for each object, the positions
// of those that it must wait for:
//
//   - a namespace comes before its contents, a CustomResourceDefinition before its
//     instances;
//   - an owner comes before its dependents;
//   - but a controller that adopts comes after its dependents, because it would
//     create those that it misses;
//   - what an object needs to be admitted comes before it, and what may refuse other
//     objects comes after them.
func (p *planner) creationOrder() (order []*recreation, after [][]int) {
	precedences := p.precedences()
	sequence, dropped := topologicalOrder(len(p.toCreate), precedences)
	for position, i := range sequence {
		p.toCreate[i].position = position
		order = append(order, p.toCreate[i])
	}
	after = make([][]int, len(order))
	for i, e := range precedences {
		if !dropped[i] {
			at := p.toCreate[e.after].position
			after[at] = append(after[at], p.toCreate[e.before].position)
		}
	}
	for i := range after {
		slices.Sort(after[i])
		after[i] = slices.Compact(after[i])
	}
	for _, h := range p.holders {
		for _, r := range h.references {
			r.linkedLater = h.live == nil && r.owner.pending() && r.owner.position >= h.recreation.position
		}
	}
	return order, after
}

func (p *planner) precedences() []precedence {
	var out []precedence
	var all []int
	index := make(map[*recreation]int, len(p.toCreate))
	byName := map[prerequisite]int{}
	inNamespace := map[string][]int{}
	definitions := map[schema.GroupKind]int{}
	for i, c := range p.toCreate {
		index[c], all = i, append(all, i)
		o := c.saved.Object
		byName[prerequisite{o.GroupVersionKind().GroupKind(), o.Namespace, o.Name}] = i
		inNamespace[o.Namespace] = append(inNamespace[o.Namespace], i)
		for _, t := range c.types {
			definitions[schema.GroupKind{Group: t.Group, Kind: t.Kind}] = i
		}
	}
	add := func(before, after int, s strength) {
		if before != after {
			out = append(out, precedence{before, after, s})
		}
	}
	for i, c := range p.toCreate {
		o := c.saved.Object
		if namespace, ok := byName[prerequisite{schema.GroupKind{Kind: "Namespace"}, "", o.Namespace}]; ok && o.Namespace != "" {
			add(namespace, i, required)
		}
		if definition, ok := definitions[o.GroupVersionKind().GroupKind()]; ok {
			add(definition, i, required)
		}
		for _, r := range c.holder.references {
			switch owner, ok := index[r.owner]; {
			case !ok || !r.accepted:
			case adopting(r.restored):
				add(i, owner, ownership)
			default:
				add(owner, i, ownership)
			}
		}
		for _, n := range c.prerequisites {
			if before, ok := byName[n]; ok {
				add(before, i, preferred)
			}
		}
		var refused []int // what it may refuse
		switch c.kind.refuses {
		case refusesInNamespace:
			refused = inNamespace[o.Namespace]
		case refusesAnywhere:
			refused = all
		case refusesNothing:
		}
		for _, before := range refused {
			if p.toCreate[before].kind.refuses < c.kind.refuses {
				add(before, i, preferred)
			}
		}
	}
	return out
}

// topologicalOrder returns the numbers below n in an order that satisfies as many
// precedences as possible, and which of those it dropped. It is Kahn's algorithm, smallest
// number first; in a cycle it drops the weakest precedence.
func topologicalOrder(n int, all []precedence) (order []int, dropped []bool) {
	dropped = make([]bool, len(all))
	incoming, outgoing := make([][]int, n), make([][]int, n) // indexes in all
	waiting := make([]int, n)
	for e, p := range all {
		incoming[p.after], outgoing[p.before] = append(incoming[p.after], e), append(outgoing[p.before], e)
		waiting[p.after]++
	}
	done := make([]bool, n)
	ready := &intHeap{}
	for i := range n {
		if waiting[i] == 0 {
			heap.Push(ready, i)
		}
	}
	release := func(i int) {
		if waiting[i]--; waiting[i] == 0 {
			heap.Push(ready, i)
		}
	}
	for first := 0; len(order) < n; {
		if ready.Len() == 0 {
			for done[first] {
				first++
			}
			cycle := findCycle(first, all, incoming, dropped, done)
			e := slices.MinFunc(cycle, func(a, b int) int { return cmp.Compare(all[a].strength, all[b].strength) })
			dropped[e] = true
			release(all[e].after)
			continue
		}
		i := heap.Pop(ready).(int)
		done[i] = true
		order = append(order, i)
		for _, e := range outgoing[i] {
			if !dropped[e] {
				release(all[e].after)
			}
		}
	}
	return order, dropped
}

// findCycle follows unsatisfied precedences backward from a number until one
// repeats. Every number that is not done must have one.
func findCycle(at int, all []precedence, incoming [][]int, dropped, done []bool) []int {
	var path []int
	visited := map[int]int{}
	for {
		if i, ok := visited[at]; ok {
			return path[i:]
		}
		visited[at] = len(path)
		for _, e := range incoming[at] {
			if !dropped[e] && !done[all[e].before] {
				path = append(path, e)
				at = all[e].before
				break
			}
		}
	}
}

// intHeap implements heap.Interface.
type intHeap []int

func (h intHeap) Len() int           { return len(h) }
func (h intHeap) Less(i, j int) bool { return h[i] < h[j] }
func (h intHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *intHeap) Push(v any)        { *h = append(*h, v.(int)) }
func (h *intHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
