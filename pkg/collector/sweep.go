package collector

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// sweeping is a deletion that others bring to its end: the kubelet that of a
// Pod, the namespace controller that of a namespace, the API server that of a
// CustomResourceDefinition.
type sweeping struct {
	move    int
	node    graph.Node
	members []graph.Node // what goes first
	begun   bool
}

// begin notes what others have to do about an object that a move deleted.
func (s *simulation) begin(move int, n graph.Node) {
	o := s.now[n]
	switch {
	case o.Stopping():
		s.course.Stopped[move] = true
		s.sweeps = append(s.sweeps, sweeping{move: move, node: n})
	case isNamespace(o):
		s.sweeps = append(s.sweeps, sweeping{move, n, s.residents(o.Name), false})
	case isCRD(o):
		s.sweeps = append(s.sweeps, sweeping{move, n, s.instances(o.Name), false})
	}
}

func (s *simulation) residents(namespace string) []graph.Node {
	return s.listed(func(o *object.Object) bool { return o.Namespace == namespace })
}

// instances are the objects of the resource that a CustomResourceDefinition is
// named after: plural.group.
func (s *simulation) instances(crd string) []graph.Node {
	return s.listed(func(o *object.Object) bool {
		m, ok := s.graph.View().Map(o.APIVersion, o.Kind)
		return ok && m.Type.String() == crd
	})
}

func (s *simulation) listed(want func(*object.Object) bool) []graph.Node {
	var out []graph.Node
	for n := range s.graph.Listed() {
		if o := s.now[n]; o != nil && want(o) {
			out = append(out, graph.Node(n))
		}
	}
	return out
}

// sweep lets the others do their part, between two passes.
func (s *simulation) sweep() {
	var open []sweeping
	for _, w := range s.sweeps {
		o := s.now[w.node]
		switch {
		case o == nil:
			continue
		case o.Stopping():
			s.Become(w.node, settled(o))
			continue
		case !w.begun:
			w.begun = true
			s.sweepAway(w, o)
		}
		if s.emptied(w) {
			s.Become(w.node, swept(o))
			continue
		}
		open = append(open, w)
	}
	s.sweeps = open
}

// sweepAway deletes what an object takes along: a namespace its contents, in the
// Background (7.4); a CustomResourceDefinition its instances, with whatever
// finalizers they have (7.1).
func (s *simulation) sweepAway(w sweeping, o *object.Object) {
	policy := metav1.DeletionPropagation("")
	if isNamespace(o) {
		policy = metav1.DeletePropagationBackground
	}
	for _, n := range w.members {
		if now := s.now[n]; now != nil {
			s.course.Swept[n] = w.move
			next := Deleted(now, policy, s.taken)
			if next != nil && next.Stopping() {
				next = settled(next)
			}
			s.Become(n, next)
		}
	}
}

func (s *simulation) emptied(w sweeping) bool {
	for _, n := range w.members {
		if s.now[n] != nil {
			return false
		}
	}
	return true
}

// settled is a Pod whose kubelet has stopped it.
func settled(o *object.Object) *object.Object {
	left, none := *o, int64(0)
	left.GraceSeconds, left.Running = &none, false
	if len(left.Finalizers) == 0 {
		return nil
	}
	return &left
}

// swept is an object whose contents are gone.
func swept(o *object.Object) *object.Object {
	if isNamespace(o) && len(o.Finalizers) == 0 {
		return nil
	}
	return Patched(o, object.Change{Release: crdFinalizer})
}
