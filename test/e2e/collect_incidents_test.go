package e2e

import (
	"fmt"
	"net/http"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Each of these tests reproduces a reported incident with the real collector, checks what collect
// does in the same situation, and is named after the thread.

// The collector lost track of a foreground deletion: no dependent blocks it, and the foreground
// finalizer stays.
func TestCollectIncident_kubernetes_115570(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("lost")
	owner := s.create(workload("Deployment", ns, "web"))
	s.remove(owner, metav1.DeletePropagationForeground)
	s.gc("collect", "-n", ns, "--dry-run").exits(t, 0).shows(t, "remove-finalizer", "Deployment/web", "nothing blocks its foreground deletion any more")
	s.gc("collect", "-n", ns, "--yes").exits(t, 0).shows(t, "removed finalizer 1", "nothing left")
	s.requireGone(owner)
}

// The same, after a second foreground deletion while another finalizer still held the object.
func TestCollectIncident_kubernetes_77081(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("twice")
	held := s.create(pod(ns, "held", heldBy("example.com/hold")))
	for range 2 {
		s.remove(held, metav1.DeletePropagationForeground)
		// The object waits for the other finalizer, and the output says so.
		s.gc("collect", "-n", ns, "--yes").exits(t, 1).shows(t, "removed finalizer 1", "1 blocked: Pod/held")
		live, err := s.client(held).Get(t.Context(), "held", metav1.GetOptions{})
		s.must(err)
		if got := live.GetFinalizers(); len(got) != 1 || got[0] != "example.com/hold" {
			t.Errorf("it is held by %q", got)
		}
	}
	s.patch(held, `{"metadata":{"finalizers":null}}`)
	s.requireGone(held)
}

// A DaemonSet was deleted while its references were being changed.
func TestCollectIncident_kubernetes_114603(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("adopted")
	former := reference("apps/v1", "Deployment", "former", "former")
	daemons := s.create(workload("DaemonSet", ns, "agent", ownedBy(former)))
	adopter := s.create(workload("Deployment", ns, "adopter"))
	f := s.proxyCalling(deleting(single("daemonsets", "agent")), func() { s.setOwners(daemons, referenceTo(adopter)) })
	f.gc("collect", "-n", ns, "--yes").exits(t, 0).shows(t, "skipped", "DaemonSet/agent", "it changed: its owner Deployment/adopter exists", "nothing was changed")
	if s.gone(daemons) {
		t.Error("it was deleted")
	}
}

// The thread asks that changes which do not matter must not make the collector retry for ever.
func TestCollectIncident_kubernetes_114828(t *testing.T) {
	s := newScene(t)
	s.defineTestKinds()
	ns := s.namespace("busy")
	owner := s.create(secret(ns, "owner"))
	doomed, shared := s.create(widget(ns, "busy", ownedBy(missingOwner()))), s.create(configMap(ns, "busy", ownedBy(referenceTo(owner), missingOwner())))
	held := s.create(configMap(ns, "busy-too", heldBy("example.com/hold")))
	s.remove(held, metav1.DeletePropagationForeground)
	f := s.throughProxy(func(through http.Handler) []fault {
		// Each object changes before each of the first ten writes.
		changing := func(plural string, o object) fault {
			beat := 0
			return fault{firstTimes(10, writing(single(plural, o.GetName()))), beforeResponse(through, func() {
				beat++
				s.patch(o, fmt.Sprintf(`{"metadata":{"labels":{"beat":"%d"}}}`, beat))
			})}
		}
		return []fault{changing("widgets", doomed), changing("configmaps", shared), changing("configmaps", held)}
	}).allowWrites()
	got := f.collect("-n", ns)
	if got.Summary.Done != 3 || got.Summary.Left > 0 {
		t.Errorf("%+v: %+v", got.Summary, got.Steps)
	}
	s.requireGone(doomed)
}

// The collector took a 404 from a wrong endpoint as proof that the owner, and the object itself,
// did not exist.
func TestCollectIncident_openshift_origin_14646(t *testing.T) {
	s := newScene(t)
	for name, wrong := range map[string]fault{
		"404 for the owner":  {reading(getOf("secrets")), respondUnknownPath},
		"404 for the object": {deleting(getOf("configmaps")), respondUnknownPath},
	} {
		t.Run(name, func(t *testing.T) {
			ns := s.namespace("endpoint")
			orphan := s.create(configMap(ns, "orphan", ownedBy(missingOwner())))
			below := s.create(configMap(ns, "below", ownedBy(referenceTo(orphan))))
			f := s.throughProxy(func(http.Handler) []fault { return []fault{wrong} }).allowWrites()
			r := f.gc("collect", "-n", ns, "--yes").exits(t, 1)
			r.lacks(t, "deleted 1", "already gone")
			s.requireUnchanged(orphan, below)
		})
	}
}

// Without a controller manager (envtest, kcp#191), a deletion leaves all dependents behind.
// collect then does the collector's work.
func TestCollectIncident_controller_runtime_1459(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("bare")
	deployment, replicaSet, pod1, _, _ := s.createShop(ns)
	s.remove(deployment, metav1.DeletePropagationBackground)
	if s.gone(replicaSet) {
		t.Fatal("there is a collector")
	}
	got := s.tool().collect("-n", ns)
	if got.Summary.Failed+got.Summary.Blocked+got.Summary.Left > 0 {
		t.Errorf("%+v", got.Summary)
	}
	s.requireGone(replicaSet, pod1)
	// In a foreground deletion, the owner is deleted last.
	deployment, replicaSet, pod1, _, _ = s.createShop(ns)
	s.remove(deployment, metav1.DeletePropagationForeground)
	s.tool().collect("-n", ns)
	s.requireGone(deployment, replicaSet, pod1)
	if more := s.tool().plan("-n", ns); len(more.Steps) > 0 {
		t.Errorf("left: %v", more.stepLines())
	}
}

// A restored backup had owner references with the UIDs of the former owners. A dry run suggests
// the current owner of that name, and deletes nothing.
func TestCollectIncident_velero_10556(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("restored")
	before := s.create(workload("Deployment", ns, "web"))
	after := s.replace(before)
	rs := s.create(workload("ReplicaSet", ns, "web-1", ownedBy(referenceTo(before, controlling, blocking))))
	s.gc("collect", "-n", ns, "--dry-run").exits(t, 0).
		shows(t, "ReplicaSet/web-1", "its only owner, Deployment/web, was replaced: it has another UID now")
	s.requireUnchanged(rs, after)
	// If that rule is excluded, no object is deleted.
	s.requirePlan([]string{}, "-n", ns, "--rule", "missing-owner,mismatched-owner,cross-namespace-owner")
}
