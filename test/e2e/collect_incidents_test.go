package e2e

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// What happened to people with the collector itself, and what collect makes of
// it. Each test is named after the thread.

// A foreground deletion that the collector has lost: nothing blocks it, and
// nobody takes the finalizer away.
func TestCollectIncident_kubernetes_115570(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("lost")
	owner := s.create(workload("Deployment", ns, "web"))
	s.remove(owner, metav1.DeletePropagationForeground)
	s.gc("collect", "-n", ns, "--dry-run").exits(t, 0).shows(t, "remove-finalizer", "Deployment/web", "nothing blocks its foreground deletion any more")
	s.gc("collect", "-n", ns, "--yes").exits(t, 0).shows(t, "removed finalizer 1", "nothing left")
	s.goes(owner)
}

// The same, where the deletion was asked for once more, in the foreground again,
// while something still held the object.
func TestCollectIncident_kubernetes_77081(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("twice")
	held := s.create(pod(ns, "held", heldBy("example.com/hold")))
	for range 2 {
		s.remove(held, metav1.DeletePropagationForeground)
		// It waits for the other finalizer, and says so.
		s.gc("collect", "-n", ns, "--yes").exits(t, 1).shows(t, "removed finalizer 1", "1 blocked: Pod/held")
		live, err := s.at(held).Get(t.Context(), "held", metav1.GetOptions{})
		s.must(err)
		if got := live.GetFinalizers(); len(got) != 1 || got[0] != "example.com/hold" {
			t.Errorf("it is held by %q", got)
		}
	}
	s.patch(held, `{"metadata":{"finalizers":null}}`)
	s.goes(held)
}

// A DaemonSet was deleted while its references were being changed.
func TestCollectIncident_kubernetes_114603(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("adopted")
	former := reference("apps/v1", "Deployment", "former", "former")
	daemons := s.create(workload("DaemonSet", ns, "agent", ownedBy(former)))
	adopter := s.create(workload("Deployment", ns, "adopter"))
	f := s.meanwhile(deleting(single("daemonsets", "agent")), func() { s.own(daemons, to(adopter)) })
	f.gc("collect", "-n", ns, "--yes").exits(t, 0).shows(t, "skipped", "DaemonSet/agent", "it changed: its owner Deployment/adopter exists", "nothing was changed")
	if s.gone(daemons) {
		t.Error("it was deleted all the same")
	}
}

// What was asked for there: that changes which do not matter do not starve it.
func TestCollectIncident_kubernetes_114828(t *testing.T) {
	s := newScene(t)
	s.custom()
	ns := s.namespace("busy")
	owner := s.create(secret(ns, "owner"))
	doomed, shared := s.create(widget(ns, "busy", ownedBy(lost()))), s.create(configMap(ns, "busy", ownedBy(to(owner), lost())))
	held := s.create(configMap(ns, "busy-too", heldBy("example.com/hold")))
	s.remove(held, metav1.DeletePropagationForeground)
	rest := s.restless(doomed, shared, held)
	defer rest()
	got := s.tool().collect("-n", ns)
	if got.Summary.Done != 3 || got.Summary.Left > 0 {
		t.Errorf("%+v: %+v", got.Summary, got.Steps)
	}
	s.goes(doomed)
}

// restless has its objects written to twenty times a second, far more often than
// a controller would. Where the changes come faster than a read and a write
// after it, a write that is bound to a resourceVersion has no chance.
func (s *scene) restless(objects ...object) (rest func()) {
	s.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	for _, o := range objects {
		at := s.at(o)
		done.Go(func() {
			beat := time.NewTicker(50 * time.Millisecond)
			defer beat.Stop()
			for i := 0; ctx.Err() == nil; i++ {
				<-beat.C
				patch := fmt.Sprintf(`{"metadata":{"labels":{"beat":"%d"}}}`, i)
				_, _ = at.Patch(ctx, o.GetName(), types.MergePatchType, []byte(patch), metav1.PatchOptions{}) // until it is gone
			}
		})
	}
	return func() {
		cancel()
		done.Wait()
	}
}

// A 404 from a wrong endpoint was taken for absence: of the owner, and of the
// object itself.
func TestCollectIncident_openshift_origin_14646(t *testing.T) {
	for name, wrong := range map[string]fault{
		"of the owner":         {reading(getOf("secrets")), notAPath},
		"of the object":        {deleting(getOf("configmaps")), notAPath},
		"of a starting server": {deleting(getOf("configmaps")), says(404, "NotFound", "the server could not find the requested resource")},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			ns := s.namespace("endpoint")
			orphan := s.create(configMap(ns, "orphan", ownedBy(lost())))
			below := s.create(configMap(ns, "below", ownedBy(to(orphan))))
			f := s.throughProxy(func(http.Handler) []fault { return []fault{wrong} }).acting()
			r := f.gc("collect", "-n", ns, "--yes").exits(t, 1)
			r.lacks(t, "deleted 1", "already gone")
			s.untouched(orphan, below)
		})
	}
}

// No controller manager at all (envtest, kcp#191): what is deleted there leaves
// everything below it behind, and collect is its collector.
func TestCollectIncident_controller_runtime_1459(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("bare")
	deployment, replicaSet, pod1, _, _ := s.shop(ns)
	s.remove(deployment, metav1.DeletePropagationBackground)
	if s.gone(replicaSet) {
		t.Fatal("there is a collector")
	}
	got := s.tool().collect("-n", ns)
	if got.Summary.Failed+got.Summary.Blocked+got.Summary.Left > 0 {
		t.Errorf("%+v", got.Summary)
	}
	s.goes(replicaSet, pod1)
	// In the foreground, the owner goes last.
	deployment, replicaSet, pod1, _, _ = s.shop(ns)
	s.remove(deployment, metav1.DeletePropagationForeground)
	s.tool().collect("-n", ns)
	s.goes(deployment, replicaSet, pod1)
	if more := s.tool().plan("-n", ns); len(more.Steps) > 0 {
		t.Errorf("left: %v", more.acts())
	}
}

// A backup restored objects with the UIDs of owners that have others now: a dry
// run names the owner of that name, and deletes nothing.
func TestCollectIncident_velero_10556(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("restored")
	before := s.create(workload("Deployment", ns, "web"))
	after := s.replace(before)
	rs := s.create(workload("ReplicaSet", ns, "web-1", ownedBy(to(before, controlling, blocking))))
	s.gc("collect", "-n", ns, "--dry-run").exits(t, 0).
		shows(t, "ReplicaSet/web-1", "its only owner, Deployment/web, was replaced: it has another UID now")
	s.untouched(rs, after)
	// Without that one rule, nobody loses it.
	s.plans([]string{}, "-n", ns, "--rule", "missing-owner,mismatched-owner,cross-namespace-owner")
}
