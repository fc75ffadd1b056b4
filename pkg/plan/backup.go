package plan

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// Saved returns the objects that a run of the plan backs up before it does anything: those
// that it deletes or has deleted, and those that it repairs. Once each.
func (p *Plan) Saved() []object.Identity {
	var out []object.Identity
	known := map[object.Identity]bool{}
	add := func(o object.Identity) {
		if !known[o] {
			known[o] = true
			out = append(out, o)
		}
	}
	for i := range p.Steps {
		if s := &p.Steps[i]; s.BacksUp() {
			add(s.Object.Identity)
		}
	}
	for i := range p.Outcomes {
		if o := &p.Outcomes[i]; o.Follows != "" {
			add(o.Object)
		}
	}
	return out
}

// BacksUp reports whether a step's object is backed up before its write: what is deleted, and
// what a repair changes. What the collector would change as well is not.
func (s *Step) BacksUp() bool { return s.Action == collector.ActionDelete || len(s.Mends) > 0 }
