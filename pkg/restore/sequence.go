package restore

import "container/heap"

// sequence is an order that keeps as many precedences as it can.
type sequence struct {
	sequence []int
	kept     []precedence
}

// orderOf is Kahn's algorithm, the smallest number first. Where nothing is left
// that may come next, there is a circle: of it the weakest precedence is given up.
func orderOf(n int, all []precedence) sequence {
	var out sequence
	given := make([]bool, len(all)) // up
	into, from := make([][]int, n), make([][]int, n)
	waits := make([]int, n)
	for e, p := range all {
		into[p.after], from[p.before] = append(into[p.after], e), append(from[p.before], e)
		waits[p.after]++
	}
	done := make([]bool, n)
	ready := &numbers{}
	for i := range n {
		if waits[i] == 0 {
			heap.Push(ready, i)
		}
	}
	first := 0
	for len(out.sequence) < n {
		if ready.Len() == 0 {
			for done[first] {
				first++
			}
			e := weakest(all, circle(first, all, into, given, done))
			given[e] = true
			if waits[all[e].after]--; waits[all[e].after] == 0 {
				heap.Push(ready, all[e].after)
			}
			continue
		}
		i := heap.Pop(ready).(int)
		done[i] = true
		out.sequence = append(out.sequence, i)
		for _, e := range from[i] {
			if given[e] {
				continue
			}
			if waits[all[e].after]--; waits[all[e].after] == 0 {
				heap.Push(ready, all[e].after)
			}
		}
	}
	for e, p := range all {
		if !given[e] {
			out.kept = append(out.kept, p)
		}
	}
	return out
}

// circle goes back from a number, each of which waits for another, until it comes
// to one where it has been.
func circle(at int, all []precedence, into [][]int, given, done []bool) []int {
	var path []int
	met := map[int]int{}
	for {
		if i, been := met[at]; been {
			return path[i:]
		}
		met[at] = len(path)
		for _, e := range into[at] {
			if !given[e] && !done[all[e].before] {
				path = append(path, e)
				at = all[e].before
				break
			}
		}
	}
}

func weakest(all []precedence, of []int) int {
	out := of[0]
	for _, e := range of {
		if all[e].strength < all[out].strength {
			out = e
		}
	}
	return out
}

// numbers is a heap.
type numbers []int

func (n numbers) Len() int           { return len(n) }
func (n numbers) Less(i, j int) bool { return n[i] < n[j] }
func (n numbers) Swap(i, j int)      { n[i], n[j] = n[j], n[i] }
func (n *numbers) Push(v any)        { *n = append(*n, v.(int)) }
func (n *numbers) Pop() any {
	last := (*n)[len(*n)-1]
	*n = (*n)[:len(*n)-1]
	return last
}
