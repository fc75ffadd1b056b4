package e2e

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// What a user deletes with kubectl comes back from the audit log as it was, references included, but for the
// Secret, of which the log has no content.
func TestRestoreFromAuditLog(t *testing.T) {
	log := filepath.Join(t.TempDir(), "audit.log")
	s := newSceneOf(t, testcluster.Options{ManagerFlags: []string{"use-service-account-credentials=true"}, APIServerFlags: auditFlags(t, log, "")})
	ns := s.namespace("shop")
	deployment := s.create(workload("Deployment", ns, "web"))
	settings := s.create(configMap(ns, "settings", ownedBy(referenceTo(deployment, controlling))))
	below := s.create(configMap(ns, "below", ownedBy(referenceTo(settings))))
	s.create(configMap(ns, "unrelated"))
	s.patch(settings, `{"data":{"color":"blue"}}`)
	s.patch(deployment, `{"spec":{"replicas":3}}`)
	s.awaitValue(deployment, 3, "status", "replicas")
	names, links := s.names(ns), s.links(ns)
	lost := s.create(secret(ns, "token", ownedBy(referenceTo(deployment))))
	before := s.snapshot()

	s.kubectl("delete", "deployment", "web", "-n", ns, "--as=jane@example.com", "--as-group=system:masters").exits(s, 0)
	s.awaitGone(deployment, settings, below, lost)
	s.await("everything to be gone", func(context.Context) (bool, error) { return len(s.links(ns)) == 0, nil })

	folder := filepath.Join(t.TempDir(), "unknown-cluster")
	s.gc("trace", "configmap/below", "-n", ns, "--audit-log", log, "--save-backup", folder).exits(s, 0).
		shows(s, "The audit log holds 7 of 7 objects in full.").warns(s, "Saved 7 of 7 objects", "--dry-run --to-another-cluster")
	s.requirePrivate(folder)
	s.gc("restore", folder, "--dry-run").exits(s, 2).warns(s, "the backup is from an audit log, which does not say which cluster it is from")
	s.gc("restore", folder, "--dry-run", "--to-another-cluster").exits(s, 0).shows(s, "create 7, link 5 in namespace "+ns)

	folder = filepath.Join(t.TempDir(), "this-cluster")
	s.gc("trace", "deployment/web", "-n", ns, "--audit-log", log, "--before", before, "--save-backup", folder).exits(s, 0).
		warns(s, "Saved 7 of 8 objects", "The log does not have the whole of Secret/token.", "restore "+folder+" --dry-run\n")
	r := s.gc("restore", folder, "--yes").exits(s, 0).shows(s, "a scan afterwards found nothing left to do.")
	t.Logf("%s\n%s", r.Stdout, r.Stderr)
	s.await("controllers to settle", func(context.Context) (bool, error) { return slices.Equal(links, s.links(ns)), nil })
	if diff := cmp.Diff(names, s.names(ns)); diff != "" {
		t.Errorf("the tree has changed (-before +after)\n%s", diff)
	}
	if diff := cmp.Diff(links, s.links(ns)); diff != "" {
		t.Errorf("the references are others (-before +after)\n%s", diff)
	}
	s.awaitValue(settings, "blue", "data", "color")
	s.mustHaveNoFindings(ns)
	s.gc("restore", folder, "--yes").exits(s, 0).shows(s, "Nothing to do")

	// A namespace, whose contents the server deletes as collections.
	ns = s.namespace("space")
	held := s.create(configMap(ns, "held", heldBy("example.com/hold")))
	s.create(pod(ns, "alone"))
	space := s.live(newObject("v1", "Namespace", "", ns))
	names, before = s.names(ns), s.snapshot()
	s.kubectl("delete", "namespace", ns, "--wait=false", "--as=jane@example.com", "--as-group=system:masters").exits(s, 0)
	s.await("the contents to be deleted", func(context.Context) (bool, error) { return s.live(held).GetDeletionTimestamp() != nil, nil })
	s.patch(held, `{"metadata":{"finalizers":null}}`)
	s.awaitGone(space)
	folder = filepath.Join(t.TempDir(), "namespace")
	r = s.gc("trace", "namespace/"+ns, "--audit-log", log, "--before", before, "--save-backup", folder).exits(s, 0)
	t.Logf("%s\n%s", r.Stdout, r.Stderr)
	s.gc("restore", folder, "--yes").exits(s, 0).shows(s, "a scan afterwards found nothing left to do.")
	s.await("the namespace to be filled", func(context.Context) (bool, error) { return len(s.names(ns)) >= len(names), nil })
	if diff := cmp.Diff(names, s.names(ns)); diff != "" {
		t.Errorf("the namespace has changed (-before +after)\n%s", diff)
	}
	if now := s.live(held); !slices.Equal(now.GetFinalizers(), held.GetFinalizers()) {
		t.Errorf("the finalizers are %q, and were %q", now.GetFinalizers(), held.GetFinalizers())
	}
}
