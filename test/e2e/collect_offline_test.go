package e2e

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/google/go-cmp/cmp"
)

// collect --from FILE must print exactly what it prints when it reads the cluster, except for the
// hint how to apply the plan, which a file cannot support.
func TestCollectFromSnapshotPredictsTheSame(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("offline")
	s.createEveryAction(ns)
	// A Pod that a kubelet has to stop, and a Pod that the API server deletes at once.
	s.create(configMap(ns, "below-running", ownedBy(referenceTo(s.create(pod(ns, "running", onNodeWithoutKubelet, ownedBy(missingOwner())))))))
	s.create(configMap(ns, "below-pending", ownedBy(referenceTo(s.create(pod(ns, "pending", ownedBy(missingOwner())))))))
	stuck := s.create(configMap(ns, "stuck"))
	s.create(configMap(ns, "blocker", ownedBy(referenceTo(stuck, blocking), reference("v1", "Nothing", "x", "x"))))
	s.remove(stuck, metav1.DeletePropagationForeground)
	whole, one := s.snapshot(), s.snapshot("-n", ns)
	for _, format := range []string{"json", "yaml", "name", "table"} {
		for args, file := range map[string]string{"": whole, "-n " + ns: whole, " -n " + ns: one, "-n " + ns + " --rule missing-owner": one} {
			line := append([]string{"collect", "--dry-run", "-o", format}, strings.Fields(args)...)
			live, saved := s.gc(line...).exits(t, 0), s.gc(append(line, "--from", file)...).exits(t, 0)
			if diff := cmp.Diff(live.Stdout, saved.Stdout); diff != "" {
				t.Errorf("kubectl gc %s: live (-) and from a file (+) differ:\n%s", live.output(), short(diff))
			}
			if saved.Stderr != "" {
				t.Errorf("from a file, stderr is %q", saved.Stderr)
			}
		}
	}
	s.gc("collect", "--from", one, "--dry-run", "-n", ns).exits(t, 0).shows(t, "must stop first (grace period)")
	for _, args := range [][]string{nil, {"--yes"}, {"--dry-run=server"}, {"--confirm", "0123456789abcdef"}} {
		s.gc(append([]string{"collect", "--from", one}, args...)...).exits(t, 2).
			warns(t, "error: --from works only with --dry-run=client")
	}
}

// A plan made from a snapshot file is executed like any other plan.
func TestCollectExecutesPlanMadeFromSnapshot(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("offline-plan")
	objects := s.createGarbage(ns, 3)
	file := t.TempDir() + "/plan.json"
	s.gc("collect", "--from", s.snapshot(), "--dry-run", "-n", ns, "--plan-out", file).exits(t, 0)
	s.gc("collect", "--plan", file, "--yes").exits(t, 0).shows(t, "deleted 3")
	s.requireGone(objects...)
}

func TestCollectFromKubectlGetDecidesNothingAboutObjectsOutsideOfFile(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("offline-dump")
	s.create(configMap(ns, "unknown", ownedBy(missingOwner())))
	s.create(configMap(ns, "known", ownedBy(reference("v1", "ConfigMap", "gone", "gone"))))
	dump := s.writeFile("dump.json", s.kubectl("get", "configmaps", "-n", ns, "-o", "json").exits(t, 0).Stdout)
	r := s.gc("collect", "--from", dump, "--dry-run", "-o", "json").exits(t, 0)
	if got := decode[planned](t, r); got.Complete || cmp.Diff([]string{"delete ConfigMap/known"}, got.stepLines()) != "" {
		t.Errorf("complete: %t, steps %v", got.Complete, got.stepLines())
	}
	s.gc("collect", "--from", dump, "--dry-run", "--strict").exits(t, 3)
}
