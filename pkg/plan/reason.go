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
func (m *maker) reason(index int, s Step) reason.Reason {
	move := &m.course.Transitions[index]
	switch move.Action {
	case collector.ActionDelete:
		if move.Asked {
			return m.requested(move)
		}
		return reason.OwnersLost{Owners: ownersOf(s.References), Cascade: reason.Cascade(move.Policy)}
	case collector.ActionUnlink:
		if move.Requested != graph.None {
			return reason.OwnerOrphansDependents{Owner: m.graph.Object(move.Requested).Identity}
		}
		return reason.OwnersPartlyLost{Owners: ownersOf(s.References), Remaining: remaining(move)}
	case collector.ActionUnblock:
		return reason.CycleBroken{}
	case collector.ActionRemoveFinalizer:
		if move.Change.Release == object.OrphanFinalizer {
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
func remaining(move *simulate.Transition) reason.Remaining {
	dropped := map[types.UID]bool{}
	for _, i := range move.Change.Drop {
		dropped[move.StateBefore.Owners[i].UID] = true
	}
	var out reason.Remaining
	for i, v := range move.Verdicts {
		if v != collector.Solid || move.Change.Drops(i) {
			continue
		}
		out.Count++
		out.Only = move.StateBefore.Owners[i].String()
		out.Twin = out.Twin || dropped[move.StateBefore.Owners[i].UID]
	}
	if out.Count != 1 {
		out.Only = ""
	}
	return out
}

// found returns what was found of the owner that a reference names, which was judged
// before the run.
func (m *maker) found(move *simulate.Transition, i int, judged collector.Judgement) reason.Found {
	owner := m.graph.Find(move.StateBefore.Owners[i].UID)
	if m.course.Model.Changed(owner) && m.graph.Object(owner) != nil && proved(judged.Verdict) {
		return reason.Found{State: byThisRun(move, i)}
	}
	return judged.Found()
}

// proved says whether a reference was good before the run changed its owner.
func proved(before collector.Verdict) bool {
	switch before {
	case collector.Solid, collector.Waiting:
		return true
	case collector.Dangling, collector.Unresolvable, collector.ScopeError, collector.Unknown:
	}
	return false
}

// byThisRun returns what this run does to an owner that exists.
func byThisRun(move *simulate.Transition, i int) reason.OwnerState {
	switch verdictOf(move, i) {
	case collector.Waiting:
		return reason.StateWaiting
	case collector.Solid:
		return reason.StateExists
	case collector.Dangling, collector.Unresolvable, collector.ScopeError, collector.Unknown:
	}
	return reason.StateDeletedBefore
}
