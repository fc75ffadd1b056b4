package plan

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// admissionKeeps reports whether an object that is not terminating stays in every order of events, as admission refuses what
// would follow from the plan.
func (b *builder) admissionKeeps(n graph.Node) bool {
	m := b.result.Model
	if len(b.graph.Snapshot().Answers) == 0 {
		return false
	}
	refused := m.Decide(n).NoAction == collector.WriteRefused
	if b.options.Mode.Cascades() {
		refused = refused && slices.ContainsFunc(b.graph.Owners(n), m.Changed)
	}
	return (refused && b.inScope(n, b.options.Mode.Cascades()) || m.ContentsRefused(n)) && m.RefusedBy(n).Doubt == ""
}

// keptByAdmission returns the objects that would be deleted if admission did not refuse it.
func (b *builder) keptByAdmission() (out []object.Identity) {
	if len(b.graph.Snapshot().Answers) == 0 {
		return nil
	}
	out = append(out, b.keptRequests...)
	for n := range b.graph.Listed() {
		if node := graph.Node(n); b.result.Model.Admission(node, "DELETE").Refused && b.result.Model.Object(node) != nil && b.admissionKeeps(node) {
			out = append(out, b.graph.Object(node).Identity)
		}
	}
	return out
}
