package plan

import (
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// revalidation is the comparison of a saved plan with a fresh one.
type revalidation struct {
	saved, fresh *Plan
	refused      map[string]reason.Reason // by the id of a saved step, why it is not done
	renamed      map[string]string        // by the id of a fresh step that is done, its id in the saved plan
}

// refuseGrown refuses the steps that delete a namespace, a CustomResourceDefinition
// or a Service where an object would go along that the saved plan did not show as
// going, or that is no part of what is left of the plan: nobody confirmed the
// first, and nobody would back up the second. One such refusal may take the step
// away that another object goes along with, so it repeats until nothing changes.
func (r *revalidation) refuseGrown() {
	shown := map[string]bool{}
	for _, o := range r.saved.Outcomes {
		if o.State != Changed {
			shown[string(o.Object.UID)] = true
		}
	}
	for again := true; again; {
		again = false
		covered := r.covered()
		takers := r.takers()
		unshown, loose := map[string][]object.Identity{}, map[string][]object.Identity{}
		for _, o := range r.fresh.Outcomes {
			if o.State == Changed {
				continue
			}
			uid := string(o.Object.UID)
			for _, taker := range takers(o) {
				switch {
				case !shown[uid]:
					unshown[taker] = append(unshown[taker], o.Object)
				case !covered[uid]:
					loose[taker] = append(loose[taker], o.Object)
				}
			}
		}
		for fresh, id := range r.renamed {
			switch {
			case len(unshown[fresh]) > 0:
				r.refused[id] = reason.MoreContents{Objects: unshown[fresh]}
			case len(loose[fresh]) > 0:
				r.refused[id] = reason.ContentsNotPlanned{Objects: loose[fresh]}
			default:
				continue
			}
			delete(r.renamed, fresh)
			again = true
		}
	}
}

// covered returns the UIDs of what goes by what is left of the plan: by a step of
// its own, or along with the object of a step.
func (r *revalidation) covered() map[string]bool {
	out := map[string]bool{}
	for i := range r.fresh.Steps {
		s := &r.fresh.Steps[i]
		ends := s.Action == collector.ActionDelete || s.Action == collector.ActionRemoveFinalizer
		if ends && r.renamed[s.ID] != "" {
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

// takers returns a function that returns the ids of the fresh steps that are done
// and take an object along: the one that the plan names, and those that delete the
// object's namespace or its definition. Definitions are told by their API group
// alone, so it may return one too many, and never one too few.
func (r *revalidation) takers() func(Outcome) []string {
	namespaces, groups := map[string]string{}, map[string][]string{}
	for i := range r.fresh.Steps {
		s := &r.fresh.Steps[i]
		if r.renamed[s.ID] == "" || s.Action != collector.ActionDelete {
			continue
		}
		switch {
		case s.Object.IsNamespace():
			namespaces[s.Object.Name] = s.ID
		case s.Object.IsDefinition():
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
