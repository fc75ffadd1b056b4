package restore

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// effects are what the garbage collector does because of a reference that is restored
// although it is not solid.
var effects = map[collector.Consequence]reason.Effect{
	collector.ConsequenceDelete: reason.EffectDelete,
	collector.ConsequenceUnlink: reason.EffectUnlink,
}

// reason returns which owners an object has after the restoration, and which no more.
func (h *referenceHolder) reason() *reason.Reason {
	var references []reason.RestoredReference
	for _, r := range h.references {
		restored := reason.RestoredReference{Owner: reason.NewOwner(r.original, r.evidence())}
		switch {
		case !r.accepted:
			restored.Dropped = true
		case r.judgement.Verdict != collector.VerdictSolid:
			restored.Effect = cmp.Or(effects[r.consequence], reason.EffectOther)
		default:
			restored.Owner = reason.NewOwner(r.restored, r.evidence())
			restored.Adopted = r.owner.pending() && r.linkedLater && adopting(r.restored) && r.restored.Controls()
		}
		references = append(references, restored)
	}
	return reason.Restored(references)
}

// evidence returns what was found out about the owner.
func (r *restoredReference) evidence() reason.Found {
	switch {
	case r.conflictingController != nil:
		return reason.Found{State: reason.StateOtherController, OtherController: r.conflictingController.String()}
	case r.unchanged:
		return reason.Found{State: reason.StateLeadsToSuccessor}
	case r.judgement.Cause != collector.CauseNone:
		return r.judgement.Found()
	case r.owner.pending():
		return reason.Found{State: reason.StateRecreated}
	case r.owner != nil:
		return reason.Found{State: reason.StateRecreatedBefore}
	case r.restored.UID != r.original.UID:
		return reason.Found{State: reason.StateSucceeded}
	}
	return reason.Found{State: reason.StateExists}
}

// lost returns what is not restored, grouped by reason.
func (p *planner) lost(order []*recreation) []plan.Lost {
	var out []plan.Lost
	byReason := map[string]int{} // by the stored form of the reason
	add := func(what *reason.Reason, o ...object.Identity) {
		key, err := json.Marshal(what)
		if err != nil {
			panic(err) // a reason holds only strings and numbers
		}
		i, known := byReason[string(key)]
		if !known {
			i = len(out)
			byReason[string(key)] = i
			out = append(out, plan.Lost{Reason: what})
		}
		out[i].Objects = append(out[i].Objects, o...)
	}
	if len(order) > 0 {
		add(reason.ServerFieldsLost)
	}
	for _, c := range order {
		for _, what := range c.lost {
			add(what, c.saved.Object)
		}
	}
	for _, h := range p.holders {
		for _, r := range h.references {
			if !r.accepted {
				add(reason.ReferencesLost(reason.NewOwner(r.original, r.evidence())), h.object)
			}
		}
	}
	for i := range out {
		objects := out[i].Objects
		slices.SortFunc(objects, object.Identity.Compare)
		out[i].Objects = slices.Compact(out[i].Objects)
	}
	return out
}
