package explain

import (
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// surroundings tells of what deletes the object whatever its owners are.
func (s *subject) surroundings() {
	for n := range s.graph.Listed() {
		o := s.graph.Object(graph.Node(n))
		if !o.Terminating() || !Holds(s.graph, o, s.object) {
			continue
		}
		s.Headline = fmt.Sprintf("%s is deleted %s.", s.object, CascadeOwners(o))
		what := "the namespace controller deletes everything in it"
		if o.IsDefinition() {
			what = "the API server deletes all objects of its kind"
		}
		s.Next = append([]string{fmt.Sprintf("%s has been terminating for %s: %s, regardless of owners.", o.Identity, s.since(*o.Deleted), what)}, s.Next...)
		s.WaitsFor = []Link{}
		return
	}
}

// CascadeOwners says with what an object is deleted, whose namespace or definition is being deleted.
func CascadeOwners(container *object.Object) string {
	return fmt.Sprintf("with %s, which is being deleted", container.Identity)
}

// members are what the deletion of a namespace or CustomResourceDefinition takes
// along, as far as it is still there.
func (s *subject) members() []graph.Node {
	if !s.object.IsNamespace() && !s.object.IsDefinition() {
		return nil
	}
	var out []graph.Node
	for n := range s.graph.Listed() {
		if Holds(s.graph, s.object, s.graph.Object(graph.Node(n))) {
			out = append(out, graph.Node(n))
		}
	}
	return out
}

// inside tells of what has yet to go before a container does.
func (s *subject) inside() {
	members := s.members()
	var held []string
	for _, n := range members {
		o := s.graph.Object(n)
		if f := o.ForeignFinalizers(); len(f) > 0 {
			held = append(held, fmt.Sprintf("%s (%s)", o, strings.Join(f, ", ")))
			if len(s.WaitsFor) < most {
				s.WaitsFor = append(s.WaitsFor, Link{o.Identity, "is in it, and is held by " + listed(f)})
			}
		}
	}
	if len(held) > 0 {
		s.next("Finalizers have to be removed from: " + listed(held) + ".")
		first := s.WaitsFor[0].Object
		s.remedy("see why the first of them still exists", s.gc("why", first)...)
	} else {
		s.next("None of these has a finalizer that blocks its deletion, so they should be deleted without help.")
	}
}

// Holds says whether the deletion of a container takes an object along
// (docs/gc-semantics.md#contents-of-a-namespace, #instances-of-a-crd).
func Holds(g *graph.Graph, container, o *object.Object) bool {
	switch {
	case container.IsNamespace():
		return o.Namespace == container.Name
	case container.IsDefinition():
		m, ok := g.View().Map(o.APIVersion, o.Kind)
		return ok && m.Type.String() == container.Name
	}
	return false
}
