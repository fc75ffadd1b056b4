package plan

import (
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// Later is an object that is not touched now, and goes once others let go of what
// they hold.
type Later struct {
	Object object.Identity   `json:"object"`
	After  []object.Identity `json:"after"`  // what has to be let go of first
	Reason string            `json:"reason"` // unescaped
}

// later goes on from the end of the course, which moves the model: it must come
// last.
func (m *maker) later() []Later {
	holds := map[graph.Node]string{} // what holds an object, as the course left it
	for n := range m.graph.Listed() {
		if o := m.course.Model.Object(graph.Node(n)); o != nil && o.Terminating() {
			holds[graph.Node(n)] = strings.Join(o.ForeignFinalizers(), ", ")
		}
	}
	a := m.course.Afterwards()
	causes := make([][]graph.Node, len(a.Moves))
	of := map[graph.Node][]graph.Node{}
	for i := range a.Moves {
		move := &a.Moves[i]
		causes[i] = m.causes(a, move)
		if len(causes[i]) == 0 && move.Follows >= 0 {
			causes[i] = causes[move.Follows]
		}
		of[move.Node] = causes[i]
	}
	var out []Later
	for _, n := range a.Begun {
		after := of[n]
		if by, swept := a.Swept[n]; swept && len(after) == 0 {
			after = causes[by]
		}
		out = append(out, m.laterOne(n, after, holds))
	}
	slices.SortStableFunc(out, func(a, b Later) int { return a.Object.Compare(b.Object) })
	return out
}

// causes are the owners of a move's object that had to be let go of first.
func (m *maker) causes(a *collector.Aftermath, move *collector.Move) []graph.Node {
	var out []graph.Node
	for _, r := range move.Before.Owners {
		if owner := m.graph.Find(r.UID); a.Released[owner] && !slices.Contains(out, owner) {
			out = append(out, owner)
		}
	}
	return out
}

func (m *maker) laterOne(n graph.Node, after []graph.Node, holds map[graph.Node]string) Later {
	l := Later{Object: m.graph.Object(n).Identity, After: []object.Identity{}, Reason: "goes once what holds the others up lets go"}
	for _, holder := range after {
		l.After = append(l.After, m.graph.Object(holder).Identity)
	}
	if len(after) > 0 {
		l.Reason = "goes once " + m.graph.Object(after[0]).String() + " is gone"
		if by := holds[after[0]]; by != "" {
			l.Reason += ", which " + by + " holds"
		}
	}
	slices.SortStableFunc(l.After, object.Identity.Compare)
	return l
}
