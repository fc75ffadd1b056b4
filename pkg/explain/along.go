package explain

import (
	"cmp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
)

// goesAlong counts what goes with the object: what would if it were deleted now,
// and where it goes anyway, also what goes because another owner does, too.
func (s *subject) goesAlong() {
	goes := graph.NewSet(s.graph)
	for _, n := range append(s.members(), s.node) {
		goes.Add(n)
	}
	course := s.deleted()
	s.along(course, goes)
	s.along(&course.SimulateRelease().Result, goes)
	if s.Consequence == collector.ConsequenceDelete {
		s.along(s.course, goes)
	}
	goes.Remove(s.node)
	s.Cascade = s.counted(goes.Nodes())
}

// deleted is the course of a deletion of the object, as kubectl deletes, or of the
// one that is under way.
func (s *subject) deleted() *simulate.Result {
	b := simulate.Bounds{Roots: simulate.Nothing}
	if !s.object.Terminating() {
		b.Deletes = []simulate.Deletion{{Node: s.node, Policy: metav1.DeletePropagationBackground}}
		return simulate.NewActorModel(s.graph, s.judge, collector.ActorControllerManager).Simulate(b)
	}
	for _, n := range append(s.members(), s.node) {
		b.Deletes = append(b.Deletes, simulate.Deletion{Node: n}) // of the policy that it has
	}
	below := map[graph.Node]bool{s.node: true}
	if s.object.DeletingDependents() {
		for _, e := range s.graph.Dependents(s.node) {
			below[e.Node] = true
		}
	}
	b.Roots = func(n graph.Node) bool { return below[n] }
	return simulate.NewActorModel(s.graph, s.judge, collector.ActorControllerManager).Simulate(b)
}

// along adds what a course deletes for want of what goes, directly or in turn.
func (s *subject) along(course *simulate.Result, goes graph.Set) {
	swept := map[int][]graph.Node{}
	for n, by := range course.ContentsDeleted {
		swept[by] = append(swept[by], n)
	}
	for i := range course.Transitions {
		m := &course.Transitions[i]
		if m.Action != collector.ActionDelete || !goes.Has(m.Node) && !s.follows(m, goes) {
			continue
		}
		goes.Add(m.Node)
		for _, n := range swept[i] {
			goes.Add(n)
		}
	}
}

// follows says whether an owner that a move rests on is among those that go.
func (s *subject) follows(m *simulate.Transition, goes graph.Set) bool {
	for i, v := range m.Verdicts {
		if v.IsBad() && goes.Has(s.graph.Find(m.StateBefore.Owners[i].UID)) {
			return true
		}
	}
	return false
}

var claim = Kind{APIVersion: "v1", Kind: "PersistentVolumeClaim"}

func (s *subject) counted(nodes []graph.Node) *Cascade {
	out := &Cascade{Objects: len(nodes), Claims: []object.Identity{}}
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
