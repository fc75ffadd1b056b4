package plan

import (
	"cmp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/repair"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
)

// reason returns why a step is taken.
func (b *builder) reason(index int, s Step) *reason.Reason {
	transition := &b.result.Transitions[index]
	switch transition.Action {
	case collector.ActionDelete:
		if transition.Requested {
			return reason.Of(b.requested(transition))
		}
		return reason.Of(reason.OwnersLost{Owners: ownersOf(s.References), Cascade: reason.Cascade(transition.Policy)})
	case collector.ActionUnlink:
		if transition.OrphanedFrom != graph.None {
			return reason.OwnerOrphansDependents(b.graph.Object(transition.OrphanedFrom).Identity)
		}
		return reason.OwnersPartlyLost(ownersOf(s.References), remaining(transition))
	case collector.ActionUnblock:
		return reason.CycleBroken
	case collector.ActionRemoveFinalizer:
		if transition.Requested {
			return reason.Of(finalizerRemoval(b.graph, transition, s.Patch.InUse))
		}
		if transition.Change.RemoveFinalizer == object.OrphanFinalizer {
			return reason.DependentsOrphaned
		}
		return reason.DependentsDeleted
	case collector.ActionNone, collector.ActionOrphanDependents:
	}
	return nil
}

func ownersOf(references []StepReference) []reason.Owner {
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
		if v != collector.VerdictSolid || transition.Change.Drops(i) {
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

// requested returns what is special about a deletion that somebody asked for.
func (b *builder) requested(transition *simulate.Transition) reason.Requested {
	out := reason.Requested{
		Terminating: transition.StateBefore.Terminating(), Namespace: transition.StateBefore.IsNamespace(), Definition: transition.StateBefore.IsCRD(),
	}
	out.RecreatedBy, out.NotRunning, out.Lost = b.result.Model.Replacement(transition.StateBefore, func(i int) collector.Verdict { return verdictOf(transition, i) })
	out.PolicyIgnored = out.Definition && !out.Terminating && transition.Policy != metav1.DeletePropagationBackground
	before := transition.StateBefore
	if stoppedByKubelet(before) {
		out.GraceSeconds = transition.GraceSeconds
	}
	policy := cmp.Or(transition.Policy, metav1.DeletePropagationBackground)
	out.EndsWait = before.DeletingDependents() && policy == metav1.DeletePropagationBackground
	if slices.ContainsFunc(b.graph.Dependents(transition.Node), func(e graph.Edge) bool {
		return policy == metav1.DeletePropagationForeground || !b.graph.Object(e.Node).Terminating() // others go in any case
	}) {
		out.Dependents = reason.Cascade(policy)
	}
	return out
}

// stoppedByKubelet reports whether an object is a Pod that a kubelet has to stop.
func stoppedByKubelet(o *object.Object) bool { return o.Running || o.InGracePeriod() }

// finalizerRemoval returns what the removal of a finalizer that somebody asked for skips.
func finalizerRemoval(g *graph.Graph, transition *simulate.Transition, inUse reason.InUse) reason.FinalizerRemoval {
	out := reason.FinalizerRemoval{
		Finalizer: transition.Change.RemoveFinalizer, Traces: simulate.NewFinalizerTraces(g).Of(transition.Change.RemoveFinalizer, transition.StateBefore.Identity), InUse: inUse,
	}
	out.Controller, out.Condition, out.Known = simulate.FinalizerController(out.Finalizer)
	out.Deletes = simulate.StateAfterPatch(transition.StateBefore, transition.Change) == nil
	return out
}

// repairReason returns the reason for a step of a repair. completes are the owners whose
// deletion it lets complete; without is what the garbage collector would do otherwise.
func repairReason(s Step, completes []string, without reason.WithoutRepair) *reason.Reason {
	if s.Action == ActionUnlink {
		return reason.Of(reason.ReferencesDropped{Owners: dropped(s), Chosen: s.Patch.Repairs[0].UserSelected, Kept: kept(s.Patch.Transition), Completes: completes, WithoutRepair: without})
	}
	out := reason.ReferencesRepaired{Completes: completes, WithoutRepair: without}
	for i, r := range s.References {
		out.References = append(out.References, reason.Repaired{Owner: r.Owner(), Version: s.Patch.Repairs[i].Becomes.APIVersion, Relinked: s.Action == ActionRelink, Served: s.Patch.Repairs[i].Optional})
	}
	return reason.Of(out)
}

// dropped returns the owners of removed references, with why another fix was not possible.
func dropped(s Step) []reason.Owner {
	out := ownersOf(s.References)
	for i, m := range s.Patch.Repairs {
		if m.Fix == repair.Unlink && !m.UserSelected && m.Found.State != "" {
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

// withoutRepair is what the garbage collector would do without a repair.
var withoutRepair = map[collector.Consequence]reason.WithoutRepair{
	collector.ConsequenceDelete: reason.WouldDelete,
	collector.ConsequenceUnlink: reason.WouldUnlink,
	collector.ConsequenceStuck:  reason.WouldSkip,
}
