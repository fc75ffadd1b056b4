package e2e

import (
	"context"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/scan"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// nextSync is longer than the namespace controller waits before it looks at a namespace with
// remaining contents again.
const nextSync = 12 * time.Second

// deleteNamespace deletes a namespace in which controllers have created what they always
// create, and compares the state after a further sync of the namespace controller with the
// preview, which it returns.
func (s *scene) deleteNamespace(ns string) *deletion {
	s.Helper()
	space := s.live(newObject("v1", "Namespace", "", ns))
	d := &deletion{
		name: ns, targets: []object{space}, policy: []metav1.DeletionPropagation{metav1.DeletePropagationBackground},
		namespaces: []string{ns}, also: []object{space}, counts: map[string]int{"ServiceAccount": 1},
	}
	awaitControllers(s, []*deletion{d})
	d.preview(s.scan(scan.Scope{Running: true}))
	d.begin(s)
	awaitPredicted(s, s.namespace("sentinels"), []*deletion{d})
	time.Sleep(nextSync)
	now := stateOf(s.scan(scan.Scope{}).seen.Objects, d.existing)
	for _, uid := range d.wrong(now) {
		s.Error(d.history(uid, now))
	}
	return d
}

// requireOutcome requires that the plan shows an object in that state.
func (d *deletion) requireOutcome(s *scene, o object, want plan.State, when plan.When) {
	s.Helper()
	for _, outcome := range d.plan.Outcomes {
		if outcome.Object.UID == o.GetUID() {
			if outcome.State != want || outcome.When != when {
				s.Errorf("%s is to be %s %s, not %s %s", o.GetName(), outcome.State, outcome.When, want, when)
			}
			return
		}
	}
	s.Errorf("the plan does not show %s", o.GetName())
}

func TestD1TheRealNamespaceControllerDeletesPodsFirst(t *testing.T) {
	s := sceneWithCollector(t)
	ns := s.namespace("pods-first")
	held, config := s.create(pod(ns, "held", heldBy(hold))), s.create(configMap(ns, "config"))
	s.create(pod(ns, "free"))
	d := s.deleteNamespace(ns)
	if s.serverBefore("1.33") {
		d.requireOutcome(s, config, plan.Deleted, plan.Now)
	} else {
		d.requireOutcome(s, config, plan.Deleted, plan.Later)
		if s.gone(config) || s.live(config).GetDeletionTimestamp() != nil {
			t.Error("the ConfigMap is deleted while a Pod is left")
		}
	}
	_, err := s.client(held).Patch(s.Context(), "held", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
	s.must(err)
	s.await("the namespace to go after the Pod", func(context.Context) (bool, error) { return s.gone(d.targets[0]) && s.gone(config), nil })
}

func TestD3APodOnALostNodeKeepsTheRealNamespace(t *testing.T) {
	s := sceneWithCollector(t)
	ns := s.namespace("lost-node")
	s.create(newObject("v1", "Node", "", "node-"+ns)) // without it, the Pods of the node are deleted after a while
	lost := s.create(pod(ns, "lost", onNode("node-"+ns), func(o object) { o.Object["spec"].(map[string]any)["terminationGracePeriodSeconds"] = int64(1) }))
	config := s.create(configMap(ns, "config"))
	s.must(s.client(lost).Delete(s.Context(), "lost", metav1.DeleteOptions{}))
	s.await("the end of the grace period", func(context.Context) (bool, error) {
		end := s.live(lost).GetDeletionTimestamp()
		return end != nil && time.Since(end.Time) > 2*time.Second, nil
	})
	d := s.deleteNamespace(ns)
	if s.serverBefore("1.33") {
		d.requireOutcome(s, config, plan.Deleted, plan.Now)
	} else {
		d.requireOutcome(s, config, plan.Deleted, plan.Later)
	}
	d.requireOutcome(s, d.targets[0], plan.Terminating, plan.Now)
	s.gc("why", "namespace/"+ns).exits(t, 0).shows(t, "Pod/lost", "should have stopped")
	force := []string{"delete", "pod/lost", "-n", ns, "--force"}
	if !s.serverBefore("1.33") {
		s.gc(append(force, "--dry-run", "-o", "wide")...).exits(t, 0).shows(t, "ConfigMap/config", "its namespace is being deleted, and no Pod is left in it")
	}
	s.gc(append(force, "--yes", "--no-backup")...).shows(t, "nothing left to do") // the namespace controller may need longer
	s.await("the namespace to go after the Pod", func(context.Context) (bool, error) { return s.gone(d.targets[0]), nil })
}

func TestD2AnUnavailableAPIKeepsTheRealNamespace(t *testing.T) {
	const group = "d2.example.com"
	s := sceneWithCollector(t)
	ns := s.namespace("undiscoverable")
	space, config := s.live(newObject("v1", "Namespace", "", ns)), s.create(configMap(ns, "config"))
	s.brokenAPIService(group)
	s.gc("delete", "namespace/"+ns, "--yes", "--accept-gap", group).exits(t, 1).
		shows(t, "blocked", "stays while the API server cannot discover API group "+group+" (unavailable), even if it is empty")
	s.await("the contents to go", func(context.Context) (bool, error) { return s.gone(config), nil })
	time.Sleep(nextSync)
	if s.gone(space) {
		t.Fatal("the namespace is gone")
	}
	found, causes, _ := stuckNamespace{s, ns, space}.finding(s.tool())
	if found.brief() != "error stuck-namespace: Namespace/"+ns+": stuck" || len(causes) != 1 || causes[0].Reason != "DiscoveryFails" {
		t.Errorf("%s, %+v", found.brief(), causes)
	}
	r := s.gc("why", "namespace/"+ns).exits(t, 0).shows(t, "kubectl describe apiservice/v1."+group, "stays while the namespace controller cannot discover API group "+group+" (unavailable)")
	if strings.Contains(r.Stdout, "should be gone") {
		t.Errorf("why says: %s", r.Stdout)
	}
	s.must(s.client(newObject("apiregistration.k8s.io/v1", "APIService", "", "v1."+group)).Delete(s.Context(), "v1."+group, metav1.DeleteOptions{}))
	s.await("the namespace to go", func(context.Context) (bool, error) { return s.gone(space), nil })
}

// The collector does not watch Events, but it polls one that a watched object names as its owner.
func TestD6TheRealCollectorDeletesAnEventWithItsOwner(t *testing.T) {
	s := sceneWithCollector(t)
	ns := s.namespace("event")
	owner := s.create(secret(ns, "owner"))
	between := s.create(event(ns, "between", ownedBy(referenceTo(owner))))
	below := s.create(configMap(ns, "below", ownedBy(reference("events.k8s.io/v1", "Event", "between", between.GetUID())))) // the API server accepts no v1 Event as an owner
	d := &deletion{name: ns, targets: []object{owner}, policy: []metav1.DeletionPropagation{metav1.DeletePropagationBackground}, namespaces: []string{ns}}
	d.preview(s.scan(scan.Scope{}))
	d.begin(s)
	for _, o := range d.targets {
		d.requireOutcome(s, o, plan.Deleted, plan.Now)
	}
	d.requireOutcome(s, between, plan.Deleted, plan.Now)
	d.requireOutcome(s, below, plan.Deleted, plan.Now)
	s.await("the Event and its dependent to go", func(context.Context) (bool, error) { return s.gone(between) && s.gone(below), nil })
}
