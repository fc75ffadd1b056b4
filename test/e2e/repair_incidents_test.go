package e2e

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// collected lets the real collector have a go at a namespace, until it has deleted
// what nothing could save.
func (s *scene) collected(namespace string, doomed object) {
	s.Helper()
	s.switched(testcluster.On)
	s.Cleanup(func() { s.switched(testcluster.Absent) })
	s.await("the collector to come by", func(context.Context) (bool, error) { return s.gone(doomed), nil })
	s.afterASentinel(namespace)
}

// refers demands that an object is there and has these references.
func (s *scene) refers(o object, want ...metav1.OwnerReference) {
	s.Helper()
	live, err := s.at(o).Get(s.Context(), o.GetName(), metav1.GetOptions{})
	switch {
	case err != nil:
		s.Errorf("%s/%s: %v", o.GetKind(), o.GetName(), err)
	case live.GetUID() != o.GetUID():
		s.Errorf("%s/%s is another one", o.GetKind(), o.GetName())
	default:
		if diff := cmp.Diff(want, live.GetOwnerReferences()); diff != "" && len(want)+len(live.GetOwnerReferences()) > 0 {
			s.Errorf("references of %s/%s (-want +got):\n%s", o.GetKind(), o.GetName(), diff)
		}
	}
}

// former is a reference as it was before its owner got another UID.
func former(r metav1.OwnerReference) metav1.OwnerReference {
	r.UID = "former-" + types.UID(r.Name)
	return r
}

// A backup restored everything with the UIDs that the owners had then, and the
// collector deleted it at once.
func TestVelero10556RestoredObjectsAreRelinkedAndNothingIsLost(t *testing.T) {
	s := opposite(t)
	s.custom()
	ns := s.namespace("velero")
	labels := map[string]any{"app": "web", "pod-template-hash": "abc"}
	deployment := s.create(workload("Deployment", ns, "web"))
	toDeployment := to(deployment, controlling, blocking)
	replicaSet := s.create(workload("ReplicaSet", ns, "web-abc", ownedBy(former(toDeployment)), labelled("app", "web"), func(o object) {
		spec := o.Object["spec"].(map[string]any)
		spec["selector"] = map[string]any{"matchLabels": labels}
		spec["template"] = template("web")
		spec["template"].(map[string]any)["metadata"] = map[string]any{"labels": labels}
	}))
	toReplicaSet := to(replicaSet, controlling, blocking)
	hashed := func(o object) { o.SetLabels(map[string]string{"app": "web", "pod-template-hash": "abc"}) }
	pods := []object{
		s.create(pod(ns, "web-abc-1", ownedBy(former(toReplicaSet)), hashed)),
		s.create(pod(ns, "web-abc-2", ownedBy(former(toReplicaSet)), hashed)),
	}
	custom := s.create(widget(ns, "monitor", ownedBy(former(to(deployment)))))
	config := s.create(configMap(ns, "config", ownedBy(former(to(deployment)), former(to(custom, blocking)))))
	password := s.create(secret(ns, "password", ownedBy(former(to(custom)))))
	doomed := s.create(configMap(ns, "unmended", ownedBy(lost())))

	s.gc("repair", "-n", ns, "--rule", "replaced-owner", "--dry-run").exits(t, 0).
		shows(t, "relink", "Secret/password", "Widget/monitor exists, with another UID: the reference gets that UID (otherwise GC would delete it)", "relink 6. Complete scan.")
	backups := t.TempDir()
	s.gc("repair", "-n", ns, "--rule", "replaced-owner", "--yes", "--backup-dir", backups).exits(t, 0).
		shows(t, "relinked 6 in ", "a scan afterwards found nothing left to do", "Undo: kubectl gc restore "+backups)
	s.collected(ns, doomed)

	s.refers(deployment)
	s.refers(replicaSet, toDeployment)
	for _, p := range pods {
		s.refers(p, toReplicaSet)
	}
	s.refers(custom, to(deployment))
	s.refers(config, to(deployment), to(custom, blocking))
	s.refers(password, to(custom))
	s.gc("audit", "-n", ns, "--fail-on=warning").exits(t, 0)
}

// A controller put a StatefulSet into monitoring whose owner lives in kube-system:
// the story this project began with.
func TestRedisExporterIsUnlinkedAndKept(t *testing.T) {
	s := opposite(t)
	s.custom()
	home, monitoring := s.namespace("kube"), s.namespace("monitoring")
	redis := s.create(widget(home, "redis-0826"))
	valid := s.create(configMap(home, "redis-config", ownedBy(to(redis))))
	exporter := s.create(workload("StatefulSet", monitoring, "redis-exporter", ownedBy(to(redis, controlling, blocking)), func(o object) {
		o.Object["spec"].(map[string]any)["replicas"] = int64(0)
	}))
	doomed := s.create(configMap(monitoring, "unmended", ownedBy(lost())))
	below := s.create(configMap(monitoring, "dashboards", ownedBy(to(exporter))))

	s.gc("repair", "statefulset/redis-exporter", "-n", monitoring, "--yes", "--backup-dir", t.TempDir()).exits(t, 0).
		shows(t, "unlink", "Widget/redis-0826 is in another namespace: "+home+"; the object stays and is never collected (otherwise GC would delete it)", "unlinked 1 in ")
	s.collected(monitoring, doomed)

	s.refers(exporter)
	s.refers(below, to(exporter))
	s.refers(valid, to(redis))
}
