package plan

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
)

// nondeterministic returns why the outcome for an object may be another one. What follows
// from a move that may not be made may not come either.
func (m *builder) nondeterministic() map[graph.Node]reason.Reason {
	out := map[graph.Node]reason.Reason{}
	why := make([]reason.Reason, len(m.result.Transitions))
	for i := range m.result.Transitions {
		transition := &m.result.Transitions[i]
		switch {
		case m.result.Entangled.Has(transition.Node):
			why[i] = reason.CyclePartlyRequested{}
		case transition.Nondeterministic != graph.None:
			why[i] = m.orderMatters(transition)
		}
		if transition.Follows >= 0 && why[i] == nil && why[transition.Follows] != nil {
			why[i] = reason.DependsOn{Object: m.graph.Object(m.result.Transitions[transition.Follows].Node).Identity}
		}
		if _, said := out[transition.Node]; why[i] != nil && !said {
			out[transition.Node] = why[i]
		}
	}
	return out
}

// orderMatters returns what else may become of an object because of an owner.
func (m *builder) orderMatters(transition *simulate.Transition) reason.OrderMatters {
	owner := m.result.Model.Object(transition.Nondeterministic)
	out := reason.OrderMatters{
		OwnerHeld: owner != nil && len(owner.ForeignFinalizers()) > 0, Orphaned: transition.Requested != graph.None, Unblocked: transition.Action == collector.ActionUnblock,
	}
	if of := m.graph.Object(transition.Nondeterministic); of != nil {
		out.Owner = &of.Identity
	}
	return out
}
