package e2e

import (
	"context"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestKubernetes109429WithoutTheJobController compares what each command says about a Pod that the Job controller tracks
// with what becomes of it where nothing runs that controller.
func TestKubernetes109429WithoutTheJobController(t *testing.T) {
	s := newSceneOf(t, testcluster.Options{Collector: testcluster.On, ManagerFlags: []string{"controllers=*,-job-controller"}})
	ns := s.namespace("untracked")
	tracking := "batch.kubernetes.io/job-tracking"
	owner := s.create(job(ns, "import"))
	tracked := s.create(pod(ns, "import-x", heldBy(tracking), ownedBy(referenceTo(owner, controlling, blocking))))
	s.remove(owner, metav1.DeletePropagationForeground)
	s.await("the deletion of the Pod", func(context.Context) (bool, error) { return s.live(tracked).GetDeletionTimestamp() != nil, nil })
	deleted := s.live(tracked).GetDeletionTimestamp().Time

	soon, late := "the Job controller (kube-controller-manager) will remove its finalizer within seconds", "the Job controller (kube-controller-manager) should have removed its finalizer by now"
	s.gc("why", "pod/import-x", "-n", ns).exits(t, 0).shows(t, soon).lacks(t, "delete it again", "finalizer remove")
	s.gc("collect", "-n", ns, "--dry-run").exits(t, 0).shows(t, soon)

	time.Sleep(time.Until(deleted.Add(62 * time.Second)))
	s.gc("why", "pod/import-x", "-n", ns).exits(t, 0).shows(t, late, "kubectl gc doctor", "finalizer remove pod/import-x "+tracking).lacks(t, "delete it again")
	s.gc("why", "job/import", "-n", ns).exits(t, 0).shows(t, "is blocked by Pod/import-x", late).lacks(t, "within seconds")
	s.gc("collect", "-n", ns, "--dry-run").exits(t, 0).shows(t, late, "1 remains blocked")
	s.gc("audit", "-n", ns, "--stuck-after", "1m").exits(t, 0).shows(t, late)
	s.gc("stuck", "-n", ns).exits(t, 0).shows(t, late)
	if s.gone(tracked) || s.gone(owner) {
		t.Error("something completed the deletion after all")
	}
	s.gc("finalizer", "remove", "pod/import-x", tracking, "-n", ns, "--yes").exits(t, 0)
	s.awaitGone(tracked, owner)
}

// TestTekton1784ACompletedPodHoldsItsClaim compares what why says about a claim with what releases it.
func TestTekton1784ACompletedPodHoldsItsClaim(t *testing.T) {
	s := withRealCollector.newScene(t)
	s.startRealCollector()
	ns := s.namespace("workspace")
	claim := s.create(claimOf(ns, "data"))
	completed := s.create(pod(ns, "completed", onNode("n1"), mounting("data"), withField("status", map[string]any{"phase": "Succeeded"})))
	s.create(pod(ns, "other", onNode("n1")))
	s.await("the protection of the claim", func(context.Context) (bool, error) { return len(s.live(claim).GetFinalizers()) > 0, nil })
	s.remove(claim, metav1.DeletePropagationBackground)

	s.gc("why", "pvc/data", "-n", ns).exits(t, 0).shows(t, "because Pod/completed uses it.", "kubectl gc delete pod/completed -n "+ns+" --dry-run").lacks(t, "Pod/other", "repair")
	if s.gone(claim) {
		t.Error("the claim is gone, although a Pod uses it")
	}
	s.gc("delete", "pod/completed", "-n", ns, "--yes").exits(t, 0)
	s.awaitGone(completed, claim)
}
