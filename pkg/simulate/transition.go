package simulate

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

func (s *simulation) do(pass int, n graph.Node, d collector.Decision, orphanedFrom graph.Node) {
	before := s.model.now[n]
	move := Transition{Decision: d, Pass: pass, Node: n, StateBefore: before, Requested: orphanedFrom, StateAfter: s.before(n, d)}
	if !before.Terminating() {
		move.Verdicts = s.model.Verdicts(n)
	}
	move.Follows, move.Nondeterministic = s.follows(move), s.markNondeterministic(move)
	if s.afterward != nil {
		s.afterward.attribute(s, &move)
	}
	if index := s.make(move); d.Action == collector.ActionDelete && s.model.now[n] != nil {
		s.others(index, n)
	}
}

// make makes a move, as far as the API server is concerned, and answers its
// number.
func (s *simulation) make(m Transition) int {
	index := len(s.course.Transitions)
	s.course.Transitions = append(s.course.Transitions, m)
	s.last[m.Node] = int32(index)
	s.model.Apply(m.Node, m.Decision)
	return index
}

// before are the moves whose effects a move rests on, and those that rest on
// what it changes.
func (s *simulation) before(n graph.Node, d collector.Decision) []int {
	out := s.around(nil, n)
	if home, ok := s.home[n]; ok {
		out = s.around(out, home)
	}
	if d.Action == collector.ActionDelete && takesAlong(s.model.now[n]) {
		for _, member := range s.inside(n) {
			out = s.around(out, member)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// around appends the last moves on a node, its owners and its dependents.
func (s *simulation) around(out []int, n graph.Node) []int {
	add := func(of graph.Node) {
		if of >= 0 && int(of) < len(s.last) && s.last[of] >= 0 {
			out = append(append(out, int(s.last[of])), s.ends[of]...)
		}
	}
	add(n)
	for _, owner := range s.model.graph.Owners(n) {
		add(owner)
	}
	for _, e := range s.model.graph.Dependents(n) {
		add(e.Node)
	}
	return out
}

// follows is the last move on the object, or on an owner that a bad reference
// leads to.
func (s *simulation) follows(m Transition) int {
	out := int(s.last[m.Node])
	if m.Requested != graph.None {
		return max(out, int(s.last[m.Requested]))
	}
	for i, v := range m.Verdicts {
		owner := s.model.graph.Find(m.StateBefore.Owners[i].UID)
		if v.IsBad() && owner >= 0 && int(owner) < len(s.last) {
			out = max(out, int(s.last[owner]))
		}
	}
	return out
}
