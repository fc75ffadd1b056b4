package simulate_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector/collectortest"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// See docs/gc-semantics.md#contents-of-a-namespace, #instances-of-a-crd.
func TestNamespacesAndDefinitionsDeleteTheirContents(t *testing.T) {
	lost := st.OwnedBy(st.Node("gone"))
	shop := func(with ...st.Option) object.Object { return st.Namespace("shop", append(with, lost)...) }
	widgets := func(with ...st.Option) object.Object {
		return st.CRD("widgets.example.com", append(with, lost)...)
	}
	widget := func(at string, with ...st.Option) object.Object {
		return st.Object("example.com/v1", "Widget", at, with...)
	}
	in := func(objects ...object.Object) []st.Part {
		return append([]st.Part{st.Serving(st.TypesWithContents()...)}, listing(objects...)...)
	}
	root := st.Node("root", st.Foreground())
	ofRoot := st.Owned(st.To(root, st.Blocking))

	run(t, []scenario{
		{
			name: "a namespace goes with everything in it", seen: in(shop(), st.Pod("shop/p"), st.Secret("shop/s"), st.Secret("other/s")),
			moves: []string{"1 delete shop Background"}, left: []string{"p gone", "s gone", "shop gone"},
		},
		{
			name: "what goes by itself goes before its namespace does", seen: in(shop(), st.Secret("shop/lost", lost), st.ConfigMap("shop/c")),
			moves: []string{"1 delete lost Background", "1 delete shop Background"}, left: []string{"c gone", "lost gone", "shop gone"},
		},
		{
			name: "an empty namespace goes at once", seen: in(shop(), st.Secret("other/s")),
			moves: []string{"1 delete shop Background"}, left: []string{"shop gone"},
		},
		{
			name: "what depends on the contents or on the namespace goes thereafter", seen: in(shop(), st.ConfigMap("shop/c"), st.Secret("other/s", st.OwnedBy(st.Namespace("shop")))),
			moves: []string{"1 delete shop Background", "2 delete s Background"}, left: []string{"c gone", "s gone", "shop gone"},
		},
		{
			name: "contents that somebody holds keep the namespace, and its dependents", seen: in(shop(), st.ConfigMap("shop/c", st.WithFinalizers("x/y")), st.Secret("other/s", st.OwnedBy(st.Namespace("shop")))),
			moves: []string{"1 delete shop Background"}, left: []string{"c terminating x/y", "shop terminating"}, stuck: []string{"c: c held", "shop: shop contents deleting"},
		},
		{
			name: "the collector's finalizers on contents are stripped, so that nothing is orphaned", seen: in(shop(), st.ConfigMap("shop/c", st.WithFinalizers(collectortest.Orphan)), st.Secret("shop/s", st.OwnedBy(st.ConfigMap("shop/c")))),
			moves: []string{"1 delete shop Background"}, left: []string{"c gone", "s gone", "shop gone"},
		},
		{
			name: "an orphaning that is under way comes first", seen: in(shop(), st.Node("n", st.Terminating(collectortest.Orphan)), st.Secret("shop/s", st.OwnedBy(st.Node("n")))),
			moves: []string{"1 unlink s n", "1 delete shop Background", "1 remove-finalizer n orphan"}, left: []string{"n gone", "s gone", "shop gone"},
		},
		{
			name: "Pods are stopped, those too that were stopping", seen: in(shop(), st.Pod("shop/p", st.Running()), st.Pod("shop/q", st.Running(), st.InGracePeriodUntil(0), st.WithFinalizers(collectortest.Foreground))),
			moves: []string{"1 delete shop Background"}, left: []string{"p gone", "q gone", "shop gone"},
		},
		{
			name: "a namespace that its own dependents block goes after them", seen: in(root, st.Namespace("shop", ofRoot), st.ConfigMap("shop/c"), st.Secret("other/s", st.Owned(st.To(st.Namespace("shop"), st.Blocking)))),
			moves: []string{"1 delete shop Foreground", "2 delete s Background", "3 remove-finalizer shop foregroundDeletion", "4 remove-finalizer root foregroundDeletion"},
			left:  []string{"c gone", "root gone", "s gone", "shop gone"},
		},
		{
			name: "a namespace that was terminating when it was seen is the controller's to empty", seen: in(st.Namespace("shop", st.Terminating()), st.Secret("shop/s")),
			left: []string{"shop terminating"}, stuck: []string{"shop: shop contents deleting"},
		},
		{
			name: "a definition goes with its instances, in every namespace, and with no other", seen: in(widgets(), widget("a/w"), widget("b/v"), st.Object("legacy.example.com/v1", "Widget", "a/u")),
			moves: []string{"1 delete widgets.example.com Background"}, left: []string{"v gone", "w gone", "widgets.example.com gone"},
		},
		{
			name: "instances keep the collector's finalizers, so they orphan", seen: in(widgets(), widget("a/w", st.WithFinalizers(collectortest.Orphan)), st.Secret("a/s", st.OwnedBy(widget("a/w")))),
			moves: []string{"1 delete widgets.example.com Background", "2 unlink s w", "2 remove-finalizer w orphan"}, left: []string{"s unlinked", "w gone", "widgets.example.com gone"},
		},
		{
			name: "an instance that somebody holds keeps its definition", seen: in(widgets(), widget("a/w", st.WithFinalizers("x/y"))),
			moves: []string{"1 delete widgets.example.com Background"}, left: []string{"w terminating x/y", "widgets.example.com terminating " + cleanup},
			stuck: []string{"w: w held", "widgets.example.com: widgets.example.com contents deleting"},
		},
		{
			name: "a definition that somebody holds stays when it is empty", seen: in(widgets(st.WithFinalizers("x/y")), widget("a/w")),
			moves: []string{"1 delete widgets.example.com Background"}, left: []string{"w gone", "widgets.example.com terminating x/y"}, stuck: []string{"widgets.example.com: widgets.example.com held"},
		},
		{
			name: "where not everything was seen nobody can say that anything is empty", seen: append(in(st.Namespace("shop"), st.Secret("shop/s"), st.ConfigMap("other/c", st.OwnedBy(st.Namespace("shop")))), st.Unlisted("pods")),
			deleted: []deletion{{st.Namespace("shop").UID, inBackground}}, left: []string{"shop terminating"}, stuck: []string{"shop: shop contents deleting"},
		},
	})

	t.Run("a move on what depends on an instance comes after the one that deleted its definition", func(t *testing.T) {
		c := simulateAll(st.New(in(widgets(), widget("a/w"), st.Secret("a/s", st.OwnedBy(widget("a/w"))))...))
		last := c.Transitions[len(c.Transitions)-1]
		if last.StateBefore.Name != "s" || !slices.Equal(last.Prerequisites, []int{0}) || last.CausedBy != 0 {
			t.Errorf("%s comes after %v and follows %d", last.StateBefore.Name, last.Prerequisites, last.CausedBy)
		}
	})
	t.Run("a transition that empties a definition comes after those that depend on its instances", func(t *testing.T) {
		fading := st.Node("fading", lost)
		c := simulateAll(st.New(in(widgets(), widget("a/w", st.WithFinalizers(collectortest.Foreground)), fading, st.Secret("a/s", st.OwnedBy(st.CRD("widgets.example.com"), fading)))...))
		compare(t, "moves", []string{
			"1 delete fading Background", "1 delete widgets.example.com Background",
			"2 unlink s fading", "2 remove-finalizer w foregroundDeletion", "3 delete s Background",
		}, describe(c))
		if !slices.Contains(c.Transitions[3].Prerequisites, 2) || !slices.Contains(c.Transitions[4].Prerequisites, 3) {
			t.Errorf("the last two come after %v and %v", c.Transitions[3].Prerequisites, c.Transitions[4].Prerequisites)
		}
	})
	t.Run("a move on what depends on a namespace comes after the one that deleted it", func(t *testing.T) {
		c := simulateAll(st.New(in(shop(), st.Node("n"), st.ConfigMap("shop/c"), st.Pod("shop/p"), st.Secret("other/s", st.OwnedBy(st.Namespace("shop"))))...))
		last := c.Transitions[len(c.Transitions)-1]
		if last.StateBefore.Name != "s" || !slices.Equal(last.Prerequisites, []int{0}) || last.CausedBy != 0 {
			t.Errorf("%s comes after %v and follows %d", last.StateBefore.Name, last.Prerequisites, last.CausedBy)
		}
		var deleted []string
		for n, move := range c.ContentsDeleted {
			if move == 0 {
				deleted = append(deleted, c.Model.Graph().Object(n).Name)
			}
		}
		slices.Sort(deleted)
		if diff := cmp.Diff([]string{"c", "p"}, deleted); diff != "" {
			t.Error(diff)
		}
	})
}

func TestStoppedPods(t *testing.T) {
	lost := st.OwnedBy(st.Pod("a/gone"))
	c := simulateAll(st.New(st.Listing(st.Pod("a/p", lost, st.Running()), st.Pod("a/q", lost))))
	for i, m := range c.Transitions {
		if m.Action != collector.ActionDelete || c.StoppedPods[i] != (m.StateBefore.Name == "p") {
			t.Errorf("%s of %s: stopped %v", m.Action, m.StateBefore.Name, c.StoppedPods[i])
		}
	}
}

func TestTerminatingNamespaceMayStayForWhatItReports(t *testing.T) {
	specFinalizer := func(o *object.Object) { o.NamespaceStatus.Finalizers = []string{"x/y"} }
	for name, c := range map[string]struct {
		status              []st.Option
		vanishes, may, must bool
	}{
		"not if its status was not read":                           {nil, true, true, true},
		"not if contents or finalizers were left":                  {[]st.Option{st.Reporting(object.ContentRemaining, "1", object.FinalizersRemaining, "1")}, true, true, true},
		"if its contents could not be deleted":                     {[]st.Option{st.Reporting(object.ContentFailure, "denied")}, false, true, false},
		"if groups could not be discovered":                        {[]st.Option{st.Reporting(object.DiscoveryFailure, "stale")}, false, true, false},
		"if a version could not be parsed":                         {[]st.Option{st.Reporting(object.GroupVersionFailure, "a/b/c")}, false, true, false},
		"it certainly stays for a finalizer of others in its spec": {[]st.Option{st.Reporting(), specFinalizer}, false, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			shop := st.Namespace("shop", append(c.status, st.Terminating())...)
			s := st.New(st.Serving(st.TypesWithContents()...), st.Listing(shop, st.ConfigMap("shop/c"), st.Secret("other/s", st.OwnedBy(shop))))
			judge := collector.NewJudge(graph.New(s))
			result := simulate.Run(judge, simulate.Cluster, simulate.Bounds{})
			n, dependent := judge.Graph().Find(shop.UID), judge.Graph().Find("Secret/other/s")
			if got := result.Model.Object(n) == nil; got != c.vanishes {
				t.Errorf("it vanishes in the simulation: %v, want %v", got, c.vanishes)
			}
			if got := result.Terminates(dependent) != simulate.Never; got != c.may {
				t.Errorf("its dependent may be deleted: %v, want %v", got, c.may)
			}
			if got := result.Terminates(dependent) == simulate.Always; got != c.must {
				t.Errorf("its dependent must be deleted: %v, want %v", got, c.must)
			}
		})
	}
}
