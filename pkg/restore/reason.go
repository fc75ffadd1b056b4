package restore

import (
	"encoding/json"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// reason returns to whom an object belongs from now on, and to whom no more.
func (b *referenceHolder) reason() reason.Restored {
	var out reason.Restored
	for _, w := range b.wants {
		r := reason.RestoredReference{Owner: reason.NewOwner(w.was, w.evidence())}
		switch {
		case !w.kept:
			r.Dropped = true
		case w.found.Verdict != collector.Solid:
			r.Effect = w.effect()
		default:
			r.Owner = reason.NewOwner(w.ref, w.evidence())
			r.Adopted = w.owner != nil && !w.owner.made() && w.later && adopting(w.ref) && w.ref.Controls()
		}
		out.References = append(out.References, r)
	}
	return out
}

// effect returns what comes of a reference that is restored although it leads nowhere.
func (w *want) effect() reason.Effect {
	switch w.comes {
	case collector.ConsequenceDelete:
		return reason.EffectDelete
	case collector.ConsequenceUnlink:
		return reason.EffectUnlink
	case collector.ConsequenceStuck, collector.ConsequenceUnknown, collector.ConsequenceNone:
	}
	return reason.EffectOther
}

// evidence returns what was found of the owner that a reference leads to.
func (w *want) evidence() reason.Found {
	switch {
	case w.rival != nil:
		return reason.Found{State: reason.StateOtherController, OtherController: w.rival.String()}
	case w.stays:
		return reason.Found{State: reason.StateLeadsToSuccessor}
	case w.found.Cause == collector.NoCause:
		return reason.Found{State: w.fate()}
	}
	return w.found.Found()
}

// fate returns what becomes of an owner that exists, or will.
func (w *want) fate() reason.OwnerState {
	switch {
	case w.owner != nil && !w.owner.made():
		return reason.StateRecreated
	case w.owner != nil:
		return reason.StateRecreatedBefore
	case w.ref.UID != w.was.UID:
		return reason.StateSucceeded
	}
	return reason.StateExists
}

// lost gathers what does not come back, in the order in which it is met.
func (m *maker) lost(order []*subject) []plan.Lost {
	var out []plan.Lost
	of := map[string]int{} // by the stored form of the reason
	add := func(what reason.Reason, o ...object.Identity) {
		key, err := json.Marshal(reason.Store(what))
		if err != nil {
			panic(err) // only strings and numbers
		}
		i, known := of[string(key)]
		if !known {
			i = len(out)
			of[string(key)] = i
			out = append(out, plan.Lost{Reason: what})
		}
		out[i].Objects = append(out[i].Objects, o...)
	}
	if len(order) > 0 {
		add(reason.ServerFieldsLost{})
	}
	for _, s := range order {
		for _, what := range s.lost {
			add(what, s.saved.Object)
		}
	}
	for _, b := range m.bearers {
		for _, w := range b.wants {
			if !w.kept {
				add(reason.ReferencesLost{Owner: reason.NewOwner(w.was, w.evidence())}, b.object)
			}
		}
	}
	for i := range out {
		slices.SortFunc(out[i].Objects, object.Identity.Compare)
		out[i].Objects = slices.Compact(out[i].Objects)
	}
	return out
}
