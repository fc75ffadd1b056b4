package planrun

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// evaluation is the result of deciding again on a step.
type evaluation struct {
	object   *object.Object // nil: gone
	decision collector.Decision
	backedUp bool           // in the object's present state
	skip     *reason.Reason // why the step is not to be done; nil: it is

	// rereads are the objects that must have been read since the latest write for the
	// evaluation to count.
	rereads []graph.Node
	// ownerUnknown reports that a waiting owner is not in the graph. Only the object
	// itself can be read again then.
	ownerUnknown bool
}

// evaluate updates the model with what was read and decides again on a step.
// contentsDeleting reports whether others may have deleted objects because of this run.
func (m *liveModel) evaluate(step *plan.Step, read map[graph.Node]observation, contentsDeleting bool) evaluation {
	m.mu.Lock()
	defer m.mu.Unlock()
	for n, now := range read {
		m.observeState(n, now)
	}
	n := step.Transition().Node
	e := evaluation{object: m.model.Object(n)}
	if e.object != nil {
		version, ok := m.backedUp[n]
		e.backedUp = ok && version == e.object.ResourceVersion
	}
	switch {
	case step.Requested:
		e.decision = step.Transition().Decision
		e.skip = changeSincePlanned(step, e.object)
	case step.IsRepair():
		e.decision, e.skip, e.rereads = m.decideRepair(step, e.object)
		return e
	default:
		e.decision = m.model.Decide(n)
		if owner := step.Transition().OrphanedFrom; owner != graph.None {
			e.decision = m.model.DecideOrphan(owner, n)
		}
		if plan.Action(e.decision.Action) != step.Action || e.decision.Change.RemoveFinalizer != step.Finalizer() {
			e.skip = skipReason(m.model, step, n, e.decision)
		}
	}
	switch {
	case e.object == nil:
	case e.skip != nil && contentsDeleting:
		e.rereads = m.neighbors(n)
	case e.skip == nil && step.Transition().OrphanedFrom == graph.None && !step.Requested && !e.object.Terminating():
		e.rereads, e.ownerUnknown = m.waitingOwners(n)
	}
	return e
}

// waitingOwners returns the owners of an object that wait for their dependents to be
// deleted: any of them may have become solid. unknown reports that one of them is not in
// the graph.
func (m *liveModel) waitingOwners(n graph.Node) (owners []graph.Node, unknown bool) {
	for i, v := range m.model.Verdicts(n) {
		if v != collector.VerdictWaiting {
			continue
		}
		owner := m.graph.Find(m.model.Object(n).Owners[i].UID)
		if m.model.Object(owner) == nil {
			unknown = true
		} else if !slices.Contains(owners, owner) {
			owners = append(owners, owner)
		}
	}
	return owners, unknown
}

// neighbors returns an object, its owners and its dependents, without those that are
// known to be gone.
func (m *liveModel) neighbors(n graph.Node) []graph.Node {
	all := append([]graph.Node{n}, m.graph.Owners(n)...)
	for _, e := range m.graph.Dependents(n) {
		all = append(all, e.Node)
	}
	seen := map[graph.Node]bool{}
	return slices.DeleteFunc(all, func(n graph.Node) bool {
		duplicate := seen[n]
		seen[n] = true
		return duplicate || m.model.Object(n) == nil
	})
}
