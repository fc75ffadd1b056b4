package monitor

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// indexed returns an index of the objects, in one monitor per kind.
func indexed(objects []*object.Object) *index {
	x, stores := newIndex(), map[string]*typeMonitor{}
	for _, o := range objects {
		kind := o.APIVersion + " " + o.Kind
		if stores[kind] == nil {
			stores[kind] = &typeMonitor{query: client.Query{Type: snapshot.Type{Resource: kind}}}
		}
		x.replace(stores[kind], nil, []*object.Object{o})
	}
	return x
}

// TestPartDecidesLikeTheWhole decides on objects of a random cluster twice: knowing everything, and
// knowing the part that SnapshotOfChanges reads because of them.
func TestPartDecidesLikeTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		whole := rapid.SampledFrom([]func(*rapid.T) *snapshot.Snapshot{st.Draw, st.DrawBusy}).Draw(t, "cluster")(t)
		if len(whole.Objects) == 0 || slices.ContainsFunc(whole.Objects, func(o *object.Object) bool { return o.Contested }) {
			return
		}
		x := indexed(whole.Objects)
		changed := whole.Objects[rapid.IntRange(0, len(whole.Objects)-1).Draw(t, "changed")]
		selected, decided := x.part([]types.UID{changed.UID})
		if decided == nil {
			return // of an object with contents
		}
		s := *whole
		s.Objects, s.Lookups = nil, slices.Clone(whole.Lookups)
		for _, objects := range selected {
			s.Objects = append(s.Objects, objects...)
		}
		s.Lookups = append(s.Lookups, lookedUp(whole, s.Objects)...)
		s.Normalize()

		all := simulate.NewModel(collector.NewJudge(graph.New(whole)), simulate.Own)
		some := simulate.NewModel(collector.NewJudge(graph.New(&s)), simulate.Own)
		for uid := range decided {
			n, m := all.Graph().Find(uid), some.Graph().Find(uid)
			if all.Object(n) == nil {
				continue
			}
			if some.Object(m) == nil {
				t.Fatalf("%s is not in the part", all.Object(n))
			}
			if diff := cmp.Diff(fmt.Sprintf("%+v", all.Decide(n)), fmt.Sprintf("%+v", some.Decide(m))); diff != "" {
				t.Fatalf("%s: %s", all.Object(n), diff)
			}
		}
	})
}

// lookedUp returns the lookups that a scan of the part makes besides those of the whole: of objects at
// the places of owners with another UID, which the whole has in its lists.
func lookedUp(whole *snapshot.Snapshot, part []*object.Object) (out []snapshot.Lookup) {
	view, known := snapshot.NewView(whole), map[types.UID]bool{}
	for _, o := range whole.Objects {
		known[o.UID] = true
	}
	for _, o := range part {
		for _, r := range o.Owners {
			_, at, ok := view.CoordinatesOf(o.Namespace, r)
			made := func(l snapshot.Lookup) bool { return l.Coordinates == at }
			if !ok || known[r.UID] || slices.ContainsFunc(out, made) || slices.ContainsFunc(whole.Lookups, made) {
				continue
			}
			for _, there := range whole.Objects {
				if there.Name == at.Name && there.Namespace == at.Namespace && there.Kind == at.Kind {
					out = append(out, snapshot.Lookup{Coordinates: at, Outcome: snapshot.Found, Object: there})
					break
				}
			}
		}
	}
	return out
}

func TestIndexFollowsChanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &typeMonitor{}
		x, objects := newIndex(), map[types.UID]*object.Object{}
		for range rapid.IntRange(0, 40).Draw(t, "changes") {
			uid := types.UID(rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "uid"))
			var old, now []*object.Object
			if o := objects[uid]; o != nil {
				old = append(old, o)
			}
			delete(objects, uid)
			if rapid.Bool().Draw(t, "exists") {
				o := &object.Object{Identity: object.Identity{Name: string(uid), UID: uid}}
				for _, owner := range rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "x"}), 0, 3).Draw(t, "owners") {
					o.Owners = append(o.Owners, object.Reference{UID: types.UID(owner)})
				}
				objects[uid], now = o, append(now, o)
			}
			x.replace(s, old, now)
		}
		want := newIndex()
		want.replace(s, nil, slices.Collect(maps.Values(objects)))
		if diff := cmp.Diff(want.dependents, x.dependents, cmp.AllowUnexported(uidSet{})); diff != "" {
			t.Error(diff)
		}
		if len(want.holders) != len(x.holders) {
			t.Errorf("%d objects, want %d", len(x.holders), len(want.holders))
		}
	})
}

func TestChangesOfDependentsConcernOwnersThatWait(t *testing.T) {
	waiting, live := st.ConfigMap("a/waiting", st.Foreground()), st.ConfigMap("a/live")
	dependent := st.Secret("a/dependent", st.OwnedBy(waiting, live))
	x := indexed([]*object.Object{&waiting, &live, &dependent})
	x.take()
	x.mark(&dependent)
	changed, everything := x.take()
	slices.Sort(changed)
	want := []types.UID{dependent.UID, waiting.UID}
	slices.Sort(want)
	if diff := cmp.Diff(want, changed); diff != "" || everything {
		t.Errorf("everything: %v, %s", everything, diff)
	}
}
