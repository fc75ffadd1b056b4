package plan

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/repair"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
)

// repairReason returns the reason for a step of a repair. completes are the owners whose
// deletion it lets complete; without is what the garbage collector would do otherwise.
func repairReason(transition *simulate.Transition, s Step, completes []string, without reason.WithoutRepair) reason.Reason {
	if s.Action == collector.ActionUnlink {
		return reason.ReferencesDropped{Owners: dropped(s), Chosen: s.Mends[0].Chosen, Kept: kept(transition), Completes: completes, WithoutRepair: without}
	}
	out := reason.ReferencesRepaired{Completes: completes, WithoutRepair: without}
	for i, r := range s.References {
		out.References = append(out.References, reason.Repaired{Owner: r.Owner(), Version: s.Mends[i].Becomes.APIVersion, Relinked: s.Action == Relink})
	}
	return out
}

// dropped returns the owners of removed references, with why another fix was not possible.
func dropped(s Step) []reason.Owner {
	out := ownersOf(s.References)
	for i, m := range s.Mends {
		if m.Fix == repair.Unlink && !m.Chosen && m.Found.State != "" {
			out[i].Found = m.Found
		}
	}
	return out
}

// kept returns what happens to an object that loses references.
func kept(transition *simulate.Transition) reason.Kept {
	switch left := len(transition.StateBefore.Owners) - len(transition.Change.Drop); {
	case transition.StateBefore.Terminating():
		return reason.Kept{Terminating: true}
	case left == 0:
		return reason.Kept{Ownerless: true}
	}
	if out := remaining(transition); out.Count > 0 {
		return reason.Kept{Remaining: out}
	}
	return reason.Kept{Unresolved: true}
}

func withoutRepair(c collector.Consequence) reason.WithoutRepair {
	switch c {
	case collector.ConsequenceDelete:
		return reason.WouldDelete
	case collector.ConsequenceUnlink:
		return reason.WouldUnlink
	case collector.ConsequenceStuck:
		return reason.WouldSkip
	case collector.ConsequenceUnknown, collector.ConsequenceNone:
	}
	return ""
}
