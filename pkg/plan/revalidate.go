package plan

import (
	"reflect"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Stale is a step of a saved plan that the collector would not take any more,
// or not on the object as it is now.
type Stale struct {
	Step Step
	Why  reason.Reason
}

// Revalidate compares a saved plan with one that was made just now. It answers the
// fresh plan cut down to the saved steps that still hold: the same act on the
// same object in the same state, for the same reason, and taking along no object
// that the saved plan did not show as going. All others are answered as stale;
// nothing is guessed in their place. The steps keep the ids that they have in the
// saved plan.
func Revalidate(saved, fresh *Plan) (*Plan, []Stale) {
	now := map[string][]*Step{}
	for i := range fresh.Steps {
		s := &fresh.Steps[i]
		now[string(s.Object.UID)] = append(now[string(s.Object.UID)], s)
	}
	r := &revalidation{saved: saved, fresh: fresh, refused: map[string]reason.Reason{}, renamed: map[string]string{}}
	steps := make([]*Step, len(saved.Steps)) // the fresh ones
	for n, s := range saved.Steps {
		of := now[string(s.Object.UID)]
		i := slices.IndexFunc(of, func(f *Step) bool {
			return f.Action == s.Action && f.Finalizer == s.Finalizer && slices.Equal(f.OwnerUIDs, s.OwnerUIDs)
		})
		missing := unaccepted(s, fresh)
		switch {
		case len(missing) > 0 && i < 0:
			r.refused[s.ID] = reason.GapsNotAccepted{Accept: missing}
		case len(of) == 0:
			r.refused[s.ID] = reason.NoLongerPlanned{}
		case of[0].Object.ResourceVersion != s.Object.ResourceVersion:
			r.refused[s.ID] = reason.ChangedSincePlanned{}
		case i < 0 || !sameStep(*of[i], s):
			r.refused[s.ID] = reason.PlannedOtherwise{}
		case len(unaccepted(*of[i], saved)) > 0:
			r.refused[s.ID] = reason.GapNotInPlan{}
		default:
			r.renamed[of[i].ID] = s.ID
			steps[n] = of[i]
		}
	}
	r.refuseGrown()

	out := *fresh
	out.Steps, out.Summary = []Step{}, Summary{Blocked: fresh.Summary.Blocked}
	out.Digest = saved.Digest
	out.AcceptedGaps = slices.DeleteFunc(slices.Clone(fresh.AcceptedGaps), func(word string) bool { return !slices.Contains(saved.AcceptedGaps, word) })
	var stale []Stale
	for n, s := range saved.Steps {
		if why, ok := r.refused[s.ID]; ok {
			stale = append(stale, Stale{s, why})
			continue
		}
		out.Steps = append(out.Steps, *steps[n])
		out.Summary.add(s.Action)
	}
	for i := range out.Steps {
		s := &out.Steps[i]
		after := []string{}
		for _, id := range s.After {
			if known, ok := r.renamed[id]; ok {
				after = append(after, known)
			}
		}
		s.ID, s.After, s.Follows = r.renamed[s.ID], after, r.renamed[s.Follows]
	}
	out.Outcomes = outcomesOf(fresh.Outcomes, out.Steps, r.renamed)
	return &out, stale
}

// NewGaps returns the gaps of fresh at places where saved has none. What could not
// be read there may depend on what the saved plan deletes, or be in it, and nobody
// who read that plan knew. Another reason for the same gap hides no more.
func NewGaps(saved, fresh *Plan) []snapshot.Gap {
	place := func(g snapshot.Gap) snapshot.Gap {
		g.Reason, g.Message = "", ""
		return g
	}
	known := map[snapshot.Gap]bool{}
	for _, g := range saved.Gaps {
		known[place(g)] = true
	}
	var out []snapshot.Gap
	for _, g := range fresh.Gaps {
		if !known[place(g)] {
			out = append(out, g)
		}
	}
	return out
}

// outcomesOf are the outcomes of those steps.
func outcomesOf(all []Outcome, steps []Step, renamed map[string]string) []Outcome {
	of := map[string]bool{}
	for _, s := range steps {
		of[string(s.Object.UID)] = true
	}
	out := []Outcome{}
	for _, o := range all {
		o.Follows = renamed[o.Follows]
		if of[string(o.Object.UID)] || o.Follows != "" {
			out = append(out, o)
		}
	}
	return out
}

// sameStep says whether two steps do the same, for the same reason. An owner that
// was to go may have gone, when part of the plan was carried out before.
func sameStep(a, b Step) bool {
	return a.PropagationPolicy == b.PropagationPolicy && a.Object.Identity == b.Object.Identity &&
		slices.EqualFunc(a.References, b.References, func(now, saved Reference) bool {
			if saved.State == reason.StateDeletedBefore && now.State == reason.StateMissing {
				saved.Found, now.Found = reason.Found{}, reason.Found{}
			}
			return reflect.DeepEqual(now, saved)
		})
}
