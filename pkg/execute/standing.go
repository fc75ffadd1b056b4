package execute

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// evaluation is where a step stands on the mirror at one moment.
type evaluation struct {
	object   *object.Object // nil: gone
	decision collector.Decision
	saved    bool          // the object is as it was saved
	why      reason.Reason // why the step is not done; nil: it is
	exact    bool          // it does the very same as was planned

	// asks are the objects that must have been read again for the decision to
	// count.
	asks []graph.Node
	// unknown says that an owner which is waiting is not in the graph, so that
	// only the object itself can be read again.
	unknown bool
}

// stand asks the collector again. Swept says that others may have deleted
// something along with what this run has.
func (m *liveModel) stand(step *plan.Step, swept bool) evaluation {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.evaluate(step, swept)
}

func (m *liveModel) evaluate(step *plan.Step, swept bool) evaluation {
	move := step.Move
	n := move.Node
	s := evaluation{object: m.model.Object(n)}
	if s.object != nil {
		v, ok := m.saved[n]
		s.saved = ok && v == s.object.ResourceVersion
	}
	switch {
	case step.Requested:
		s.decision, s.why, s.exact = move.Decision, another(move.StateBefore, s.object), true
	case mends(step):
		s.decision, s.why, s.asks = m.mending(step, s.object)
		s.exact = s.why == nil && sameReferences(meant(s.object, s.decision), meant(move.StateBefore, move.Decision))
		return s
	case move.Requested == graph.None:
		s.decision = m.model.Decide(n)
	default:
		s.decision = m.model.HasOrphanedDependents(move.Requested, n)
	}
	switch {
	case step.Requested:
	case s.decision.Action != step.Action || s.decision.Change.Release != step.Finalizer:
		s.why = why(m.model, step, n, s.decision)
	default:
		s.exact = s.decision.Policy == move.Policy && sameReferences(meant(s.object, s.decision), meant(move.StateBefore, move.Decision))
	}
	switch {
	case s.object == nil:
	case s.why != nil && swept:
		s.asks = m.around(n)
	case s.why == nil && move.Requested == graph.None && !step.Requested && !s.object.Terminating():
		s.asks, s.unknown = m.waiting(n)
	}
	return s
}

// waiting are the owners of an object that wait for their dependents: any of
// them may have become solid. Unknown says that one of them is not in the graph.
func (m *liveModel) waiting(n graph.Node) (owners []graph.Node, unknown bool) {
	seen := map[graph.Node]bool{}
	for i, v := range m.model.Verdicts(n) {
		if v != collector.Waiting {
			continue
		}
		owner := m.graph.Find(m.model.Object(n).Owners[i].UID)
		if m.model.Object(owner) == nil {
			unknown = true
		} else if !seen[owner] {
			seen[owner] = true
			owners = append(owners, owner)
		}
	}
	return owners, unknown
}

// around are an object, its owners and its dependents, those that are not known
// to be gone.
func (m *liveModel) around(n graph.Node) []graph.Node {
	var out []graph.Node
	seen := map[graph.Node]bool{}
	add := func(of graph.Node) {
		if m.model.Object(of) != nil && !seen[of] {
			seen[of] = true
			out = append(out, of)
		}
	}
	add(n)
	for _, owner := range m.graph.Owners(n) {
		add(owner)
	}
	for _, e := range m.graph.Dependents(n) {
		add(e.Node)
	}
	return out
}

// meant are the references that a decision changes.
func meant(o *object.Object, d collector.Decision) []object.Reference {
	var out []object.Reference
	for _, i := range d.Change.Touched() {
		out = append(out, o.Owners[i])
	}
	return out
}
