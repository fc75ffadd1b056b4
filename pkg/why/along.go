package why

import (
	"cmp"
	"slices"
	"strings"

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

// deleted is the course that things take once the object has gone with what is in
// it, whatever holds them now.
func (s *subject) deleted() *collector.Course {
	m := collector.NewModel(s.graph, s.judge)
	below := map[graph.Node]bool{}
	for _, n := range append(s.members(), s.node) {
		m.Become(n, nil)
		for _, e := range s.graph.Dependents(n) {
			below[e.Node] = true
		}
	}
	return m.Simulate(collector.Bounds{Roots: func(n graph.Node) bool { return below[n] }})
}

// along counts what a course deletes for want of the object, directly or in turn.
func (s *subject) along(course *collector.Course) *Along {
	goes, swept := graph.NewSet(s.graph), map[int][]graph.Node{}
	for n, by := range course.Swept {
		swept[by] = append(swept[by], n)
	}
	for _, n := range append(s.members(), s.node) {
		goes.Add(n)
	}
	for i := range course.Moves {
		m := &course.Moves[i]
		if m.Act != collector.Remove || !goes.Has(m.Node) && !s.follows(m, goes) {
			continue
		}
		goes.Add(m.Node)
		for _, n := range swept[i] {
			goes.Add(n)
		}
	}
	goes.Remove(s.node)
	return s.counted(goes.Nodes())
}

// follows says whether an owner that a move rests on is among those that go.
func (s *subject) follows(m *collector.Move, goes graph.Set) bool {
	for i, v := range m.Verdicts {
		if v.Lost() && goes.Has(s.graph.Find(m.Before.Owners[i].UID)) {
			return true
		}
	}
	return false
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
