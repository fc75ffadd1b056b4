package simulate_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector/collectortest"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// deletionOf returns a DELETE of an object in the background.
func deletionOf(o object.Object) []deletion { return []deletion{{o.UID, inBackground}} }

// See docs/versions.md and docs/gc-semantics.md#contents-of-a-namespace.
func TestD1PodsOfANamespaceGoFirst(t *testing.T) {
	shop, held := st.Namespace("shop"), st.Pod("shop/p", st.WithFinalizers("x/y"))
	checkRequests(t, []request{
		{
			name: "a Pod that a finalizer holds keeps everything else", seen: listing(shop, held, st.Pod("shop/q"), st.ConfigMap("shop/c")), asked: deletionOf(shop),
			moves: []string{"ask delete shop Background"}, left: []string{"p terminating x/y", "q gone", "shop terminating"}, later: []string{"c"},
		},
		{
			name: "up to 1.32 it keeps only the namespace", seen: append(listing(shop, held, st.ConfigMap("shop/c")), st.FromServer("v1.32.9")), asked: deletionOf(shop),
			moves: []string{"ask delete shop Background"}, left: []string{"c gone", "p terminating x/y", "shop terminating"},
		},
		{
			name: "a server of an unknown version is like the newest", seen: append(listing(shop, held, st.ConfigMap("shop/c")), st.FromServer("")), asked: deletionOf(shop),
			moves: []string{"ask delete shop Background"}, left: []string{"p terminating x/y", "shop terminating"}, later: []string{"c"},
		},
		{
			name: "Pods of other namespaces do not matter", seen: listing(shop, st.Pod("far/p", st.WithFinalizers("x/y")), st.ConfigMap("shop/c")), asked: deletionOf(shop),
			moves: []string{"ask delete shop Background"}, left: []string{"c gone", "shop gone"},
		},
		{
			name: "a Pod that is being deleted counts", seen: listing(shop, st.Pod("shop/p", st.Terminating("x/y")), st.ConfigMap("shop/c")), asked: deletionOf(shop),
			moves: []string{"ask delete shop Background"}, left: []string{"p terminating x/y", "shop terminating"}, later: []string{"c"},
		},
		{
			name: "the garbage collector continues in the namespace", seen: listing(shop, held, st.Pod("shop/q"), st.ConfigMap("shop/c", st.OwnedBy(st.Pod("shop/q"))), st.Secret("shop/s")), asked: deletionOf(shop),
			moves: []string{"ask delete shop Background", "2 delete c Background"}, left: []string{"c gone", "p terminating x/y", "q gone", "shop terminating"}, later: []string{"s"},
		},
		{
			name: "the other contents go once the Job controller lets the Pod go", asked: deletionOf(shop),
			seen:  listing(shop, st.Pod("shop/p", st.WithFinalizers("batch.kubernetes.io/job-tracking")), st.ConfigMap("shop/c"), st.Secret("far/s", st.OwnedBy(shop))),
			moves: []string{"ask delete shop Background", "2 delete s Background"}, left: []string{"c gone", "p gone", "s gone", "shop gone"},
		},
		{
			name: "what depends on the other contents goes later, too", asked: deletionOf(shop),
			seen:  listing(shop, held, st.ConfigMap("shop/c", st.WithFinalizers("x/z")), st.Secret("far/s", st.OwnedBy(shop)), st.Secret("shop/t", st.OwnedBy(st.ConfigMap("shop/c")))),
			moves: []string{"ask delete shop Background"}, left: []string{"p terminating x/y", "shop terminating"}, later: []string{"c", "s", "t"},
		},
	})

	t.Run("the other contents wait for the Pods that are left, and for no other", func(t *testing.T) {
		c := ask(st.New(st.Listing(shop, held, st.Pod("shop/q", st.WithFinalizers("x/y")), st.Pod("shop/r"), st.ConfigMap("shop/c"), st.Secret("shop/s"))), collector.ActorControllerManager, deletionOf(shop))
		release := c.SimulateRelease()
		var pending []string
		for n, transition := range c.ContentsPending {
			pending = append(pending, c.Model.Graph().Object(n).Name)
			if transition != 0 {
				t.Errorf("the deletion of %s is caused by transition %d", c.Model.Graph().Object(n), transition)
			}
			var causes []string
			for _, cause := range release.Causes[n] {
				causes = append(causes, c.Model.Graph().Object(cause).Name)
			}
			if diff := cmp.Diff([]string{"p", "q"}, causes); diff != "" {
				t.Errorf("%s waits for (-want +got)\n%s", c.Model.Graph().Object(n), diff)
			}
		}
		slices.Sort(pending)
		if diff := cmp.Diff([]string{"c", "s"}, pending); diff != "" {
			t.Error(diff)
		}
		for n := range release.Result.ContentsPending {
			t.Errorf("%s is pending after the release", c.Model.Graph().Object(n))
		}
		if left := release.Result.Model.Object(c.Model.Graph().Find(shop.UID)); left != nil {
			t.Error("the namespace is left after the release")
		}
	})
}

// See docs/gc-semantics.md#contents-of-a-namespace.
func TestD2ANamespaceStaysWhileAGroupCannotBeDiscovered(t *testing.T) {
	shop := st.Namespace("shop")
	seen := listing(shop, st.ConfigMap("shop/c"), st.Secret("far/s", st.OwnedBy(shop)))
	with := func(more ...st.Part) []st.Part { return slices.Concat(seen, more) }
	stays := func(name string, gap st.Part, races ...string) request {
		return request{
			name: name, seen: with(gap), asked: deletionOf(shop),
			moves: []string{"ask delete shop Background"}, left: []string{"c gone", "shop terminating"}, later: []string{"s"}, races: races,
		}
	}
	goes := func(name string, gap st.Part) request {
		return request{
			name: name, seen: with(gap), asked: deletionOf(shop),
			moves: []string{"ask delete shop Background", "2 delete s Background"}, left: []string{"c gone", "s gone", "shop gone"},
		}
	}
	checkRequests(t, []request{
		stays("its contents go all the same", st.Undiscovered("metrics.k8s.io", snapshot.Unavailable)),
		stays("and perhaps while a type cannot be listed", st.Unreadable("widgets.example.com", snapshot.Webhook), "s", "shop"),
		goes("but not if only the user may not discover it", st.Undiscovered("metrics.k8s.io", snapshot.Forbidden)),
		goes("or may not list a type", st.Unreadable("widgets.example.com", snapshot.Forbidden)),
	})
	for gap, want := range map[string]struct {
		part  st.Part
		stuck string
	}{
		"group": {st.Undiscovered("metrics.k8s.io", snapshot.Unavailable), "shop: shop groups undiscoverable"},
		"type":  {st.Unreadable("widgets.example.com", snapshot.Webhook), "shop: shop contents unlistable"},
	} {
		s := st.New(append([]st.Part{st.Serving(st.TypesWithContents()...)}, with(want.part)...)...)
		compare(t, gap, []string{want.stuck}, stuck(ask(s, collector.ActorControllerManager, deletionOf(shop))))
	}
}

// A node that is lost does not stop its Pods.
func TestD3APodThatShouldHaveStoppedStaysInADeletedNamespace(t *testing.T) {
	shop := st.Namespace("shop")
	checkRequests(t, []request{
		{
			name: "and keeps what goes after Pods", seen: listing(shop, st.Pod("shop/p", st.Running(), st.InGracePeriodUntil(-time.Minute)), st.ConfigMap("shop/c")), asked: deletionOf(shop),
			moves: []string{"ask delete shop Background"}, left: []string{"p terminating", "shop terminating"}, later: []string{"c"},
		},
		{
			name: "and up to 1.32 nothing else", asked: deletionOf(shop),
			seen:  append(listing(shop, st.Pod("shop/p", st.Running(), st.InGracePeriodUntil(-time.Minute)), st.ConfigMap("shop/c")), st.FromServer("v1.30.2")),
			moves: []string{"ask delete shop Background"}, left: []string{"c gone", "p terminating", "shop terminating"},
		},
		{
			name: "unlike one whose grace period is not over", seen: listing(shop, st.Pod("shop/p", st.Running(), st.InGracePeriodUntil(time.Second)), st.ConfigMap("shop/c")), asked: deletionOf(shop),
			moves: []string{"ask delete shop Background"}, left: []string{"c gone", "p gone", "shop gone"},
		},
	})
}

// See docs/versions.md and docs/gc-semantics.md#breaking-a-cycle.
func TestD4UpTo133TheDeletionAfterACycleIsBrokenIsNotRefused(t *testing.T) {
	block := func(owner object.Object) st.Option { return st.Owned(st.To(owner, st.Blocking)) }
	a, b := st.ConfigMap("ns/a", st.WithFinalizers("x/y"), block(st.ConfigMap("ns/b"))), st.ConfigMap("ns/b", block(st.ConfigMap("ns/a")))
	for server, want := range map[string][]string{
		"v1.33.13": {"a terminating x/y", "b terminating " + collectortest.Foreground, "c gone"},
		"v1.34.0":  {"a terminating x/y", "b changed"},
	} {
		s := st.New(st.Listing(a, b, st.Secret("ns/c", st.OwnedBy(b))), st.FromServer(server))
		compare(t, server, want, left(ask(s, collector.ActorControllerManager, []deletion{{a.UID, inForeground}})))
	}
}
