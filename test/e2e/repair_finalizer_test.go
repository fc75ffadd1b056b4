package e2e

import (
	"context"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// An object whose deletion waits for a controller that does not exist, with an owner that waits
// for it, and a dependent.
func TestRepairRemovesOneFinalizer(t *testing.T) {
	s := sceneWithCollector(t)
	const finalizer = "traces.example.org/hold"
	s.define(definition("traces.example.org", "Trace", "Namespaced", version("v1", true)))
	remove := func(target, ns string, more ...string) []string {
		return append([]string{"repair", target, "-n", ns, "--finalizer", finalizer}, more...)
	}

	t.Run("and all that waited for it is deleted", func(t *testing.T) {
		s := s.forSubtest(t)
		ns := s.namespace("stuck")
		owner := s.create(configMap(ns, "owner"))
		stuck := s.create(configMap(ns, "stuck", ownedBy(referenceTo(owner, blocking)), heldBy(finalizer)))
		s.gc(remove("configmap/stuck", ns, "--yes")...).exits(t, 2).warns(t, `error: "ConfigMap/stuck" is not being deleted`)
		dependent := s.create(secret(ns, "dependent", ownedBy(referenceTo(stuck))))
		s.remove(stuck, metav1.DeletePropagationBackground) // otherwise the collector deletes it, in the foreground
		s.remove(owner, metav1.DeletePropagationForeground)

		s.gc(remove("configmap/stuck", ns, "--dry-run=server")...).exits(t, 0)
		digest := s.gc(remove("configmap/stuck", ns, "--dry-run", "-o", "jsonpath={.digest}")...).exits(t, 0).Stdout
		preview := s.gc(remove("configmap/stuck", ns, "--dry-run")...).exits(t, 0).shows(t,
			"skips the cleanup of the controller behind traces.example.org; the object is deleted at once", "The cluster serves API group traces.example.org and has 1 CustomResourceDefinition of traces.example.org.", "remove-finalizer 1, delete 3. Complete scan.", digest)
		t.Log("\n" + preview.Stdout)
		s.gc(remove("configmap/stuck", ns, "--confirm", "0123456789abcdef")...).exits(t, 4)
		if !slices.Contains(s.live(stuck).GetFinalizers(), finalizer) {
			t.Fatal("a preview or a refused run removed the finalizer")
		}
		folder := s.tool().runForBackup(remove("configmap/stuck", ns, "--confirm", digest)...)
		s.requireGone(owner, stuck, dependent)

		s.gc("restore", folder, "--yes").exits(t, 0).shows(t, "created 2 in ")
		again := s.live(stuck)
		if again.GetDeletionTimestamp() != nil || !slices.Contains(again.GetFinalizers(), finalizer) {
			t.Errorf("the restored object has finalizers %q and is deleted at %v", again.GetFinalizers(), again.GetDeletionTimestamp())
		}
		if refs := s.live(dependent).GetOwnerReferences(); len(refs) != 1 || refs[0].UID != again.GetUID() {
			t.Errorf("the restored dependent has owners %v", refs)
		}
	})
	t.Run("and its namespace is gone, with what it deletes after its Pods", func(t *testing.T) {
		s := s.forSubtest(t)
		ns := s.namespace("last")
		stuck := s.create(pod(ns, "stuck", heldBy(finalizer)))
		later := s.create(configMap(ns, "later"))
		space := s.live(newObject("v1", "Namespace", "", ns))
		s.remove(space, metav1.DeletePropagationBackground)
		s.await("the namespace controller to delete the Pod", func(context.Context) (bool, error) { return s.live(stuck).GetDeletionTimestamp() != nil, nil })
		s.gc(remove("pod/stuck", ns, "--yes", "--no-backup")...).exits(t, 0).shows(t,
			"its namespace is being deleted, and no Pod is left in it", "its deletion can complete, since nothing is left in it", "a scan afterwards found nothing left to do")
		s.requireGone(stuck, later, space)
	})
	t.Run("unless the object changes in between", func(t *testing.T) {
		s := s.forSubtest(t)
		ns := s.namespace("changing")
		for name, c := range map[string]struct {
			body  string
			shows string
			left  []string
		}{
			"label":     {`{"metadata":{"labels":{"beat":"1"}}}`, "removed finalizer 1 in ", []string{"example.com/other"}},
			"finalizer": {`{"metadata":{"finalizers":["` + finalizer + `"]}}`, "its finalizers now differ from the plan", []string{finalizer}},
		} {
			o := s.create(configMap(ns, name, heldBy(finalizer, "example.com/other")))
			s.remove(o, metav1.DeletePropagationBackground)
			f := s.proxyCalling(writing(single("configmaps", name)), func() { s.patch(o, c.body) })
			f.gc(remove("configmap/"+name, ns, "--yes", "--no-backup")...).exits(t, 1).shows(t, c.shows)
			if got := s.live(o).GetFinalizers(); !slices.Equal(got, c.left) {
				t.Errorf("%s: the finalizers are %q, want %q", name, got, c.left)
			}
		}
	})
}
