package plan

import (
	"fmt"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// Stay is an object that depends on something that goes, and outlives it.
type Stay struct {
	Object object.Identity   `json:"object"`
	Reason string            `json:"reason"` // unescaped
	KeptBy []object.Identity `json:"keptBy"` // its owners that remain; empty where there are none
	Loses  int               `json:"loses"`  // how many of its references are dropped
	// Unsure says that nobody can say so for sure, as an owner could not be verified.
	Unsure bool `json:"unsure,omitempty"`
}

// stays lists the dependents of everything that goes which do not.
func (m *maker) stays() []Stay {
	hindrances := audit.NewHindrances(m.judge, m.course.Model)
	leaving := m.touched()
	for _, n := range m.course.Asked {
		leaving.Add(n)
	}
	orphaned := map[graph.Node]graph.Node{}
	for i := range m.course.Moves {
		if move := &m.course.Moves[i]; move.For != graph.None {
			orphaned[move.Node] = move.For
		}
	}
	seen := graph.NewSet(m.graph)
	var out []Stay
	for _, owner := range leaving.Nodes() {
		if o := m.course.Model.Object(owner); o != nil && !o.Terminating() {
			continue
		}
		for _, e := range m.graph.Dependents(owner) {
			o := m.course.Model.Object(e.Node)
			if o == nil || o.Terminating() || int(e.Node) >= m.graph.Listed() || !seen.Add(e.Node) {
				continue
			}
			out = append(out, m.stay(hindrances, e.Node, orphaned))
		}
	}
	slices.SortStableFunc(out, func(a, b Stay) int { return a.Object.Compare(b.Object) })
	return out
}

func (m *maker) stay(hindrances *audit.Hindrances, n graph.Node, orphaned map[graph.Node]graph.Node) Stay {
	before, now := m.graph.Object(n), m.course.Model.Object(n)
	s := Stay{Object: before.Identity, KeptBy: []object.Identity{}, Loses: len(before.Owners) - len(now.Owners)}
	var held *object.Object
	seen := map[object.Identity]bool{}
	for i, v := range m.course.Model.Verdicts(n) {
		owner := m.course.Model.Object(m.graph.Find(now.Owners[i].UID))
		switch {
		case v != collector.Solid || owner == nil || seen[owner.Identity]:
			continue
		case owner.Terminating():
			held = owner
		}
		seen[owner.Identity] = true
		s.KeptBy = append(s.KeptBy, owner.Identity)
	}
	slices.SortStableFunc(s.KeptBy, object.Identity.Compare)
	s.Reason, s.Unsure = m.whyStays(hindrances, n, s, held, orphaned)
	return s
}

// whyStays is worded as what follows the name of the object.
func (m *maker) whyStays(hindrances *audit.Hindrances, n graph.Node, s Stay, held *object.Object, orphaned map[graph.Node]graph.Node) (reason string, unsure bool) {
	d := m.course.Model.Decide(n)
	owner, lets := orphaned[n]
	switch kept := s.KeptBy; {
	case d.Hold == collector.ContentsUnknown:
		return audit.ContentsUnknown(m.contentsGaps(n)).Message(), true
	case d.Hold == collector.Contested:
		return leftAlone(m.graph.Object(n)), true
	case d.Hold == collector.Undecidable:
		verdict := m.course.Model.Verdicts(n)[d.Culprit]
		return "cannot be judged: " + hindrances.Culprit(n, d.Culprit).Undecidable(), verdict == collector.Unknown
	case lets && len(kept) == 0:
		return m.graph.Object(owner).String() + " lets go of it (orphan), and nothing owns it then", false
	case lets:
		return m.graph.Object(owner).String() + " lets go of it (orphan), and " + named(kept) + " remains", false
	case held != nil && len(kept) == 1:
		return fmt.Sprintf("%s is not gone until it is let go of, and keeps it until then", held), false
	case len(kept) > 0:
		return "is also owned by " + named(kept), false
	case len(m.course.Model.Object(n).Owners) == 0:
		return "loses its last reference, and nothing owns it then", false
	}
	return "the collector does not come to it", false
}

func named(of []object.Identity) string {
	if len(of) == 1 {
		return of[0].String()
	}
	return fmt.Sprintf("%s and %d more", of[0], len(of)-1)
}

func hangsOn(o *object.Object) string { return "it hangs on what becomes of " + o.String() }

// unsure says of which objects it is a matter of luck what becomes of them, and
// why. What follows from a move that may not be made may not come either.
func (m *maker) unsure() map[graph.Node]string {
	out := map[graph.Node]string{}
	why := make([]string, len(m.course.Moves))
	for i := range m.course.Moves {
		move := &m.course.Moves[i]
		switch {
		case m.course.Tangled.Has(move.Node):
			why[i] = "more than one object of a circle is asked for: they may wait for each other for ever"
		case move.Race != graph.None:
			why[i] = m.luck(move)
		}
		if move.Follows >= 0 && why[i] == "" && why[move.Follows] != "" {
			why[i] = hangsOn(m.graph.Object(m.course.Moves[move.Follows].Node))
		}
		if _, said := out[move.Node]; why[i] != "" && !said {
			out[move.Node] = why[i]
		}
	}
	return out
}

// luck says what else may become of an object, on account of an owner.
func (m *maker) luck(move *collector.Move) string {
	owner, name := m.course.Model.Object(move.Race), "an owner that is gone"
	if of := m.graph.Object(move.Race); of != nil {
		name = of.String()
	}
	held := owner != nil && len(owner.ForeignFinalizers()) > 0
	switch {
	case move.For != graph.None:
		return fmt.Sprintf("if the collector comes to it for %s first, it is deleted", name)
	case move.Act == collector.Unblock && held:
		return fmt.Sprintf("it no longer blocks %s, which others hold: if the collector comes to it soon enough, it is deleted", name)
	case move.Act == collector.Unblock:
		return fmt.Sprintf("it no longer blocks %s: if the collector comes to it soon enough, it waits for its own dependents", name)
	case held:
		return fmt.Sprintf("it does not block %s, which others hold: if the collector comes to it late, it stays", name)
	}
	return fmt.Sprintf("it does not block %s: if the collector comes to it late, it does not wait for its own dependents", name)
}
