package simulate

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// attribute notes on whose account a move is made that is about to be: an object goes
// on account of the owners that it loses, and a foreground deletion ends on that of
// the dependents that blocked it. It costs the references of the object, or those to
// it. A reference that was dangling in the snapshot already is no reason, whatever
// becomes of what has its UID: the owner that it names was not there.
func (a *afterRelease) attribute(s *simulation, m *Transition) {
	var by []graph.Node
	switch {
	case m.Requested != graph.None:
		by = []graph.Node{m.Requested}
	case !m.StateBefore.Terminating():
		for i, v := range s.model.judged(m.Node) {
			if m.Verdicts[i].IsBad() && v != collector.Dangling {
				by = append(by, s.model.graph.Find(m.StateBefore.Owners[i].UID))
			}
		}
	default:
		for _, e := range s.model.graph.Dependents(m.Node) {
			if s.model.graph.Reference(e).Blocks() {
				by = append(by, e.Node)
			}
		}
	}
	a.owe(m.Node, by...)
}

// owe notes that an object moves on because others did.
func (a *afterRelease) owe(n graph.Node, by ...graph.Node) {
	var all [][]graph.Node
	add := func(some []graph.Node) {
		if last := len(all) - 1; len(some) > 0 && (last < 0 || !same(all[last], some)) {
			all = append(all, some)
		}
	}
	add(a.owed[n])
	for _, other := range by {
		add(a.holders(other))
	}
	switch len(all) {
	case 0:
	case 1:
		a.owed[n] = all[0] // shared, so that a chain costs no more than its length
	default:
		after := slices.Concat(all...)
		slices.Sort(after)
		a.owed[n] = a.known(slices.Compact(after))
	}
}

// same says whether two lists are one.
func same(a, b []graph.Node) bool { return len(a) == len(b) && &a[0] == &b[0] }

// known is a list of holders as it was answered before: where all hang on the same, one
// list is enough.
func (a *afterRelease) known(after []graph.Node) []graph.Node {
	const prime = 1099511628211 // of FNV-1a
	key := uint64(len(after))
	for _, n := range after {
		key = (key ^ uint64(n)) * prime
	}
	for _, have := range a.lists[key] {
		if slices.Equal(have, after) {
			return have
		}
	}
	a.lists[key] = append(a.lists[key], after)
	return after
}

// holders are what had to be let go of before an object moved on: the object
// itself where it was.
func (a *afterRelease) holders(n graph.Node) []graph.Node {
	if a.released[n] {
		return []graph.Node{n}
	}
	return a.owed[n]
}

// owe is for what others move on, and no move does.
func (s *simulation) owe(n, by graph.Node) {
	if s.afterward != nil {
		s.afterward.owe(n, by)
	}
}
