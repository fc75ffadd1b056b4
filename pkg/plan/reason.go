package plan

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
)

// reason returns why a step is taken.
func (m *builder) reason(index int, s Step) reason.Reason {
	transition := &m.result.Transitions[index]
	switch transition.Action {
	case collector.ActionDelete:
		if transition.Asked {
			return m.requested(transition)
		}
		return reason.OwnersLost{Owners: ownersOf(s.References), Cascade: reason.Cascade(transition.Policy)}
	case collector.ActionUnlink:
		if transition.Requested != graph.None {
			return reason.OwnerOrphansDependents{Owner: m.graph.Object(transition.Requested).Identity}
		}
		return reason.OwnersPartlyLost{Owners: ownersOf(s.References), Remaining: remaining(transition)}
	case collector.ActionUnblock:
		return reason.CycleBroken{}
	case collector.ActionRemoveFinalizer:
		if transition.Change.Release == object.OrphanFinalizer {
			return reason.DependentsOrphaned{}
		}
		return reason.DependentsDeleted{}
	case collector.ActionNone, collector.ActionOrphanDependents:
	}
	return nil
}

func ownersOf(references []Reference) []reason.Owner {
	out := make([]reason.Owner, len(references))
	for i, r := range references {
		out[i] = r.Owner()
	}
	return out
}

// remaining returns what keeps an object that loses references.
func remaining(transition *simulate.Transition) reason.Remaining {
	dropped := map[types.UID]bool{}
	for _, i := range transition.Change.Drop {
		dropped[transition.StateBefore.Owners[i].UID] = true
	}
	var out reason.Remaining
	for i, v := range transition.Verdicts {
		if v != collector.Solid || transition.Change.Drops(i) {
			continue
		}
		out.Count++
		out.Only = transition.StateBefore.Owners[i].String()
		out.Twin = out.Twin || dropped[transition.StateBefore.Owners[i].UID]
	}
	if out.Count != 1 {
		out.Only = ""
	}
	return out
}

// found returns what was found of the owner that a reference names, which was judged
// before the run.
func (m *builder) found(transition *simulate.Transition, i int, judged collector.Judgement) reason.Found {
	owner := m.graph.Find(transition.StateBefore.Owners[i].UID)
	if m.result.Model.Changed(owner) && m.graph.Object(owner) != nil && ownerExisted(judged.Verdict) {
		return reason.Found{State: stateInRun(transition, i)}
	}
	return judged.Found()
}

// ownerExisted says whether a reference was good before the run changed its owner.
func ownerExisted(before collector.Verdict) bool {
	switch before {
	case collector.Solid, collector.Waiting:
		return true
	case collector.Dangling, collector.Unresolvable, collector.ScopeError, collector.Unknown:
	}
	return false
}

// stateInRun returns what this run does to an owner that exists.
func stateInRun(transition *simulate.Transition, i int) reason.OwnerState {
	switch verdictOf(transition, i) {
	case collector.Waiting:
		return reason.StateWaiting
	case collector.Solid:
		return reason.StateExists
	case collector.Dangling, collector.Unresolvable, collector.ScopeError, collector.Unknown:
	}
	return reason.StateDeletedBefore
}
