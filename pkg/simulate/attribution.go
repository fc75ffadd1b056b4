package simulate

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// attribute records which releases cause a transition: an object is deleted because of
// the owners that it loses, and a foreground deletion completes because of the dependents
// that blocked it. It costs one step per reference. A reference that was dangling in the
// snapshot is no cause: its owner never existed during the simulation.
func (r *releaseState) attribute(s *simulation, t *Transition) {
	var by []graph.Node
	switch {
	case t.Requested != graph.None:
		by = []graph.Node{t.Requested}
	case !t.StateBefore.Terminating():
		for i, v := range s.model.judged(t.Node) {
			if t.Verdicts[i].IsBad() && v != collector.Dangling {
				by = append(by, s.model.graph.Find(t.StateBefore.Owners[i].UID))
			}
		}
	default:
		for _, e := range s.model.graph.Dependents(t.Node) {
			if s.model.graph.Reference(e).Blocks() {
				by = append(by, e.Node)
			}
		}
	}
	r.addCauses(t.Node, by...)
}

// attribute records that n changes because of another object, without a transition.
func (s *simulation) attribute(n, by graph.Node) {
	if s.release != nil {
		s.release.addCauses(n, by)
	}
}

// addCauses adds the causes of other objects to those of n.
func (r *releaseState) addCauses(n graph.Node, others ...graph.Node) {
	var lists [][]graph.Node
	add := func(list []graph.Node) {
		if last := len(lists) - 1; len(list) > 0 && (last < 0 || !identical(lists[last], list)) {
			lists = append(lists, list)
		}
	}
	add(r.causes[n])
	for _, other := range others {
		if r.released[other] {
			add([]graph.Node{other})
		} else {
			add(r.causes[other])
		}
	}
	switch len(lists) {
	case 0:
	case 1:
		r.causes[n] = lists[0] // shared, so the cost of a chain is linear
	default:
		all := slices.Concat(lists...)
		slices.Sort(all)
		r.causes[n] = r.deduplicated(slices.Compact(all))
	}
}

// identical reports whether two lists share their memory.
func identical(a, b []graph.Node) bool { return len(a) == len(b) && &a[0] == &b[0] }

// deduplicated returns the earlier list that equals list, if there is one.
func (r *releaseState) deduplicated(list []graph.Node) []graph.Node {
	const prime = 1099511628211 // of FNV-1a
	key := uint64(len(list))
	for _, n := range list {
		key = (key ^ uint64(n)) * prime
	}
	for _, earlier := range r.lists[key] {
		if slices.Equal(earlier, list) {
			return earlier
		}
	}
	r.lists[key] = append(r.lists[key], list)
	return list
}
