package plan

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// Loss is an object that is deleted, now or later: by a step, together with another object, or because
// the run unblocks a deletion that had already begun.
type Loss struct {
	Object object.Identity
	// By is the step that deletes the object, itself or by deleting another one; nil if its deletion
	// was under way.
	By *Step
	// Outcome is what becomes of the object; nil only in a plan that does not say.
	Outcome *Outcome
	// Kind is the kind of the first owner whose absence or deletion started the cascade; empty if there is none.
	Kind schema.GroupKind
}

// InUse reports whether the object stays after the run until nothing uses it.
func (o *Outcome) InUse() bool { return len(o.UsedBy) > 0 && !(o.State == Deleted && o.When == Now) }

// Later reports whether the object is deleted only after the run.
func (l *Loss) Later() bool { return l.Outcome != nil && l.Outcome.When == Later }

// AddLostBackends adds those of the backends whose Service, namespace/name, is lost, unless what calls it is lost, too.
// It comes before Digest.
func (p *Plan) AddLostBackends(called []reason.BackendLost, services []string) {
	for _, b := range called {
		goes := func(l Loss) bool { return l.Object.UID == b.Object.UID }
		if slices.Contains(services, b.Service) && !slices.ContainsFunc(p.LostObjects, goes) {
			p.LostBackends = append(p.LostBackends, b)
		}
	}
}

// lostObjects returns all losses of a plan. What only another run deletes is not among them.
func (p *Plan) lostObjects() []Loss {
	var out []Loss
	outcomes := make(map[object.Identity]*Outcome, len(p.Outcomes))
	for i := range p.Outcomes {
		outcomes[p.Outcomes[i].Object] = &p.Outcomes[i]
	}
	byID := make(map[string]*Step, len(p.Steps))
	kinds := make(map[string]schema.GroupKind, len(p.Steps)) // by step id
	deleted, ended := map[object.Identity]bool{}, map[object.Identity]bool{}
	for i := range p.Steps {
		s := &p.Steps[i]
		byID[s.ID] = s
		if before, ok := kinds[s.Follows]; ok { // a step follows an earlier one
			kinds[s.ID] = before
		} else if len(s.References) > 0 {
			kinds[s.ID] = schema.FromAPIVersionAndKind(s.References[0].APIVersion, s.References[0].Kind).GroupKind()
		}
		if s.Action == ActionDelete {
			deleted[s.Object.Identity] = true
			out = append(out, Loss{s.Object.Identity, s, outcomes[s.Object.Identity], kinds[s.ID]})
		}
		ended[s.Object.Identity] = ended[s.Object.Identity] || s.Action == ActionRemoveFinalizer
	}
	for i := range p.Outcomes {
		o := &p.Outcomes[i]
		if !deleted[o.Object] && (o.Follows != "" || p.Mode.Cascades() && o.State.Deletes() && (ended[o.Object] || o.When == Later)) {
			out = append(out, Loss{o.Object, byID[o.Follows], o, kinds[o.Follows]})
		}
	}
	return out
}

// Breakage is an object that the plan takes from what uses it, or may: it is deleted, or loses the finalizer that
// protects it.
type Breakage struct {
	Object object.Identity `json:"object"`
	reason.InUse
}

// Breaks returns what the plan takes away although it is, or may be, in use.
func (p *Plan) Breaks() []Breakage {
	var out []Breakage
	for i := range p.Steps {
		if s := &p.Steps[i]; s.Patch != nil && s.Patch.InUse.Any() {
			out = append(out, Breakage{s.Object.Identity, s.Patch.InUse})
		}
	}
	for i := range p.Outcomes {
		o := &p.Outcomes[i]
		known := slices.ContainsFunc(out, func(b Breakage) bool { return b.Object == o.Object })
		if !known && o.State == Deleted && o.When == Now && len(o.UsedBy) > 0 {
			out = append(out, Breakage{o.Object, reason.InUse{UsedBy: o.UsedBy}})
		}
	}
	return out
}
