package simulate

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// Deletion is a DELETE request by a user.
type Deletion struct {
	Node   graph.Node
	Policy metav1.DeletionPropagation
}

// requestDeletions makes the transitions of Bounds.Deletes and returns how many passes
// that is. A DELETE that changes nothing makes no transition, and none is sent for an
// object with a contested UID. Side effects come after the last request.
func (s *simulation) requestDeletions() int {
	for _, d := range s.bounds.Deletes {
		before := s.model.Object(d.Node)
		s.result.Asked = append(s.result.Asked, d.Node)
		if before == nil || before.Contested || int(d.Node) >= s.model.graph.Listed() || !deleteChanges(before, Deleted(before, d.Policy, s.model.taken)) {
			continue
		}
		decision := collector.Decision{Action: collector.ActionDelete, Policy: d.Policy}
		s.apply(Transition{
			Decision: decision, Asked: true, Pass: 1, Node: d.Node, StateBefore: before, Verdicts: s.verdicts(d.Node),
			Requested: graph.None, StateAfter: s.prerequisites(d.Node, decision), Follows: -1, Nondeterministic: graph.None,
		})
	}
	s.result.Entangled = s.entangled()
	requested := len(s.result.Transitions)
	for i := range requested {
		if n := s.result.Transitions[i].Node; s.model.now[n] != nil && s.last[n] == int32(i) {
			s.applySideEffects(i, n)
		}
	}
	return min(requested, 1)
}

func deleteChanges(before, after *object.Object) bool {
	return after == nil || !before.Terminating() || !slices.Equal(before.Finalizers, after.Finalizers)
}
