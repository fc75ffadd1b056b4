package e2e

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// replicated is a ReplicationController with two Pods.
func replicated(ns, name string) object {
	return of("v1", "ReplicationController", ns, name, with("spec", map[string]any{
		"replicas": int64(2), "selector": map[string]any{"app": name}, "template": template(name),
	}))
}

// stateful has a claim per Pod, which goes with it.
func stateful(ns, name string) object {
	return workload("StatefulSet", ns, name, func(o object) {
		spec := o.Object["spec"].(map[string]any)
		spec["serviceName"], spec["podManagementPolicy"] = name, "Parallel"
		spec["persistentVolumeClaimRetentionPolicy"] = map[string]any{"whenDeleted": "Delete", "whenScaled": "Retain"}
		spec["volumeClaimTemplates"] = []any{map[string]any{
			"metadata": map[string]any{"name": "data"},
			"spec":     map[string]any{"accessModes": []any{"ReadWriteOnce"}, "resources": map[string]any{"requests": map[string]any{"storage": "1Gi"}}},
		}}
	})
}

func job(ns, name string, more ...func(object)) object {
	return of("batch/v1", "Job", ns, name, after(with("spec", map[string]any{
		"template": map[string]any{"spec": map[string]any{"restartPolicy": "Never", "containers": podSpec()["containers"]}},
	}), more)...)
}

func cronJob(ns, name string) object {
	return of("batch/v1", "CronJob", ns, name, with("spec", map[string]any{
		"schedule": "0 0 29 2 *", "jobTemplate": map[string]any{"spec": job(ns, name).Object["spec"]},
	}))
}

// pods counts those of a namespace.
func (s *scene) pods(ns string, want int) {
	s.Helper()
	s.await("the Pods", func(ctx context.Context) (bool, error) {
		list, err := s.at(pod(ns, "any")).List(ctx, metav1.ListOptions{})
		return err == nil && len(list.Items) == want, err
	})
}

// TestRestoreMakesTheSameTreeAgain deletes one of each kind that controllers deal
// with, and puts all of it back: each object is there again under its name, every
// controller has taken over what was its own, and made nothing besides.
func TestRestoreMakesTheSameTreeAgain(t *testing.T) {
	s := inhabited(t)
	ns := s.namespace("restored")
	deployment := s.create(workload("Deployment", ns, "web"))
	roots := []object{
		deployment, s.create(stateful(ns, "db")), s.create(replicated(ns, "old")), s.create(job(ns, "import")),
		s.create(cronJob(ns, "nightly")), s.create(workload("DaemonSet", ns, "agent")), s.create(widget(ns, "cache")),
	}
	s.field(deployment, 2, "status", "replicas")
	s.patch(deployment, `{"spec":{"template":{"metadata":{"annotations":{"revision":"two"}}}}}`)
	s.field(deployment, 3, "status", "replicas")
	s.create(job(ns, "nightly-1", ownedBy(to(roots[4], controlling, blocking))))
	owned := s.create(configMap(ns, "cache", ownedBy(to(roots[6], controlling, blocking))))
	s.create(secret(ns, "cache", ownedBy(to(owned), to(roots[6]))))
	s.pods(ns, 3+2+2+1+1)
	s.await("claims to belong to their set", func(context.Context) (bool, error) {
		return strings.Count(strings.Join(s.links(ns), "\n"), "PersistentVolumeClaim/data-db-") == 2, nil
	})
	names, links := s.names(ns), s.links(ns)

	folder := s.loses(background, roots...)
	s.gc("restore", folder, "--dry-run").exits(t, 0).shows(t,
		"adopted by Deployment/web", "adopted by StatefulSet/db", "adopted by Job/import", "owned by Widget/cache, which is made again",
		"What does not come back:", "Jobs that had not finished count from zero")
	for _, how := range []string{"client", "server"} {
		s.gc("restore", folder, "--dry-run="+how).exits(t, 0)
		if left := s.links(ns); len(left) > 0 {
			t.Fatalf("a dry run made %s", left)
		}
	}
	r := s.gc("restore", folder, "--yes", "-n", ns).exits(t, 0)
	t.Logf("%s in %s", strings.TrimSpace(r.Stdout), r.Took)
	for _, o := range roots[:3] {
		s.field(o, 1, "status", "observedGeneration")
	}
	s.field(roots[3], 1, "status", "active")
	if diff := cmp.Diff(names, s.names(ns)); diff != "" {
		t.Errorf("the tree is another (-before +after)\n%s", diff)
	}
	if diff := cmp.Diff(links, s.links(ns)); diff != "" {
		t.Errorf("the references are others (-before +after)\n%s", diff)
	}
	s.sound(ns)
	s.gc("restore", folder, "--yes", "-n", ns).exits(t, 0).shows(t)
}

var _ = types.UID("")
