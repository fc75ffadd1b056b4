package plan

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// DeletedLater is an object that is not deleted now, and is as soon as others are gone.
// What the collector would delete all the same, as soon as it processes it, is not one.
type DeletedLater struct {
	Object object.Identity   `json:"object"`
	After  []object.Identity `json:"after"` // what has to be gone first; never empty
	Reason reason.Reason     `json:"-"`
}

// deletedLater goes on from the end of the course, which moves the model: it must come
// last.
func (m *builder) deletedLater() []DeletedLater {
	holds := map[graph.Node][]string{} // the finalizers that hold an object, as the course left it
	for n := range m.graph.Listed() {
		if o := m.result.Model.Object(graph.Node(n)); o != nil && o.Terminating() {
			holds[graph.Node(n)] = o.ForeignFinalizers()
		}
	}
	a := m.result.SimulateRelease()
	var out []DeletedLater
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
	slices.SortStableFunc(out, func(a, b DeletedLater) int { return a.Object.Compare(b.Object) })
	return out
}

func (m *builder) laterOne(n graph.Node, after []graph.Node, names []object.Identity, holds map[graph.Node][]string) DeletedLater {
	why := reason.DeletedAfter{Objects: names}
	if len(after) == 1 {
		why.Finalizers = holds[after[0]]
	}
	return DeletedLater{Object: m.graph.Object(n).Identity, After: names, Reason: why}
}
