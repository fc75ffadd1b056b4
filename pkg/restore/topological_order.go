package restore

import (
	"cmp"
	"container/heap"
	"slices"
)

// topologicalOrder returns the numbers below n in an order that satisfies as many
// precedences as possible, and the satisfied ones. It is Kahn's algorithm, smallest
// number first; in a cycle it drops the weakest precedence.
func topologicalOrder(n int, all []precedence) (order []int, satisfied []precedence) {
	dropped := make([]bool, len(all))
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
	for e, p := range all {
		if !dropped[e] {
			satisfied = append(satisfied, p)
		}
	}
	return order, satisfied
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
