package plan

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// DeletedLater is an object that the run does not delete, but that is deleted as soon as
// others are gone. Objects that the garbage collector deletes in any case are not included.
type DeletedLater struct {
	Object object.Identity   `json:"object"`
	After  []object.Identity `json:"after"` // what has to be gone first; never empty
	Reason reason.Reason     `json:"-"`
}

// deletedLater simulates what follows the run.
func (b *builder) deletedLater() []DeletedLater {
	release := b.result.SimulateRelease()
	var out []DeletedLater
	lists := map[*graph.Node][]object.Identity{} // by the first element of a list that many objects share
	for _, n := range release.DeletionsBegun {
		after := release.Causes[n]
		if len(after) == 0 {
			continue
		}
		names, known := lists[&after[0]]
		if !known {
			for _, holder := range after {
				names = append(names, b.graph.Object(holder).Identity)
			}
			lists[&after[0]] = names
		}
		why := reason.DeletedAfter{Objects: names}
		if holder := b.result.Model.Object(after[0]); len(after) == 1 && holder.Terminating() && int(after[0]) < b.graph.Listed() {
			why.Finalizers = holder.ForeignFinalizers()
		}
		out = append(out, DeletedLater{Object: b.graph.Object(n).Identity, After: names, Reason: why})
	}
	slices.SortStableFunc(out, func(a, b DeletedLater) int { return a.Object.Compare(b.Object) })
	return out
}
