package plan

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// Loss is an object that is deleted, now or later: by a step, along with another object, or because
// a requested run completes a deletion that was under way.
type Loss struct {
	Object object.Identity
	// By is the step that deletes the object, itself or by deleting another one; nil if its deletion
	// was under way.
	By *Step
	// Kinds are the kinds of the owners whose absence or deletion started the cascade.
	Kinds []schema.GroupKind
}

// LostObjects returns all losses of a plan, in the order of its steps and then of its outcomes.
func (p *Plan) LostObjects() []Loss {
	var out []Loss
	byID := make(map[string]*Step, len(p.Steps))
	kinds := make(map[string][]schema.GroupKind, len(p.Steps)) // by step id
	own := map[string]bool{}
	for i := range p.Steps {
		s := &p.Steps[i]
		byID[s.ID] = s
		if before, ok := kinds[s.Follows]; ok { // a step follows an earlier one
			kinds[s.ID] = before
		} else {
			kinds[s.ID] = ownerKinds(s.References)
		}
		if s.Action == ActionDelete {
			own[string(s.Object.UID)] = true
			out = append(out, Loss{s.Object.Identity, s, kinds[s.ID]})
		}
	}
	for i := range p.Outcomes {
		o := &p.Outcomes[i]
		if (o.Follows != "" || p.Mode.Cascades() && o.State.Deletes()) && !own[string(o.Object.UID)] {
			out = append(out, Loss{o.Object, byID[o.Follows], kinds[o.Follows]})
		}
	}
	return out
}

func ownerKinds(references []Reference) []schema.GroupKind {
	var out []schema.GroupKind
	for _, r := range references {
		if k := schema.FromAPIVersionAndKind(r.APIVersion, r.Kind).GroupKind(); !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	return out
}
