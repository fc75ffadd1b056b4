package e2e

import (
	"context"
	"encoding/json"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// inFlight is how many objects a deleted owner leaves to the collector.
const inFlight = 100

// TestAuditSettleLeavesOutWhatTheCollectorProcesses holds the first request for an object again
// until the real collector has processed all of them.
func TestAuditSettleLeavesOutWhatTheCollectorProcesses(t *testing.T) {
	s := withRealCollector.newScene(t)
	ns := s.namespace("settle")
	objects := s.createGarbage(ns, inFlight)

	readAgain, processed := make(chan struct{}), make(chan struct{})
	var first sync.Once
	f := s.throughProxy(func(through http.Handler) []fault {
		orphans := func(r *http.Request) bool { return strings.Contains(r.URL.Path, "/configmaps/orphan-") }
		return []fault{{orphans, func(w http.ResponseWriter, r *http.Request) {
			first.Do(func() { close(readAgain) })
			<-processed
			through.ServeHTTP(w, r)
		}}}
	})
	p := f.start("audit", "-n", ns, "--settle", "1ms", "-o", "json")
	<-readAgain
	s.startRealCollector()
	s.await("the collector to delete the garbage", func(context.Context) (bool, error) {
		for _, o := range objects {
			if !s.gone(o) {
				return false, nil
			}
		}
		return true, nil
	})
	close(processed)

	got := decode[report](t, p.wait().exits(t, 0))
	if diff := cmp.Diff(&settled{After: "1ms", InProgress: inFlight}, got.Settled); diff != "" || len(got.Findings) > 0 {
		t.Errorf("%d findings, and read again:\n%s", len(got.Findings), diff)
	}
}

// The deletions are held by a kubelet that does not exist, by a finalizer of another controller,
// and by a dependent that is held by such a finalizer.
func TestStuckNamesWhatHoldsDeletions(t *testing.T) {
	s := sceneWithCollector(t)
	ns := s.namespace("terminating")
	shortGrace := func(o object) { o.Object["spec"].(map[string]any)["terminationGracePeriodSeconds"] = int64(1) }
	lost := s.create(pod(ns, "lost", onNode("e2e-lost-node"), shortGrace))
	held := s.create(configMap(ns, "held", heldBy("absent.test/hold")))
	owner := s.create(configMap(ns, "owner"))
	child := s.create(configMap(ns, "child", ownedBy(referenceTo(owner, blocking)), heldBy("karpenter.sh/termination")))
	s.create(configMap(ns, "stays"))
	s.gc("stuck", "-n", ns).exits(t, 0).shows(t, "Nothing is being deleted. Complete scan")
	s.remove(lost, metav1.DeletePropagationBackground)
	s.remove(held, metav1.DeletePropagationBackground)
	s.remove(owner, metav1.DeletePropagationForeground)

	var got terminatingReport
	s.await("the grace period to end and the collector to delete the dependent", func(context.Context) (bool, error) {
		got = decode[terminatingReport](t, s.gc("stuck", "-n", ns, "-o", "json").exits(t, 0))
		overdue := slices.ContainsFunc(got.Objects, func(o terminatingObject) bool { return o.Holder == "kubelet" })
		return overdue && s.live(child).GetDeletionTimestamp() != nil && len(got.Objects) == 4, nil
	})
	if got.APIVersion != "kubectl-gc.dev/v1alpha1" || got.Kind != "TerminatingReport" || !got.Complete || len(got.Gaps) > 0 {
		t.Errorf("no valid report: %+v", got)
	}
	want := map[string]terminatingObject{
		"lost":  {Holder: "kubelet", Because: Because{Reason: "PodOverdue"}},
		"held":  {Holder: "finalizer", Because: Because{Reason: "HeldByFinalizers"}, Finalizers: []holdingFinalizer{{Name: "absent.test/hold", Controller: "the controller behind absent.test"}}},
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
			if f.Traces == nil || len(f.Traces.Found)+len(f.Traces.Active)+len(f.Traces.Unread) > 0 {
				t.Errorf("%s: the traces of a controller that does not exist are %+v", f.Name, f.Traces)
			}
		}
	}
	s.gc("why", "configmap/held", "-n", ns).exits(t, 0).shows(t,
		"Nothing of absent.test is installed (no type, APIService, webhook or Deployment; no write, Event or Lease in the last hour): its controller may be gone.",
		"finalizer remove configmap/held absent.test/hold -n "+ns+" --dry-run")
	const waits = "it waits for the kubelet of Node e2e-lost-node, which does not exist"
	s.gc("why", "pod/lost", "-n", ns).exits(t, 0).shows(t, "has been past its grace period for ", waits)
	s.gc("stuck", "-n", ns, "-o", "wide").exits(t, 0).shows(t, waits)
	saved := filepath.Join(t.TempDir(), "cluster.json")
	s.gc("snapshot", "-o", saved).exits(t, 0)
	s.gc("stuck", "-n", ns, "--from", saved, "-o", "wide").exits(t, 0).shows(t, waits)
	table := s.gc("stuck", "-n", ns).exits(t, 0).shows(t, "Nothing of absent.test is installed ",
		"AGE", "NAMESPACE", "OBJECT", "HELD BY", "CONTROLLER",
		"kubelet of Node e2e-lost-node, which does not exist", "ConfigMap/child (dependent, held by karpenter.sh/termination)", "4 objects are being deleted, the oldest for ")
	t.Log("\n" + table.Stdout)
	s.gc("audit", "-n", ns, "-o", "prometheus", "--fail-on=never").exits(t, 0).shows(t,
		`kubectl_gc_terminating_objects{kind="Pod",holder="kubelet"} 1`,
		`kubectl_gc_terminating_objects{kind="ConfigMap",holder="absent.test/hold"} 1`,
		`kubectl_gc_terminating_objects{kind="ConfigMap",holder="dependents"} 1`,
		`kubectl_gc_terminating_oldest_seconds{kind="Pod",holder="kubelet"} `)
}

func TestRepairUpdatesVersionsBeforeTheyAreRemoved(t *testing.T) {
	const group = "moved.removal.example.com"
	s := newScene(t)
	ns := s.namespace("moved")
	crd := definition(group, "Engine", "Namespaced", version("v1", true), version("v1beta1", true))
	s.define(crd)
	engine := s.create(newObject(group+"/v1", "Engine", ns, "engine"))
	s.create(configMap(ns, "owned", ownedBy(reference(group+"/v1beta1", "Engine", "engine", engine.GetUID(), controlling))))

	s.gc("audit", "-n", ns, "--rule", "outdated-owner-version").exits(t, 0).shows(t, "ConfigMap/owned", "1 info in 2 objects")
	s.gc("repair", "-n", ns, "--yes").exits(t, 0)
	s.gc("repair", "-n", ns, "--fix", "update-version", "--yes").exits(t, 0).
		shows(t, group+"/v1beta1 is not the preferred version: the reference to Engine/engine becomes "+group+"/v1")
	want := []metav1.OwnerReference{referenceTo(engine, controlling)}
	if diff := cmp.Diff(want, s.live(configMap(ns, "owned")).GetOwnerReferences()); diff != "" {
		t.Errorf("the reference (-want +got)\n%s", diff)
	}
	s.stopServing(crd, "v1beta1")
	s.gc("audit", "-n", ns).exits(t, 0)
}

// stopServing removes a version of a CRD from those that the API server serves.
func (s *scene) stopServing(crd object, version string) {
	s.Helper()
	live := s.live(crd)
	for _, v := range live.Object["spec"].(map[string]any)["versions"].([]any) {
		if v := v.(map[string]any); v["name"] == version {
			v["served"] = false
		}
	}
	spec, err := json.Marshal(map[string]any{"spec": map[string]any{"versions": live.Object["spec"].(map[string]any)["versions"]}})
	s.must(err)
	s.patch(crd, string(spec))
	served := live.Object["spec"].(map[string]any)["group"].(string) + "/" + version
	s.await("the API server to stop serving "+served, func(context.Context) (bool, error) { return !s.discovered(served, "engines"), nil })
}
