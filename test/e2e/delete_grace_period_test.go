package e2e

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/write"
	subject "github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
)

// A Pod on a node that does not exist has no kubelet that confirms that it has stopped.
func TestDeleteForcesAPodWithoutAKubelet(t *testing.T) {
	s := sceneWithCollector(t)
	ns := s.namespace("force")
	const (
		waits = "requested; its dependents follow (background); must stop first (grace period)"
		skips = "removed without waiting for its kubelet, so its containers may keep running"
	)
	orphanOf := func(o object) object {
		return s.create(configMap(ns, o.GetName()+"-below", ownedBy(referenceTo(o))))
	}
	remaining := func(o object) int64 {
		t.Helper()
		left := s.live(o)
		if left.GetDeletionTimestamp() == nil {
			t.Fatalf("%s is not being deleted", o.GetName())
		}
		return *left.GetDeletionGracePeriodSeconds()
	}

	t.Run("without --force it stays, as previewed, until --force removes it", func(t *testing.T) {
		s := s.forSubtest(t)
		lost := s.create(pod(ns, "lost", onNode("none")))
		below := orphanOf(lost)
		s.gc("delete", "pod/lost", "-n", ns, "--dry-run").exits(t, 0).shows(t, waits)
		s.gc("delete", "pod/lost", "-n", ns, "--yes", "--wait=false").exits(t, 0)
		if seconds := remaining(lost); seconds != 30 {
			t.Errorf("its grace period is %d", seconds)
		}
		s.gc("delete", "pod/lost", "-n", ns, "--dry-run").exits(t, 0).shows(t, "has been stopping\n", "delete 1 (1 later)")
		forced := s.gc("delete", "pod/lost", "-n", ns, "--force", "--dry-run").exits(t, 0).
			shows(t, "requested, although it is already being deleted; its dependents follow (background); "+skips).
			warns(t, "warning: --force does not wait")
		s.gc("delete", "pod/lost", "-n", ns, "--force", "--dry-run=server").exits(t, 0)
		remaining(lost)
		s.gc("delete", "pod/lost", "-n", ns, "--force", "--confirm", s.previewDigest(forced)).exits(t, 0).shows(t, "a scan afterwards found nothing left to do.")
		s.requireGone(lost, below)
	})
	t.Run("--force --grace-period=0 removes it at once", func(t *testing.T) {
		s := s.forSubtest(t)
		lost := s.create(pod(ns, "at-once", onNode("none")))
		below := orphanOf(lost)
		s.gc("delete", "pod/at-once", "-n", ns, "--force", "--grace-period=0", "--dry-run").exits(t, 0).shows(t, skips)
		var document planned
		s.must(json.Unmarshal([]byte(s.gc("delete", "pod/at-once", "-n", ns, "--force", "--dry-run", "-o", "json").exits(t, 0).Stdout), &document))
		if of := document.Steps[0]; of.GracePeriod == nil || *of.GracePeriod != 0 || of.WaitsForKubelet || of.Parameters["graceSeconds"] != 0.0 {
			t.Errorf("the requested step is %+v", of)
		}
		if of := document.Steps[1]; of.GracePeriod != nil {
			t.Errorf("the step of the dependent is %+v", of)
		}
		s.gc("delete", "pod/at-once", "-n", ns, "--force", "--grace-period=0", "--yes").exits(t, 0)
		s.requireGone(lost, below)
	})
	t.Run("a finalizer keeps it all the same", func(t *testing.T) {
		s := s.forSubtest(t)
		held := s.create(pod(ns, "held", onNode("none"), heldBy("example.com/hold")))
		s.gc("delete", "pod/held", "-n", ns, "--force", "--dry-run").exits(t, 0).shows(t, skips+"; then it is blocked until a controller removes example.com/hold")
		s.gc("delete", "pod/held", "-n", ns, "--force", "--yes", "--wait=false").exits(t, 0)
		if seconds := remaining(held); seconds != 0 {
			t.Errorf("its grace period is %d", seconds)
		}
	})
	t.Run("--now gives it a second, and --grace-period as many as it says", func(t *testing.T) {
		s := s.forSubtest(t)
		for flag, want := range map[string]int64{"--grace-period=90": 90, "--now": 1} {
			o := s.create(pod(ns, fmt.Sprintf("stops-in-%d", want), onNode("none")))
			s.gc("delete", "pod/"+o.GetName(), "-n", ns, flag, "--yes", "--wait=false").exits(t, 0)
			if seconds := remaining(o); seconds != want {
				t.Errorf("%s gives it %d seconds", flag, seconds)
			}
		}
	})
	t.Run("the Pods of a deleted owner keep their own grace period", func(t *testing.T) {
		s := s.forSubtest(t)
		owner := s.create(configMap(ns, "owner"))
		below := s.create(pod(ns, "of-owner", onNode("none"), ownedBy(referenceTo(owner))))
		s.gc("delete", "configmap/owner", "-n", ns, "--force", "--dry-run").exits(t, 0).
			shows(t, "must stop first (grace period)", "--force changes nothing here: it applies only to requested Pods that a kubelet has to stop.")
		s.gc("delete", "configmap/owner", "-n", ns, "--force", "--yes", "--timeout=5s").exits(t, 1)
		if seconds := remaining(below); seconds != 30 {
			t.Errorf("its grace period is %d", seconds)
		}
	})
}

func TestDeleteClientSideForcesOnlyRequestedPods(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("force-here")
	lost := s.create(pod(ns, "lost", onNode("none")))
	below := s.create(configMap(ns, "below", ownedBy(referenceTo(lost))))
	s.gc("delete", "pod/lost", "-n", ns, "--force", "--client-side", "--yes").exits(t, 0).shows(t, "deleted 2")
	s.requireGone(lost, below)

	owner := s.create(configMap(ns, "owner"))
	kept := s.create(pod(ns, "kept", onNode("none"), ownedBy(referenceTo(owner))))
	s.gc("delete", "configmap/owner", "-n", ns, "--force", "--client-side", "--yes", "--timeout=3s").exits(t, 1)
	s.requireGone(owner)
	if left := s.live(kept); left.GetDeletionTimestamp() == nil || *left.GetDeletionGracePeriodSeconds() != 30 {
		t.Errorf("the Pod of the deleted owner has a grace period of %v", left.GetDeletionGracePeriodSeconds())
	}
}

// docs/gc-semantics.md#graceful-pods
func TestDeleteWithAGracePeriodLeavesThePredictedState(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("grace")
	const background, foreground = metav1.DeletePropagationBackground, metav1.DeletePropagationForeground
	describe := func(o *subject.Object) string {
		if o == nil {
			return "gone"
		}
		return fmt.Sprintf("terminating in %ds, %q", *o.GraceSeconds, o.Finalizers)
	}
	cases := []struct {
		name    string
		before  int64 // grace period of an earlier deletion; -1: there was none
		seconds int64
		more    []func(object)
	}{
		{"a Pod that runs", -1, 5, []func(object){onNode("none")}},
		{"a Pod that runs, without time", -1, 0, []func(object){onNode("none")}},
		{"a held Pod, without time", -1, 0, []func(object){onNode("none"), heldBy("example.com/hold")}},
		{"a Pod without a node", -1, 5, nil},
		{"a stopping Pod, less time", 60, 20, []func(object){onNode("none")}},
		{"a stopping Pod, as much time", 60, 60, []func(object){onNode("none")}},
		{"a stopping Pod, more time", 60, 90, []func(object){onNode("none")}},
		{"a stopping Pod, without time", 60, 0, []func(object){onNode("none")}},
		{"a held stopping Pod, without time", 60, 0, []func(object){onNode("none"), heldBy("example.com/hold")}},
	}
	policies := []metav1.DeletionPropagation{background, foreground}
	objects := make([]object, 0, len(cases)*len(policies))
	for range policies {
		for _, c := range cases {
			o := s.create(pod(ns, fmt.Sprintf("p%d", len(objects)), c.more...))
			if c.before >= 0 {
				policy := background
				s.must(s.client(o).Delete(t.Context(), o.GetName(), metav1.DeleteOptions{GracePeriodSeconds: &c.before, PropagationPolicy: &policy}))
			}
			objects = append(objects, o)
		}
	}
	scanned := s.scan(inNamespace(ns))
	for p, policy := range policies {
		for i, test := range cases {
			t.Run(fmt.Sprintf("%s, %s", test.name, policy), func(t *testing.T) {
				s := s.forSubtest(t)
				seen := *scanned.find(objects[p*len(cases)+i])
				seen.Running = len(test.more) > 0 && !seen.Terminating()
				begun := time.Now()
				want := simulate.StateAfterDelete(&seen, policy, &test.seconds, begun)
				got, err := write.New(scanned.cluster, scanned.seen, false).Delete(t.Context(), &seen, policy, &test.seconds)
				s.must(err)
				if describe(got) != describe(want) {
					t.Errorf("left %s, predicted %s", describe(got), describe(want))
				}
				if got == nil || want == nil {
					return
				}
				took := time.Since(begun)
				// The server stores whole seconds.
				if later := got.Deleted.Sub(*want.Deleted); later < -time.Second || later > took+time.Second {
					t.Errorf("the deletion timestamp is %s, predicted %s, by a request of %s", got.Deleted, want.Deleted, took)
				}
			})
		}
	}
}
