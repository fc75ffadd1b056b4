package simulate_test

import (
	"slices"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

func TestSimulateFinalizerRemoval(t *testing.T) {
	const foreign, other = "example.com/cleanup", "example.com/other"
	type o = object.Object
	stuck := st.Secret("ns/stuck", st.Terminating(foreign))
	crd := func(with ...st.Option) o {
		return st.CRD("widgets.example.com", append(with, st.Terminating("customresourcecleanup.apiextensions.k8s.io"))...)
	}
	widget := func(path string, with ...st.Option) o {
		return st.Object("example.com/v1", "Widget", path, with...)
	}
	for _, c := range []struct {
		name  string
		seen  []o // the first one loses its finalizer
		moves []string
		left  []string
		along []string // deleted because of the removal without a transition
		races []string
	}{
		{
			name: "the object is gone, and what it owns", seen: []o{stuck, st.ConfigMap("ns/d", st.OwnedBy(stuck)), st.ConfigMap("ns/e", st.OwnedBy(st.ConfigMap("ns/d")))},
			moves: []string{"1 remove-finalizer stuck example.com/cleanup", "2 delete d Background", "3 delete e Background"}, left: []string{"d gone", "e gone", "stuck gone"},
		},
		{
			name: "a dependent with another owner stays", seen: []o{stuck, st.Secret("ns/x"), st.ConfigMap("ns/d", st.OwnedBy(stuck, st.Secret("ns/x")))},
			moves: []string{"1 remove-finalizer stuck example.com/cleanup", "2 unlink d stuck"}, left: []string{"d unlinked", "stuck gone"},
		},
		{
			name: "another finalizer still holds it", seen: []o{st.Secret("ns/stuck", st.Terminating(foreign, other)), st.ConfigMap("ns/d", st.OwnedBy(stuck))},
			moves: []string{"1 remove-finalizer stuck example.com/cleanup"}, left: []string{"stuck terminating example.com/other"},
		},
		{
			name:  "an owner that waits for it is gone, too",
			seen:  []o{st.Secret("ns/stuck", st.Terminating(foreign), st.Owned(st.To(st.Secret("ns/o"), st.Blocking))), st.Secret("ns/o", st.Terminating(object.ForegroundFinalizer))},
			moves: []string{"1 remove-finalizer stuck example.com/cleanup", "2 remove-finalizer o foregroundDeletion"}, left: []string{"o gone", "stuck gone"},
		},
		{
			name: "a namespace that waits for it is gone, too", seen: []o{stuck, st.Namespace("ns", st.Terminating())},
			moves: []string{"1 remove-finalizer stuck example.com/cleanup"}, left: []string{"ns gone", "stuck gone"}, along: []string{"ns"},
		},
		{
			name:  "a namespace stays with what else is stuck in it",
			seen:  []o{stuck, st.Namespace("ns", st.Terminating()), st.ConfigMap("ns/held", st.Terminating(other))},
			moves: []string{"1 remove-finalizer stuck example.com/cleanup"}, left: []string{"held terminating example.com/other", "ns terminating", "stuck gone"},
		},
		{
			name:  "what a namespace deletes after its Pods is deleted after the last one",
			seen:  []o{st.Pod("ns/stuck", st.Terminating(foreign)), st.Namespace("ns", st.Terminating()), st.ConfigMap("ns/later")},
			moves: []string{"1 remove-finalizer stuck example.com/cleanup"}, left: []string{"later gone", "ns gone", "stuck gone"}, along: []string{"later", "ns"},
		},
		{
			name:  "a Pod that is left keeps what its namespace deletes afterwards",
			seen:  []o{stuck, st.Namespace("ns", st.Terminating()), st.Pod("ns/held", st.Terminating(other)), st.ConfigMap("ns/later")},
			moves: []string{"1 remove-finalizer stuck example.com/cleanup"}, left: []string{"held terminating example.com/other", "ns terminating", "stuck gone"},
		},
		{
			name: "a definition that waits for its last object is gone, too", seen: []o{widget("ns/stuck", st.Terminating(foreign)), crd()},
			moves: []string{"1 remove-finalizer stuck example.com/cleanup"}, left: []string{"stuck gone", "widgets.example.com gone"}, along: []string{"widgets.example.com"},
		},
		{
			name: "an empty namespace that only the finalizer held is gone", seen: []o{st.Namespace("ns", st.Terminating(foreign))},
			moves: []string{"1 remove-finalizer ns example.com/cleanup"}, left: []string{"ns gone"}, along: []string{"ns"},
		},
		{name: "an object that is not being deleted is not changed", seen: []o{st.Secret("ns/stuck", st.WithFinalizers(foreign))}, left: []string{}, moves: []string{}},
		{name: "an object without the finalizer is not changed", seen: []o{st.Secret("ns/stuck", st.Terminating(other))}, left: []string{"stuck terminating example.com/other"}, moves: []string{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := st.New(st.Serving(slices.Concat(st.TypesWithContents(), st.Workloads())...), st.Listing(c.seen...))
			g := graph.New(s)
			result := simulate.Run(collector.NewJudge(g), simulate.Cluster, simulate.Bounds{
				Roots: simulate.NoRoots, Removal: simulate.FinalizerPatch{Node: g.Find(c.seen[0].UID), Finalizer: foreign},
			})
			var along, races []string
			for n := range result.ContentsDeleted {
				along = append(along, g.Object(n).Name)
			}
			slices.Sort(along)
			for _, n := range result.Doubtful() {
				if result.Nondeterministic(n) {
					races = append(races, g.Object(n).Name)
				}
			}
			compare(t, "moves", c.moves, describe(result))
			compare(t, "left", c.left, left(result))
			compare(t, "along", c.along, along)
			compare(t, "races", c.races, races)
		})
	}
}
