package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// Later is an object that is not touched now, and goes once others let go of what
// they hold. What would go all the same, as soon as the collector comes to it, is
// none: that is not for this deletion to foretell.
type Later struct {
	Object object.Identity   `json:"object"`
	After  []object.Identity `json:"after"`  // what has to be let go of first; never empty
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
	var out []Later
	lists := map[*graph.Node][]object.Identity{} // by list, which many objects have in common
	for _, n := range a.Begun {
		after := a.After[n]
		if len(after) == 0 {
			continue
		}
		names, known := lists[&after[0]]
		if !known {
			for _, holder := range after {
				names = append(names, m.graph.Object(holder).Identity)
			}
			lists[&after[0]] = names
		}
		out = append(out, m.laterOne(n, after, names, holds))
	}
	slices.SortStableFunc(out, func(a, b Later) int { return a.Object.Compare(b.Object) })
	return out
}

func (m *maker) laterOne(n graph.Node, after []graph.Node, names []object.Identity, holds map[graph.Node]string) Later {
	l := Later{Object: m.graph.Object(n).Identity, After: names}
	l.Reason = fmt.Sprintf("goes once %s is gone", l.After[0])
	if len(after) > 1 {
		l.Reason = fmt.Sprintf("goes once %s are gone", named(l.After))
	}
	if by := holds[after[0]]; by != "" && len(after) == 1 {
		l.Reason += ", which " + by + " holds"
	}
	return l
}
