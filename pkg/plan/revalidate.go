package plan

import (
	"reflect"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Stale is a step of a saved plan that is no longer valid.
type Stale struct {
	Step   Step
	Reason reason.Reason
}

// Revalidate returns the fresh plan reduced to the valid steps of a saved one, with the ids
// of the saved plan, and all other saved steps as stale. A step is valid if the fresh plan
// has the same write on the same object in the same state for the same reason, and if the
// write deletes no object indirectly that the saved plan did not show.
func Revalidate(saved, fresh *Plan) (*Plan, []Stale) {
	freshSteps := map[string][]*Step{} // by UID
	for i := range fresh.Steps {
		s := &fresh.Steps[i]
		freshSteps[string(s.Object.UID)] = append(freshSteps[string(s.Object.UID)], s)
	}
	r := &revalidation{saved: saved, fresh: fresh, refused: map[string]reason.Reason{}, renamed: map[string]string{}}
	steps := make([]*Step, len(saved.Steps)) // the fresh step of each saved one
	for n, s := range saved.Steps {
		candidates := freshSteps[string(s.Object.UID)]
		i := slices.IndexFunc(candidates, func(f *Step) bool {
			return f.Action == s.Action && f.Finalizer == s.Finalizer && slices.Equal(f.OwnerUIDs, s.OwnerUIDs)
		})
		missing := unaccepted(s, fresh)
		switch {
		case len(missing) > 0 && i < 0:
			r.refused[s.ID] = reason.GapsNotAccepted{Accept: missing}
		case len(candidates) == 0:
			r.refused[s.ID] = reason.NoLongerPlanned
		case candidates[0].Object.ResourceVersion != s.Object.ResourceVersion:
			r.refused[s.ID] = reason.ChangedSincePlanned
		case i < 0 || !sameStep(*candidates[i], s):
			r.refused[s.ID] = reason.PlannedOtherwise
		case len(unaccepted(*candidates[i], saved)) > 0:
			r.refused[s.ID] = reason.GapNotInPlan
		default:
			r.renamed[candidates[i].ID] = s.ID
			steps[n] = candidates[i]
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

// NewGaps returns the gaps of fresh where saved has none: they may hide objects that depend on
// what the saved plan deletes. Another reason for the same gap hides no more.
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

// outcomesOf returns the outcomes of the steps.
func outcomesOf(all []Outcome, steps []Step, renamed map[string]string) []Outcome {
	changed := map[string]bool{}
	for _, s := range steps {
		changed[string(s.Object.UID)] = true
	}
	out := []Outcome{}
	for _, o := range all {
		o.Follows = renamed[o.Follows]
		if changed[string(o.Object.UID)] || o.Follows != "" {
			out = append(out, o)
		}
	}
	return out
}

// sameStep reports whether two steps do the same for the same reason. An owner that the saved
// plan was going to delete may be gone, if part of that plan was carried out.
func sameStep(a, b Step) bool {
	return a.PropagationPolicy == b.PropagationPolicy && reflect.DeepEqual(a.GracePeriodSeconds, b.GracePeriodSeconds) && a.Object.Identity == b.Object.Identity &&
		slices.EqualFunc(a.References, b.References, func(now, saved Reference) bool {
			if saved.State == reason.StateDeletedBefore && now.State == reason.StateMissing {
				saved.Found, now.Found = reason.Found{}, reason.Found{}
			}
			return reflect.DeepEqual(now, saved)
		})
}

// revalidation compares a saved plan with a fresh one.
type revalidation struct {
	saved, fresh *Plan
	refused      map[string]reason.Reason // why a saved step is stale, by its id
	renamed      map[string]string        // the saved id of a valid step, by its fresh id
}

// refuseGrown refuses steps that delete an object indirectly (see takers) that the saved plan
// does not show as deleted, because nobody confirmed it, or that no valid step deletes,
// because nobody would back it up. A refusal can make another step invalid, so it repeats
// until nothing changes.
func (r *revalidation) refuseGrown() {
	shown := map[string]bool{}
	for _, o := range r.saved.Outcomes {
		if o.State.Deletes() {
			shown[string(o.Object.UID)] = true
		}
	}
	for again := true; again; {
		again = false
		covered := r.covered()
		takers := r.takers()
		unshown, uncovered := map[string][]object.Identity{}, map[string][]object.Identity{}
		for _, o := range r.fresh.Outcomes {
			if !o.State.Deletes() {
				continue
			}
			uid := string(o.Object.UID)
			for _, taker := range takers(o) {
				switch {
				case !shown[uid]:
					unshown[taker] = append(unshown[taker], o.Object)
				case !covered[uid]:
					uncovered[taker] = append(uncovered[taker], o.Object)
				}
			}
		}
		for fresh, id := range r.renamed {
			switch {
			case len(unshown[fresh]) > 0:
				r.refused[id] = reason.MoreContents{Objects: unshown[fresh]}
			case len(uncovered[fresh]) > 0:
				r.refused[id] = reason.ContentsNotPlanned{Objects: uncovered[fresh]}
			default:
				continue
			}
			delete(r.renamed, fresh)
			again = true
		}
	}
}

// covered returns the UIDs of the objects that valid steps delete, directly or indirectly.
func (r *revalidation) covered() map[string]bool {
	out := map[string]bool{}
	for i := range r.fresh.Steps {
		s := &r.fresh.Steps[i]
		deletes := s.Action == ActionDelete || s.Action == ActionRemoveFinalizer
		if deletes && r.renamed[s.ID] != "" {
			out[string(s.Object.UID)] = true
		}
	}
	for _, o := range r.fresh.Outcomes {
		if r.renamed[o.Follows] != "" {
			out[string(o.Object.UID)] = true
		}
	}
	return out
}

// takers returns a function that returns the ids of the valid fresh steps that delete an
// object indirectly: the one that the plan names, and those that delete its namespace or
// CustomResourceDefinition. It identifies definitions by API group only, so it may return too
// many ids, but never too few.
func (r *revalidation) takers() func(Outcome) []string {
	namespaces, groups := map[string]string{}, map[string][]string{}
	for i := range r.fresh.Steps {
		s := &r.fresh.Steps[i]
		if r.renamed[s.ID] == "" || s.Action != ActionDelete {
			continue
		}
		switch {
		case s.Object.IsNamespace():
			namespaces[s.Object.Name] = s.ID
		case s.Object.IsCRD():
			_, group, _ := strings.Cut(s.Object.Name, ".")
			groups[group] = append(groups[group], s.ID)
		}
	}
	return func(o Outcome) []string {
		var out []string
		if r.renamed[o.Follows] != "" {
			out = append(out, o.Follows)
		}
		if id := namespaces[o.Object.Namespace]; id != "" && o.Object.Namespace != "" {
			out = append(out, id)
		}
		out = append(out, groups[o.Object.GroupVersionKind().Group]...)
		slices.Sort(out)
		return slices.Compact(out)
	}
}
