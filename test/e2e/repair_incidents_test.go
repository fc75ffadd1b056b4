package e2e

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// collectUntilGone runs the real collector until it has deleted doomed, which no repair could
// keep, and has processed everything else.
func (s *scene) collectUntilGone(namespace string, doomed object) {
	s.Helper()
	s.switchCollector(testcluster.On)
	s.Cleanup(func() { s.switchCollector(testcluster.Absent) })
	s.await("the collector to delete it", func(context.Context) (bool, error) { return s.gone(doomed), nil })
	s.awaitSentinel(namespace)
}

// requireReferences requires that an object exists and has exactly these references.
func (s *scene) requireReferences(o object, want ...metav1.OwnerReference) {
	s.Helper()
	live, err := s.client(o).Get(s.Context(), o.GetName(), metav1.GetOptions{})
	switch {
	case err != nil:
		s.Errorf("%s/%s: %v", o.GetKind(), o.GetName(), err)
	case live.GetUID() != o.GetUID():
		s.Errorf("%s/%s was replaced", o.GetKind(), o.GetName())
	default:
		if diff := cmp.Diff(want, live.GetOwnerReferences()); diff != "" && len(want)+len(live.GetOwnerReferences()) > 0 {
			s.Errorf("references of %s/%s (-want +got):\n%s", o.GetKind(), o.GetName(), diff)
		}
	}
}

// withFormerUID returns a reference as it was before its owner was created again with another
// UID.
func withFormerUID(r metav1.OwnerReference) metav1.OwnerReference {
	r.UID = "former-" + types.UID(r.Name)
	return r
}

// A restored backup had references with the UIDs of the former owners, and the collector deleted
// all objects at once.
func TestRepairIncident_velero_10556(t *testing.T) {
	s := withRealCollector.newScene(t)
	s.defineTestKinds()
	ns := s.namespace("velero")
	labels := map[string]any{"app": "web", "pod-template-hash": "abc"}
	deployment := s.create(workload("Deployment", ns, "web"))
	toDeployment := referenceTo(deployment, controlling, blocking)
	replicaSet := s.create(workload("ReplicaSet", ns, "web-abc", ownedBy(withFormerUID(toDeployment)), labelled("app", "web"), func(o object) {
		spec := o.Object["spec"].(map[string]any)
		spec["selector"] = map[string]any{"matchLabels": labels}
		spec["template"] = template("web")
		spec["template"].(map[string]any)["metadata"] = map[string]any{"labels": labels}
	}))
	toReplicaSet := referenceTo(replicaSet, controlling, blocking)
	hashed := func(o object) { o.SetLabels(map[string]string{"app": "web", "pod-template-hash": "abc"}) }
	pods := []object{
		s.create(pod(ns, "web-abc-1", ownedBy(withFormerUID(toReplicaSet)), hashed)),
		s.create(pod(ns, "web-abc-2", ownedBy(withFormerUID(toReplicaSet)), hashed)),
	}
	custom := s.create(widget(ns, "monitor", ownedBy(withFormerUID(referenceTo(deployment)))))
	config := s.create(configMap(ns, "config", ownedBy(withFormerUID(referenceTo(deployment)), withFormerUID(referenceTo(custom, blocking)))))
	password := s.create(secret(ns, "password", ownedBy(withFormerUID(referenceTo(custom)))))
	doomed := s.create(configMap(ns, "unmended", ownedBy(missingOwner())))

	s.gc("repair", "-n", ns, "--rule", "replaced-owner", "--dry-run").exits(t, 0).
		shows(t, "relink", "Secret/password", "Widget/monitor exists, with another UID: the reference gets that UID (otherwise GC would delete it)", "relink 6. Complete scan.")
	backups := t.TempDir()
	s.gc("repair", "-n", ns, "--rule", "replaced-owner", "--yes", "--backup-dir", backups).exits(t, 0).
		shows(t, "relinked 6 in ", "a scan afterwards found nothing left to do", "Undo: kubectl gc restore "+backups)
	s.collectUntilGone(ns, doomed)

	s.requireReferences(deployment)
	s.requireReferences(replicaSet, toDeployment)
	for _, p := range pods {
		s.requireReferences(p, toReplicaSet)
	}
	s.requireReferences(custom, referenceTo(deployment))
	s.requireReferences(config, referenceTo(deployment), referenceTo(custom, blocking))
	s.requireReferences(password, referenceTo(custom))
	s.gc("audit", "-n", ns, "--fail-on=warning").exits(t, 0)
}

// A controller created a StatefulSet in monitoring whose owner is in kube-system: the incident
// that this project began with.
func TestRepairIncident_redis_exporter(t *testing.T) {
	s := withRealCollector.newScene(t)
	s.defineTestKinds()
	home, monitoring := s.namespace("kube"), s.namespace("monitoring")
	redis := s.create(widget(home, "redis-0826"))
	valid := s.create(configMap(home, "redis-config", ownedBy(referenceTo(redis))))
	exporter := s.create(workload("StatefulSet", monitoring, "redis-exporter", ownedBy(referenceTo(redis, controlling, blocking)), func(o object) {
		o.Object["spec"].(map[string]any)["replicas"] = int64(0)
	}))
	doomed := s.create(configMap(monitoring, "unmended", ownedBy(missingOwner())))
	below := s.create(configMap(monitoring, "dashboards", ownedBy(referenceTo(exporter))))

	s.gc("repair", "statefulset/redis-exporter", "-n", monitoring, "--yes", "--backup-dir", t.TempDir()).exits(t, 0).
		shows(t, "unlink", "Widget/redis-0826 is in another namespace: "+home+"; the object stays and is never collected (otherwise GC would delete it)", "unlinked 1 in ")
	s.collectUntilGone(monitoring, doomed)

	s.requireReferences(exporter)
	s.requireReferences(below, referenceTo(exporter))
	s.requireReferences(valid, referenceTo(redis))
}
