package simulate

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// Deletion is a DELETE that somebody asks for.
type Deletion struct {
	Node   graph.Node
	Policy metav1.DeletionPropagation
}

// ask begins the course with what is asked for, and says how many passes that
// was. A DELETE which changes nothing is no move, and one of an object whose UID is
// contested is never sent. Others come to what it deletes
// only when everything was asked for.
func (s *simulation) ask() int {
	for _, d := range s.bounds.Deletes {
		before := s.model.Object(d.Node)
		s.course.Asked = append(s.course.Asked, d.Node)
		if before == nil || before.Contested || int(d.Node) >= s.model.graph.Listed() || !changes(before, Deleted(before, d.Policy, s.model.taken)) {
			continue
		}
		decision := collector.Decision{Action: collector.ActionDelete, Policy: d.Policy}
		move := Transition{
			Decision: decision, Asked: true, Pass: 1, Node: d.Node, StateBefore: before, Requested: graph.None,
			StateAfter: s.before(d.Node, decision), Follows: -1, Nondeterministic: graph.None,
		}
		if !before.Terminating() {
			move.Verdicts = s.model.Verdicts(d.Node)
		}
		s.make(move)
	}
	s.course.Entangled = s.entangled()
	asked := len(s.course.Transitions)
	for i := range asked {
		if n := s.course.Transitions[i].Node; s.model.now[n] != nil && s.last[n] == int32(i) {
			s.others(i, n)
		}
	}
	return min(asked, 1)
}

// changes says whether a DELETE makes anything of an object but what it was.
func changes(before, after *object.Object) bool {
	return after == nil || !before.Terminating() || !slices.Equal(before.Finalizers, after.Finalizers)
}
