package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// While an API is unavailable, no finalizer is removed, because objects of that API may depend on
// the object. The user can accept the risk for an API by naming it.
func TestCollectCompletesDeletionIfUnavailableAPIIsAccepted(t *testing.T) {
	const group = "metrics.k8s.io"
	s := newScene(t)
	ns := s.namespace("accept")
	release := s.create(configMap(ns, "release"))
	s.remove(release, metav1.DeletePropagationForeground)
	release = s.live(release)
	s.brokenAPIService(group)

	const hint = "hint: with --accept-gap " + group + ", 1 more object would be processed although related objects may be unread: ConfigMap/release"
	s.gc("collect", "-n", ns, "--dry-run").exits(t, 0).shows(t, "blocked", "keeps its finalizer").warns(t, hint)
	s.gc("collect", "-n", ns, "--yes").exits(t, 1).warns(t, hint)
	s.gc("collect", "-n", ns, "--yes", "--accept-gap", "secrets").exits(t, 1).
		warns(t, "warning: --accept-gap secrets has no effect", hint)
	s.requireUnchanged(release)

	saved := filepath.Join(t.TempDir(), "plan.json")
	accepted := s.gc("collect", "-n", ns, "--dry-run", "--accept-gap", group, "--plan-out", saved).exits(t, 0).
		shows(t, "Accepted although it could not be read: "+group+". These actions depend on it:",
			"ConfigMap/release -n "+ns+": removes finalizer foregroundDeletion although its dependents in "+group+" were not read").
		warns(t, "kubectl gc collect --accept-gap "+group+" -n "+ns+" --confirm ")
	if strings.Contains(accepted.Stderr, "hint:") {
		t.Errorf("what is accepted is proposed: %s", accepted.Stderr)
	}
	s.gc("collect", "-n", ns, "--yes", "--plan", saved).exits(t, 1).
		shows(t, "it depends on gaps that you must accept again: --accept-gap "+group)
	plain := s.tool().plan("-n", ns).Digest
	s.gc("collect", "-n", ns, "--accept-gap", group, "--confirm", plain).exits(t, 4)
	s.gc("collect", "-n", ns, "--accept-gap", group).exits(t, 4)
	s.gc("collect", "-n", ns, "--yes", "--strict").exits(t, 3)
	s.requireUnchanged(release)

	s.gc("collect", "-n", ns, "--yes", "--strict", "--accept-gap", group, "--plan", saved).exits(t, 0)
	s.requireGone(release)
}

func TestDeleteClientSideCompletesIfUnavailableAPIIsAccepted(t *testing.T) {
	const group = "metrics.k8s.io"
	s := newScene(t)
	ns := s.namespace("accept-delete")
	owner := s.create(configMap(ns, "owner"))
	below := s.create(configMap(ns, "below", ownedBy(referenceTo(owner))))
	s.brokenAPIService(group)
	s.gc("delete", "configmap/owner", "-n", ns, "--client-side", "--cascade=foreground", "--yes", "--accept-gap", group).exits(t, 0).
		shows(t, "removes finalizer foregroundDeletion although its dependents in "+group+" were not read")
	s.requireGone(owner, below)

	space := s.live(newObject("v1", "Namespace", "", s.namespace("accept-space")))
	s.gc("delete", "namespace/"+space.GetName(), "--yes").exits(t, 1).
		shows(t, "its contents could not be listed: API group "+group).warns(t, "hint: with --accept-gap "+group)
	s.requireUnchanged(space)
	s.gc("delete", "namespace/"+space.GetName(), "--yes", "--wait=false", "--accept-gap", group).exits(t, 0).
		shows(t, "deletes it although its contents in "+group+" were not read")
	space = s.live(space)
	if space.GetDeletionTimestamp() == nil {
		t.Error("it is not being deleted")
	}
	// There is no namespace controller, and whoever reads the whole cluster later would find it stuck.
	unstructured.RemoveNestedField(space.Object, "spec", "finalizers")
	_, err := s.client(space).Update(t.Context(), space.Unstructured, metav1.UpdateOptions{}, "finalize")
	s.must(err)
}
