package e2e

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The deletions are held by a kubelet that does not exist, by a finalizer of another controller,
// and by a dependent that is held by such a finalizer.
func TestAuditTerminatingNamesWhatHoldsDeletions(t *testing.T) {
	s := sceneWithCollector(t)
	ns := s.namespace("terminating")
	shortGrace := func(o object) { o.Object["spec"].(map[string]any)["terminationGracePeriodSeconds"] = int64(1) }
	lost := s.create(pod(ns, "lost", onNode("e2e-lost-node"), shortGrace))
	held := s.create(configMap(ns, "held", heldBy("example.com/hold")))
	owner := s.create(configMap(ns, "owner"))
	child := s.create(configMap(ns, "child", ownedBy(referenceTo(owner, blocking)), heldBy("karpenter.sh/termination")))
	s.create(configMap(ns, "stays"))
	s.gc("audit", "--terminating", "-n", ns).exits(t, 0).shows(t, "Nothing is being deleted. Complete scan")
	s.remove(lost, metav1.DeletePropagationBackground)
	s.remove(held, metav1.DeletePropagationBackground)
	s.remove(owner, metav1.DeletePropagationForeground)

	var got terminatingReport
	s.await("the grace period to end and the collector to delete the dependent", func(context.Context) (bool, error) {
		got = decode[terminatingReport](t, s.gc("audit", "--terminating", "-n", ns, "-o", "json").exits(t, 0))
		overdue := slices.ContainsFunc(got.Objects, func(o terminatingObject) bool { return o.Holder == "kubelet" })
		return overdue && s.live(child).GetDeletionTimestamp() != nil && len(got.Objects) == 4, nil
	})
	if got.APIVersion != "kubectl-gc.dev/v1alpha1" || got.Kind != "TerminatingReport" || !got.Complete || len(got.Gaps) > 0 {
		t.Errorf("no valid report: %+v", got)
	}
	want := map[string]terminatingObject{
		"lost":  {Holder: "kubelet", Because: Because{Reason: "PodOverdue"}},
		"held":  {Holder: "finalizer", Because: Because{Reason: "HeldByFinalizers"}, Finalizers: []holdingFinalizer{{Name: "example.com/hold", Controller: "the controller behind example.com"}}},
		"child": {Holder: "finalizer", Because: Because{Reason: "HeldByFinalizers"}, Finalizers: []holdingFinalizer{{Name: "karpenter.sh/termination", Controller: "Karpenter"}}},
		"owner": {Holder: "dependents", Because: Because{Reason: "BlockedByDependents"}, Finalizers: []holdingFinalizer{{Name: "karpenter.sh/termination", Controller: "Karpenter"}}},
	}
	for i, o := range got.Objects {
		w := want[o.Object.Name]
		sameFinalizers := slices.EqualFunc(o.Finalizers, w.Finalizers, func(a, b holdingFinalizer) bool { return a.Name == b.Name && a.Controller == b.Controller })
		if o.Holder != w.Holder || o.Reason != w.Reason || !sameFinalizers {
			t.Errorf("%s: got %+v, want %+v", o.Object, o, w)
		}
		if o.Object.Name == "owner" && (o.RootCause == nil || o.RootCause.Name != "child") {
			t.Errorf("the root cause is %v", o.RootCause)
		}
		if i > 0 && o.Requested.Before(got.Objects[i-1].Requested) {
			t.Errorf("%s is not in the order of the requests", o.Object)
		}
	}
	for _, o := range got.Objects {
		for _, f := range o.Finalizers {
			if f.Traces == nil || len(f.Traces.Groups)+len(f.Traces.Webhooks)+len(f.Traces.Unread) > 0 {
				t.Errorf("%s: the traces of a controller that does not exist are %+v", f.Name, f.Traces)
			}
		}
	}
	s.gc("why", "configmap/held", "-n", ns).exits(t, 0).shows(t,
		"No API group, CustomResourceDefinition, APIService or webhook configuration of example.com exists in this cluster. Its controller may have been uninstalled.",
		"repair configmap/held -n "+ns+" --finalizer example.com/hold --dry-run")
	const waits = "it waits for the kubelet of Node e2e-lost-node, which does not exist"
	s.gc("why", "pod/lost", "-n", ns).exits(t, 0).shows(t, "has been past the end of its grace period for ", waits)
	s.gc("audit", "--terminating", "-n", ns, "-o", "wide").exits(t, 0).shows(t, waits)
	saved := filepath.Join(t.TempDir(), "cluster.json")
	s.gc("snapshot", "-o", saved).exits(t, 0)
	s.gc("audit", "--terminating", "-n", ns, "--from", saved, "-o", "wide").exits(t, 0).shows(t, waits)
	table := s.gc("audit", "--terminating", "-n", ns).exits(t, 0).shows(t, "example.com/hold: No API group, ",
		"AGE", "NAMESPACE", "OBJECT", "HELD BY", "CONTROLLER",
		"kubelet of Node e2e-lost-node, which does not exist", "dependents: ConfigMap/child: karpenter.sh/termination", "4 objects are being deleted, the oldest for ")
	t.Log("\n" + table.Stdout)
	s.gc("audit", "-n", ns, "-o", "prometheus", "--fail-on=never").exits(t, 0).shows(t,
		`kubectl_gc_terminating_objects{kind="Pod",holder="kubelet"} 1`,
		`kubectl_gc_terminating_objects{kind="ConfigMap",holder="example.com/hold"} 1`,
		`kubectl_gc_terminating_objects{kind="ConfigMap",holder="dependents"} 1`,
		`kubectl_gc_terminating_oldest_seconds{kind="Pod",holder="kubelet"} `)
}
