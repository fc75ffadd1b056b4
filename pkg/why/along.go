package why

import (
	"cmp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// goesAlong counts what goes with the object: as things will come where it goes,
// else as they would if it were deleted now.
func (s *subject) goesAlong() {
	course := s.course
	if s.Consequence != collector.Delete || s.course.Model.Object(s.node) != nil {
		course = s.deleted()
	}
	s.GoesAlong = s.along(course)
}

// deleted is the course that a deletion of the object takes, in the background
// as kubectl deletes, with whatever it depends on left as it is.
func (s *subject) deleted() *collector.Course {
	m := collector.NewModel(s.graph, s.judge)
	if !s.object.Terminating() {
		m.Become(s.node, collector.Deleted(s.object, metav1.DeletePropagationBackground, s.graph.Snapshot().Taken))
	}
	m.Become(s.node, nil) // whatever holds it: it is about what goes when it has gone
	below := map[graph.Node]bool{}
	for _, e := range s.graph.Dependents(s.node) {
		below[e.Node] = true
	}
	return m.Simulate(collector.Bounds{Roots: func(n graph.Node) bool { return below[n] }})
}

// along counts what a course deletes for want of the object, directly or in turn.
func (s *subject) along(course *collector.Course) *Along {
	goes := graph.NewSet(s.graph)
	goes.Add(s.node)
	moved := map[int]bool{}
	for i := range course.Moves {
		m := &course.Moves[i]
		if m.Act != collector.Remove {
			continue
		}
		for k, v := range m.Verdicts {
			if owner := s.graph.Find(m.Before.Owners[k].UID); v.Lost() && goes.Has(owner) {
				goes.Add(m.Node)
				moved[i] = true
				break
			}
		}
		if m.Node == s.node {
			moved[i] = true
		}
	}
	for n, by := range course.Swept {
		if moved[by] {
			goes.Add(n)
		}
	}
	if s.object.IsNamespace() || s.object.IsDefinition() {
		for _, n := range s.members() {
			goes.Add(n)
		}
	}
	goes.Remove(s.node)
	return s.counted(goes.Nodes())
}

var claim = Kind{APIVersion: "v1", Kind: "PersistentVolumeClaim"}

func (s *subject) counted(nodes []graph.Node) *Along {
	out := &Along{Objects: len(nodes), Claims: []object.Identity{}}
	kinds := map[Kind]int{claim: 0}
	for _, n := range nodes {
		i := s.graph.Object(n).Identity
		k := Kind{APIVersion: i.APIVersion, Kind: i.Kind}
		kinds[k]++
		if k == claim {
			out.Claims = append(out.Claims, i)
		}
	}
	for k, n := range kinds {
		k.Objects = n
		out.Kinds = append(out.Kinds, k)
	}
	slices.SortFunc(out.Kinds, func(a, b Kind) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.APIVersion, b.APIVersion))
	})
	return out
}
