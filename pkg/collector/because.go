package collector

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// because notes on whose account a move is made that is about to be: an object goes
// on account of the owners that it loses, and a foreground deletion ends on that of
// the dependents that blocked it. It costs the references of the object, or those to
// it. A reference that was dangling in the snapshot already is no reason, whatever
// becomes of what has its UID: the owner that it names was not there.
func (a *afterward) because(s *simulation, m *Move) {
	var by []graph.Node
	switch {
	case m.For != graph.None:
		by = []graph.Node{m.For}
	case !m.Before.Terminating():
		for i, v := range s.judged(m.Node) {
			if m.Verdicts[i].Lost() && v != Dangling {
				by = append(by, s.graph.Find(m.Before.Owners[i].UID))
			}
		}
	default:
		for _, e := range s.graph.Dependents(m.Node) {
			if s.graph.Reference(e).Blocks() {
				by = append(by, e.Node)
			}
		}
	}
	a.owe(m.Node, by...)
}

// owe notes that an object moves on because others did.
func (a *afterward) owe(n graph.Node, by ...graph.Node) {
	var all [][]graph.Node
	if before := a.owed[n]; len(before) > 0 {
		all = append(all, before)
	}
	for _, other := range by {
		if after := a.holders(other); len(after) > 0 {
			all = append(all, after)
		}
	}
	switch len(all) {
	case 0:
	case 1:
		a.owed[n] = all[0] // shared, so that a chain costs no more than its length
	default:
		after := slices.Concat(all...)
		slices.Sort(after)
		a.owed[n] = slices.Compact(after)
	}
}

// holders are what had to be let go of before an object moved on: the object
// itself where it was.
func (a *afterward) holders(n graph.Node) []graph.Node {
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
