package plan

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
)

// nondeterministic returns why the outcome for an object may be another one. What follows
// from a move that may not be made may not come either.
func (m *maker) nondeterministic() map[graph.Node]reason.Reason {
	out := map[graph.Node]reason.Reason{}
	why := make([]reason.Reason, len(m.course.Transitions))
	for i := range m.course.Transitions {
		move := &m.course.Transitions[i]
		switch {
		case m.course.Entangled.Has(move.Node):
			why[i] = reason.CyclePartlyRequested{}
		case move.Nondeterministic != graph.None:
			why[i] = m.orderMatters(move)
		}
		if move.Follows >= 0 && why[i] == nil && why[move.Follows] != nil {
			why[i] = reason.DependsOn{Object: m.graph.Object(m.course.Transitions[move.Follows].Node).Identity}
		}
		if _, said := out[move.Node]; why[i] != nil && !said {
			out[move.Node] = why[i]
		}
	}
	return out
}

// orderMatters returns what else may become of an object because of an owner.
func (m *maker) orderMatters(move *simulate.Transition) reason.OrderMatters {
	owner := m.course.Model.Object(move.Nondeterministic)
	out := reason.OrderMatters{
		OwnerHeld: owner != nil && len(owner.ForeignFinalizers()) > 0, Orphaned: move.Requested != graph.None, Unblocked: move.Action == collector.ActionUnblock,
	}
	if of := m.graph.Object(move.Nondeterministic); of != nil {
		out.Owner = &of.Identity
	}
	return out
}
