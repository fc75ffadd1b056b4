package plan

import (
	"slices"
)

// Stale is a step of a saved plan that the collector would not take any more,
// or not on the object as it is now.
type Stale struct {
	Step Step
	Why  string
}

// Renew compares a saved plan with one that was made just now. It answers the
// fresh plan cut down to the saved steps that still hold: the same act on the
// same object in the same state, for the same reason. All others are answered as
// stale; nothing is guessed in their place. The steps keep the ids that they have
// in the saved plan.
func Renew(saved, fresh *Plan) (*Plan, []Stale) {
	now := map[string][]*Step{}
	for i := range fresh.Steps {
		s := &fresh.Steps[i]
		now[string(s.Object.UID)] = append(now[string(s.Object.UID)], s)
	}
	out := *fresh
	out.Steps, out.Summary = []Step{}, Summary{Blocked: fresh.Summary.Blocked}
	out.Digest = saved.Digest
	var stale []Stale
	renamed := map[string]string{} // from the fresh id to the saved one
	for _, s := range saved.Steps {
		of := now[string(s.Object.UID)]
		i := slices.IndexFunc(of, func(f *Step) bool {
			return f.Action == s.Action && f.Finalizer == s.Finalizer && slices.Equal(f.OwnerUIDs, s.OwnerUIDs)
		})
		switch {
		case len(of) == 0:
			stale = append(stale, Stale{s, "the collector would not touch it any more"})
		case of[0].Object.ResourceVersion != s.Object.ResourceVersion:
			stale = append(stale, Stale{s, "it changed since the plan was made"})
		case i < 0 || !alike(*of[i], s):
			stale = append(stale, Stale{s, "the collector would do something else with it now, or for another reason"})
		default:
			renamed[of[i].ID] = s.ID
			out.Steps = append(out.Steps, *of[i])
			out.Summary.add(s.Action)
		}
	}
	for i := range out.Steps {
		s := &out.Steps[i]
		after := []string{}
		for _, id := range s.After {
			if known, ok := renamed[id]; ok {
				after = append(after, known)
			}
		}
		s.ID, s.After, s.Follows = renamed[s.ID], after, renamed[s.Follows]
	}
	out.Outcomes = foretold(fresh.Outcomes, out.Steps, renamed)
	return &out, stale
}

// foretold are the outcomes of those steps.
func foretold(all []Outcome, steps []Step, renamed map[string]string) []Outcome {
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

// alike says whether two steps do the same, for the same reason. An owner that
// was to go may have gone, when part of the plan was carried out before.
func alike(a, b Step) bool {
	return a.PropagationPolicy == b.PropagationPolicy && a.Object.Identity == b.Object.Identity &&
		slices.EqualFunc(a.References, b.References, func(now, saved Reference) bool {
			if saved.Evidence == goesBefore && now.Evidence == isGone {
				saved.Evidence = isGone
			}
			same := (now.Becomes == nil) == (saved.Becomes == nil) && (now.Becomes == nil || *now.Becomes == *saved.Becomes)
			now.Becomes, saved.Becomes = nil, nil
			return same && now == saved
		})
}
