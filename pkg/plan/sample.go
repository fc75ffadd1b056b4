package plan

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// PreflightSamples are, of each kind and namespace, the first step that changes owner references
// of an object as it was seen. A server may have its own rules on who changes these
// (docs/gc-semantics.md#permission-to-change-references), of which no list of rights
// tells.
func (p *Plan) PreflightSamples() []*Step {
	var out []*Step
	touched, sampled := map[object.Identity]bool{}, map[object.Identity]bool{}
	for i := range p.Steps {
		s := &p.Steps[i]
		o := s.Object.Identity
		first := !touched[o]
		touched[o] = true
		o.Name, o.UID = "", ""
		if first && s.Move != nil && s.refers() && !sampled[o] {
			sampled[o] = true
			out = append(out, s)
		}
	}
	return out
}

// refers says whether a step changes references, and not the object as a whole.
func (s *Step) refers() bool {
	switch s.Action {
	case collector.ActionUnlink, collector.ActionUnblock, Relink, UpdateVersion:
		return true
	default:
		return false
	}
}
