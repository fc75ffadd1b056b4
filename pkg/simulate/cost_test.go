package simulate_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector/collectortest"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// shapes are large graphs with about n transitions.
var shapes = map[string]func(n int) *snapshot.Snapshot{
	"a chain whose head has lost its owner": chainOf(st.Owned(to(lost, false))),
	"a chain deleted in the foreground":     chainOf(st.Foreground()),
	"a ring, one member deleted in the foreground": func(n int) *snapshot.Snapshot {
		s := &snapshot.Snapshot{}
		st.Cycle(n, st.Foreground())(s)
		return whole(s)
	},
	"a star, its hub owning all": func(n int) *snapshot.Snapshot {
		s := &snapshot.Snapshot{}
		st.Star(n, st.Foreground())(s)
		return whole(s)
	},
	"a star, its hub owned by all": func(n int) *snapshot.Snapshot {
		return linked(n, func(i int) []object.Reference {
			if i > 0 {
				return []object.Reference{to(lost, false)}
			}
			var all []object.Reference
			for k := 1; k < n; k++ {
				all = append(all, to(nth(k), true))
			}
			return all
		})
	},
	"a star, its hub blocking the foreground deletion of all": func(n int) *snapshot.Snapshot {
		s := &snapshot.Snapshot{Types: st.Types()}
		hub := st.Secret("ns/hub", st.WithFinalizers("x/y"))
		for i := range n {
			o := nth(i)
			st.Foreground()(&o)
			st.Listing(o)(s)
			hub.Owners = append(hub.Owners, to(o, true))
		}
		st.Listing(hub)(s)
		return whole(s)
	},
	"layers, each object owned by ten of the one above": func(n int) *snapshot.Snapshot {
		return linked(n, func(i int) []object.Reference {
			if i < 10 {
				return []object.Reference{to(lost, false)}
			}
			var all []object.Reference
			for k := range 10 {
				all = append(all, to(nth(i/10*10-10+k), true))
			}
			return all
		})
	},
	"an orphaning of all": func(n int) *snapshot.Snapshot {
		s := &snapshot.Snapshot{}
		st.Star(n, st.Terminating(collectortest.Orphan))(s)
		return whole(s)
	},
	"namespaces of one object each, beside a chain": func(n int) *snapshot.Snapshot {
		s := chainOf(st.Owned(to(lost, false)))(n / 2)
		for i := range n / 4 {
			name := fmt.Sprintf("ns-%d", i)
			st.Listing(st.Namespace(name, st.Owned(to(st.Node("gone"), false))), st.Secret(name+"/s"))(s)
		}
		return whole(s)
	},
	"namespaces of one held object each, beside a chain": func(n int) *snapshot.Snapshot {
		s := chainOf(st.Owned(to(lost, false)))(n / 2)
		for i := range n / 4 {
			name := fmt.Sprintf("ns-%d", i)
			st.Listing(st.Namespace(name, st.Owned(to(st.Node("gone"), false))), st.Secret(name+"/s", st.WithFinalizers("x/y")))(s)
		}
		return whole(s)
	},
	"a namespace full of held objects, beside a chain": func(n int) *snapshot.Snapshot {
		s := chainOf(st.Owned(to(lost, false)))(n / 2)
		st.Listing(st.Namespace("full", st.Owned(to(st.Node("gone"), false))))(s)
		for i := range n / 2 {
			st.Listing(st.Secret(fmt.Sprintf("full/s%d", i), st.WithFinalizers("x/y")))(s)
		}
		return whole(s)
	},
}

var lost = st.ConfigMap("ns/lost")

var nth = st.Nth

func to(owner object.Object, blocking bool) object.Reference {
	if blocking {
		return st.To(owner, st.Blocking)
	}
	return st.To(owner)
}

// linked returns n objects with these owners. The options change the first one.
func linked(n int, owners func(int) []object.Reference, first ...st.Option) *snapshot.Snapshot {
	s := &snapshot.Snapshot{}
	st.Linked(n, owners, first...)(s)
	return whole(s)
}

func chainOf(first ...st.Option) func(int) *snapshot.Snapshot {
	return func(n int) *snapshot.Snapshot {
		s := &snapshot.Snapshot{}
		st.Chain(n, first...)(s)
		return whole(s)
	}
}

func whole(s *snapshot.Snapshot) *snapshot.Snapshot {
	s.Types, s.Listed, s.Taken = nil, nil, st.Taken
	st.Serving(slices.Concat(st.Types(), st.TypesWithContents(), st.Workloads())...)(s)
	s.Normalize()
	return s
}

// The test counts allocations, and how often a node is queued. Neither depends on the
// machine.
func TestSimulateCostIsLinear(t *testing.T) {
	const n = 1000
	for name, shape := range shapes {
		t.Run(name, func(t *testing.T) {
			allocations, touches := cost(shape(n))
			twice, twiceTouches := cost(shape(2 * n))
			if ratio := twice / allocations; ratio > 2.3 {
				t.Errorf("%.0f allocations for %d objects, %.0f for twice as many: %.1f times", allocations, n, twice, ratio)
			}
			if ratio := float64(twiceTouches) / float64(touches); ratio > 2.3 {
				t.Errorf("%d touches for %d objects, %d for twice as many: %.1f times", touches, n, twiceTouches, ratio)
			}
		})
	}
}

func cost(s *snapshot.Snapshot) (allocations float64, touches int) {
	g := graph.New(s)
	judge := collector.NewJudge(g)
	run := func() {
		touches = 0
		m := simulate.NewModel(judge, simulate.Own)
		c := simulate.RunFrom(m, simulate.Bounds{Within: func(graph.Node) bool { touches++; return true }})
		rootCauses(c)
	}
	return testing.AllocsPerRun(1, run), touches
}

// rootCauses finds the root cause of every deletion that is not complete.
func rootCauses(c *simulate.Prediction) {
	obstacles := simulate.NewObstacles(c.Model)
	for n := range c.Model.Graph().Listed() {
		obstacles.RootCause(graph.Node(n))
	}
}
