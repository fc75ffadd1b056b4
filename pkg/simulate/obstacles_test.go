package simulate_test

import (
	"fmt"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// docs/gc-semantics.md#stuck-foreground-deletions
func TestRootCauseOfForegroundDeletions(t *testing.T) {
	block := func(owner object.Object) st.Option { return st.Owned(st.To(owner, st.Blocking)) }
	a, b, c := st.Secret("ns/a"), st.Secret("ns/b"), st.Secret("ns/c")
	top := st.Secret("ns/top", st.Foreground())
	terminating := func(name string) string { return name + " terminating foregroundDeletion" }
	run(t, []scenario{
		{
			name: "one that blocks itself waits in a cycle", seen: listing(st.Secret("ns/a", block(a), st.Foreground())),
			left: []string{terminating("a")}, stuck: []string{"a: a in a cycle"},
		},
		{
			name: "so do three, the first of whom is named", left: []string{terminating("a"), terminating("b"), terminating("c")},
			seen:  listing(st.Secret("ns/a", block(c), st.Foreground()), st.Secret("ns/b", block(a), st.Foreground()), st.Secret("ns/c", block(b), st.Foreground())),
			stuck: []string{"a: a in a cycle", "b: a in a cycle", "c: a in a cycle"},
		},
		{
			name: "who waits for a cycle without being in it ends there too", left: []string{terminating("a"), terminating("b"), terminating("top")},
			seen:  listing(top, st.Secret("ns/a", block(b), st.Foreground()), st.Secret("ns/b", block(a), block(top), st.Foreground())),
			stuck: []string{"a: a in a cycle", "b: a in a cycle", "top: a in a cycle"},
		},
		{
			name: "a cluster-scoped blocker of a namespaced owner cannot be judged", seen: listing(top, st.Node("n", block(top))),
			left: []string{terminating("top")}, stuck: []string{"top: n cannot be judged"},
		},
		{
			name: "nor can one with another owner that leads nowhere", seen: listing(top, st.Secret("ns/d", block(top), st.Owned(st.To(a, st.As("v1", "Foo"))))),
			left: []string{terminating("top")}, stuck: []string{"top: d cannot be judged"},
		},
		{
			name: "a blocker that somebody holds", seen: listing(top, st.Secret("ns/d", block(top), st.WithFinalizers("x/y"))),
			moves: []string{"1 delete d Background"}, left: []string{"d terminating x/y", terminating("top")}, stuck: []string{"d: d held", "top: d held"},
		},
		{
			name: "at the end of a chain", seen: listing(top, st.Secret("ns/a", block(top)), st.Secret("ns/b", block(a)), st.Secret("ns/c", block(b), st.WithFinalizers("x/y"))),
			moves: []string{"1 delete a Foreground", "2 delete b Foreground", "3 delete c Background"},
			left:  []string{terminating("a"), terminating("b"), "c terminating x/y", terminating("top")},
			stuck: []string{"a: c held", "b: c held", "c: c held", "top: c held"},
		},
		{
			name: "a blocker in another namespace, whose other owner cannot be judged", seen: listing(top, st.Secret("elsewhere/d", block(top), st.Owned(st.To(a, st.As("v1", "Foo"))))),
			left: []string{terminating("top")}, stuck: []string{"top: d cannot be judged"},
		},
		{
			name: "a Pod that has yet to stop", seen: listing(top, st.Pod("ns/d", block(top), st.InGracePeriod())),
			left: []string{"d terminating", terminating("top")}, stuck: []string{"d: d stopping", "top: d stopping"},
		},
		{
			name: "an incomplete view", seen: append(listing(top), st.Unlisted("pods")),
			left: []string{terminating("top")}, stuck: []string{"top: top not all listed"},
		},
	})

	t.Run("nothing at all, before the collector has come", func(t *testing.T) {
		m := modelOf(st.New(st.Listing(top)))
		end, ok := simulate.NewObstacles(m).RootCause(m.Graph().Find(top.UID))
		if !ok || end.Reason != simulate.NothingBlocks || end.Node != m.Graph().Find(top.UID) {
			t.Errorf("got %+v, %v", end, ok)
		}
	})
	t.Run("what is not terminating or not there has no obstacle", func(t *testing.T) {
		m := modelOf(st.New(st.Listing(a, st.Secret("ns/d", st.OwnedBy(b)))))
		for _, n := range []graph.Node{m.Graph().Find(a.UID), m.Graph().Find(b.UID), graph.None} {
			if end, ok := simulate.NewObstacles(m).RootCause(n); ok {
				t.Errorf("got %+v", end)
			}
		}
	})
	t.Run("the reference that cannot be judged is named", func(t *testing.T) {
		d := st.Secret("ns/d", block(top), st.Owned(st.To(a, st.As("v1", "Foo"))))
		m := modelOf(st.New(st.Listing(top, d)))
		end, _ := simulate.NewObstacles(m).RootCause(m.Graph().Find(top.UID))
		if end.Reason != simulate.CannotBeJudged || end.Reference != 1 || m.Object(end.Node).Name != "d" {
			t.Errorf("got %+v", end)
		}
	})
}

func TestBlocking(t *testing.T) {
	top := st.Secret("ns/top", st.Foreground())
	of := st.To(top, st.Blocking)
	for _, test := range []struct {
		name    string
		owner   object.Object
		objects []object.Object
		want    []string
	}{
		{"none", top, nil, nil},
		{"those that block, in the order of their identities", top, []object.Object{st.Secret("ns/b", st.Owned(of)), st.ConfigMap("ns/z", st.Owned(of)), st.Secret("ns/a", st.Owned(of))}, []string{"z", "a", "b"}},
		{"not those that do not", top, []object.Object{st.Secret("ns/a", st.OwnedBy(top)), st.Secret("ns/b", st.Owned(notBlocking(of)))}, nil},
		{"each once", top, []object.Object{st.Secret("ns/a", st.Owned(of, of, st.To(top)))}, []string{"a"}},
		{"by UID alone", top, []object.Object{st.Node("a", st.Owned(of)), st.Secret("elsewhere/b", st.Owned(of)), st.Secret("ns/c", st.Owned(st.To(top, st.Blocking, st.Named("x"))))}, []string{"a", "b", "c"}},
		{"terminating ones too", top, []object.Object{st.Secret("ns/a", st.Owned(of), st.Terminating("x/y"))}, []string{"a"}},
		{"of an object that blocks itself, itself", st.Secret("ns/top", st.Foreground(), st.Owned(of)), nil, []string{"top"}},
		{"of an object that is not in foreground deletion none", st.Secret("ns/top", st.Terminating("x/y")), []object.Object{st.Secret("ns/a", st.Owned(of))}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := modelOf(st.New(st.Listing(append(test.objects, test.owner)...)))
			var got []string
			for _, n := range m.Blocking(m.Graph().Find(top.UID)) {
				got = append(got, m.Object(n).Name)
			}
			compare(t, "blocking", test.want, got)
		})
	}
}

func TestBlockingAfterAReferenceWasRemoved(t *testing.T) {
	top := st.Secret("ns/top", st.Foreground())
	plain, blocking := st.To(top), st.To(top, st.Blocking)
	other := st.To(st.Secret("ns/other"))
	for i, owners := range [][]object.Reference{
		{other, blocking},
		{other, plain, blocking},
		{other, blocking, plain},
		{other, blocking, plain, other},
		{other, blocking, plain, plain},
		{plain, blocking},
		{blocking, blocking},
		{other, plain},
		{blocking, plain},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			m := modelOf(st.New(st.Listing(top, st.Secret("ns/d", st.Owned(owners...)))))
			d := m.Graph().Find("Secret/ns/d")
			m.Apply(d, collector.Decision{Action: collector.ActionUnlink, Change: object.Change{Drop: []int{0}}})
			want := false
			for _, r := range owners[1:] {
				want = want || r.UID == top.UID && r.Blocks()
			}
			if got := len(m.Blocking(m.Graph().Find(top.UID))) == 1; got != want {
				t.Errorf("blocks: %v, want %v", got, want)
			}
		})
	}
}
