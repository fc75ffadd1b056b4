package e2e

import (
	"strings"
	"testing"

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
	for _, format := range []string{"json", "table"} {
		for args, file := range map[string]string{"": s.snapshot(), "-n " + ns: s.snapshot("-n", ns)} {
			line := append([]string{"collect", "--dry-run", "-o", format}, strings.Fields(args)...)
			live, saved := s.gc(line...).exits(t, 0), s.gc(append(line, "--from", file)...).exits(t, 0)
			if diff := cmp.Diff(live.Stdout, saved.Stdout); diff != "" || saved.Stderr != "" {
				t.Errorf("kubectl gc %s: live (-) and from a file (+) differ:\n%s%s", live.output(), short(diff), saved.Stderr)
			}
			if format == "table" {
				saved.shows(t, "must stop first (grace period)")
			}
		}
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
