package simulate_test

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

var (
	aaas  = snapshot.Type{Group: "lie.example.com", Version: "v1", Resource: "aaas", Kind: "Aaa", Namespaced: true, Verbs: []string{"delete", "get", "list", "watch"}, Preferred: true}
	aaa   = st.Object("lie.example.com/v1", "Aaa", "zzz/x", st.UID("u"), st.OwnedBy(st.ConfigMap("zzz/gone")))
	web   = st.Deployment("shop/web", st.UID("u"))
	owned = st.Secret("shop/s", st.OwnedBy(web))
)

func contesting(parts ...st.Part) *graph.Graph {
	return graph.New(st.New(append([]st.Part{st.Serving(aaas), st.Deduplicated(aaa, web, owned), st.Absent("v1", "ConfigMap", "zzz/gone")}, parts...)...))
}

func TestReferenceToAContestedUIDNeedsItsOwnLookup(t *testing.T) {
	waiting := st.Deployment("shop/web", st.UID("u"), st.Foreground())
	for name, c := range map[string]struct {
		parts        []st.Part
		want, actsOn collector.Verdict
	}{
		"no lookup":         {nil, collector.VerdictUnknown, collector.VerdictUnknown},
		"a failed lookup":   {[]st.Part{st.Failed("apps/v1", "Deployment", "shop/web", snapshot.TimedOut)}, collector.VerdictUnknown, collector.VerdictUnknown},
		"the owner":         {[]st.Part{st.Found(web)}, collector.VerdictSolid, collector.VerdictSolid},
		"a waiting owner":   {[]st.Part{st.Found(waiting)}, collector.VerdictWaiting, collector.VerdictUnknown},
		"a 404":             {[]st.Part{st.Absent("apps/v1", "Deployment", "shop/web")}, collector.VerdictDangling, collector.VerdictDangling},
		"another successor": {[]st.Part{st.Found(st.Deployment("shop/web", st.UID("other")))}, collector.VerdictDangling, collector.VerdictDangling},
	} {
		t.Run(name, func(t *testing.T) {
			g := contesting(c.parts...)
			judge, n := collector.NewJudge(g), g.Find(owned.UID)
			if got := judge.Object(n)[0].Verdict; got != c.want {
				t.Errorf("the verdict is %s, want %s", got, c.want)
			}
			if got := simulate.NewModel(judge, simulate.Own).Verdicts(n)[0]; got != c.actsOn {
				t.Errorf("acts on %s, want %s", got, c.actsOn)
			}
		})
	}
}

func TestContestedObjectProvesNothingAboutOtherUIDs(t *testing.T) {
	before := st.Secret("shop/b", st.Owned(st.To(web, st.WithUID("before"))))
	g := contesting(st.Listing(before))
	if got := collector.NewJudge(g).Object(g.Find(before.UID))[0].Verdict; got != collector.VerdictUnknown {
		t.Errorf("the verdict is %s", got)
	}
}

func TestDeletedContestedObjectLeavesDependentsSolid(t *testing.T) {
	g := contesting(st.Found(web))
	m := simulate.NewModel(collector.NewJudge(g), simulate.Own)
	m.SetObserved(g.Find("u"), nil, nil)
	if got := m.Decide(g.Find(owned.UID)); got.NoAction != collector.AllOwnersSolid {
		t.Errorf("got %+v", got)
	}
}

func TestDecideLeavesContestedObjectsAlone(t *testing.T) {
	for name, change := range map[string]st.Option{
		"without a living owner":   st.WithFinalizers(),
		"being deleted":            st.Terminating("x/y"),
		"being deleted foreground": st.Foreground(),
		"orphaning":                st.Terminating(object.OrphanFinalizer),
	} {
		t.Run(name, func(t *testing.T) {
			o := aaa
			change(&o)
			o.Contested = true
			s := collector.DecisionInput{Object: &o, Verdicts: []collector.Verdict{collector.VerdictDangling}}
			if got := collector.Decide(s); got.Action != collector.ActionNone || got.NoAction != collector.UIDContested {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// No simulation changes an object whose UID another object has, and references to it are
// dangling only by a lookup at their own coordinates.
func TestSimulateNeverChangesContestedObjects(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := st.Draw(t)
		if rapid.Bool().Draw(t, "busy") {
			s = st.DrawBusy(t)
		}
		if len(s.Objects) == 0 {
			return
		}
		victim := *rapid.SampledFrom(s.Objects).Draw(t, "victim")
		liar := aaa
		liar.UID = victim.UID
		st.Serving(aaas)(s)
		st.Deduplicated(liar)(s)
		s.Normalize()
		g := graph.New(s)
		n := g.Find(victim.UID)
		judge := collector.NewJudge(g)
		for _, e := range g.Dependents(n) {
			r := g.Reference(e)
			_, at, ok := g.View().CoordinatesOf(g.Object(e.Node).Namespace, r)
			if v := judge.Reference(e).Verdict; v == collector.VerdictDangling && ok && g.View().Lookup(at) == nil {
				if m, _ := g.View().Map(r.APIVersion, r.Kind); m.Served {
					t.Fatalf("%s: a reference to %s dangles, and nobody asked for it", g.Object(e.Node), r)
				}
			}
		}
		actor := rapid.SampledFrom([]collector.Actor{collector.ActorClient, collector.ActorControllerManager}).Draw(t, "actor")
		var deletes []simulate.DeleteRequest
		if rapid.Bool().Draw(t, "asked") {
			deletes = append(deletes, simulate.DeleteRequest{Node: n, Policy: metav1.DeletePropagationBackground})
		}
		result := simulate.Run(judge, simulate.Predictor{Actor: actor}, simulate.Bounds{Deletes: deletes})
		if slices.ContainsFunc(result.Transitions, func(m simulate.Transition) bool { return m.Node == n }) || result.Model.Changed(n) {
			t.Fatalf("%s is moved", g.Object(n))
		}
	})
}
