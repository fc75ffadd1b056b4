package execute

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
)

// unfinishedDependents returns why the release of an owner that waits for its dependents has to wait
// for another run: somebody else holds it, too, and a step on a dependent comes first
// that was not done and still should be. Released, the owner would be like any other
// to that dependent, and keep it (docs/differences.md). Nil: it need not wait.
func (t *task) unfinishedDependents(s evaluation) reason.Reason {
	if s.decision.Change.Release != object.ForegroundFinalizer || simulate.Patched(s.object, s.decision.Change) == nil {
		return nil
	}
	for _, id := range t.step.After {
		i, known := t.ids[id]
		if !known || t.report.Results[i].Status == event.Done {
			continue
		}
		first := &t.plan.Steps[i]
		if n := first.Move.Node; slices.Contains(t.graph.Owners(n), t.node) && t.live.due(n) {
			return reason.PrecedingStepNotDone{Action: string(first.Action), Object: first.Object.Identity}
		}
	}
	return nil
}

// due says whether there is something to do with an object because of its owners.
func (m *liveModel) due(n graph.Node) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	o := m.model.Object(n)
	return o != nil && !o.Terminating() && m.model.Decide(n).Action != collector.ActionNone
}
