package simulate_test

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector/collectortest"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// started returns the bounds for the cluster's own collector that starts with a snapshot.
func started(s *snapshot.Snapshot) (*graph.Graph, *simulate.Prediction) {
	g := graph.New(s)
	return g, simulate.Run(collector.NewJudge(g), simulate.Cluster, simulate.Bounds{})
}

// outcome returns what the bounds allow for an object: deleted, perhaps or kept.
func outcome(g *graph.Graph, p *simulate.Prediction, o object.Object) string {
	return map[simulate.Certainty]string{simulate.Always: "deleted", simulate.Perhaps: "perhaps", simulate.Never: "kept"}[p.Terminates(g.Find(o.UID))]
}

func TestACollectorThatStarts(t *testing.T) {
	owner, event := st.Pod("ns/owner"), st.Object("v1", "ComponentStatus", "cs")
	gone, lost := st.Secret("ns/gone"), st.ConfigMap("ns/lost")
	leaving, held := st.Pod("ns/owner", st.Foreground()), st.Pod("ns/owner", st.Foreground(), st.WithFinalizers("foregroundDeletion", "x/y"))
	child := func(refs ...object.Reference) object.Object { return st.ConfigMap("ns/child", st.Owned(refs...)) }
	for _, c := range []struct {
		name string
		of   object.Object
		seen []st.Part
		want string
	}{
		{"deletes the dependent of an owner that is gone", child(st.To(gone)), []st.Part{st.Listing(child(st.To(gone)))}, "deleted"},
		{"keeps one whose owner exists", child(st.To(owner)), []st.Part{st.Listing(child(st.To(owner)), owner)}, "kept"},
		{"keeps one with another owner", child(st.To(owner), st.To(gone)), []st.Part{st.Listing(child(st.To(owner), st.To(gone)), owner)}, "kept"},
		{"deletes what blocks a foreground deletion", child(st.To(leaving, st.Blocking)), []st.Part{st.Listing(child(st.To(leaving, st.Blocking)), leaving)}, "deleted"},
		{"may miss what does not block one, if finalizers hold the owner", child(st.To(held)), []st.Part{st.Listing(child(st.To(held)), held)}, "perhaps"},
		{"deletes that once the owner is gone", child(st.To(leaving)), []st.Part{st.Listing(child(st.To(leaving)), leaving)}, "deleted"},
		{
			"D6: deletes what depends on an unmonitored object without owners", lost,
			[]st.Part{st.Listing(st.ConfigMap("ns/lost", st.OwnedBy(event))), st.Found(st.Object("v1", "ComponentStatus", "cs", st.OwnedBy(st.Node("gone"))))},
			"deleted",
		},
		{
			"D7: notices no foreground deletion of an unmonitored owner", child(st.To(event, st.Blocking)),
			[]st.Part{st.Listing(child(st.To(event, st.Blocking))), st.Found(st.Object("v1", "ComponentStatus", "cs", st.Foreground()))},
			"kept",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, p := started(st.New(c.seen...))
			if got := outcome(g, p, c.of); got != c.want {
				t.Errorf("%s is %s, want %s", c.of, got, c.want)
			}
		})
	}
}

// The collector cannot look for an owner whose kind has vanished.
func TestTheOwnersKindMayVanishBeforeTheCollectorLooks(t *testing.T) {
	lost := st.ConfigMap("a/lost", st.OwnedBy(st.Object("example.com/v1", "Widget", "a/gone")))
	leaving, held := st.Node("n", st.Foreground()), st.Node("held", st.Terminating("foregroundDeletion", "x/y"))
	kind := func(with ...st.Option) object.Object { return st.CRD("widgets.example.com", with...) }
	instance := st.Object("example.com/v1", "Widget", "a/w", st.Foreground())
	for _, c := range []struct {
		name string
		seen []object.Object
	}{
		{"it stays", []object.Object{kind(st.OwnedBy(held), st.WithFinalizers("x/y")), held}},
		{"a finalizer holds it", []object.Object{kind(st.OwnedBy(leaving), st.WithFinalizers("x/y")), leaving}},
		{"it goes with its owner", []object.Object{kind(st.OwnedBy(leaving)), leaving}},
		{"it may go with its owner", []object.Object{kind(st.OwnedBy(held)), held}},
		{
			"it waits for an instance that may go",
			[]object.Object{kind(st.OwnedBy(leaving)), leaving, instance, st.Pod("a/p", st.Owned(st.To(instance, st.Blocking), st.To(held))), held},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			whole := st.New(st.Serving(st.TypesWithContents()...), st.Listing(append(c.seen, lost)...))
			collectortest.Permute(whole.Objects, func(order []*object.Object) {
				shuffled := *whole
				shuffled.Objects = order
				g, p := started(&shuffled)
				if got := outcome(g, p, lost); got != "perhaps" {
					t.Errorf("%s is %s, want perhaps, in the order %v", lost, got, order)
				}
			})
		})
	}
}

func TestD9AnObjectWithBothFinalizersMayKeepTheSecond(t *testing.T) {
	owner := st.ConfigMap("ns/owner", st.Terminating("orphan", "foregroundDeletion"))
	for name, blocks := range map[string]bool{"a dependent does not block": false, "a dependent blocks": true} {
		t.Run(name, func(t *testing.T) {
			r := st.To(owner)
			if blocks {
				r = st.To(owner, st.Blocking)
			}
			dependent := st.Secret("ns/child", st.Owned(r))
			g, p := started(st.New(st.Listing(owner, dependent)))
			if got := p.Vanishes(g.Find(owner.UID)); got != simulate.Perhaps {
				t.Errorf("its deletion completes: %v, want perhaps", got)
			}
			if e := (graph.Edge{Node: g.Find(dependent.UID), Index: 0}); p.Unlinks(e) == simulate.Never {
				t.Error("the dependent is not orphaned")
			}
		})
	}
}
