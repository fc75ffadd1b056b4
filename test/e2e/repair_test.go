package e2e

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Of two references with one UID, only the invalid one is removed. A rewritten reference keeps
// its position and its flags. Both hold for built-in and for custom kinds.
func TestRepairChangesOnlyIntendedReferences(t *testing.T) {
	s := newScene(t)
	s.defineTestKinds()
	ns := s.namespace("exact")
	owner := s.create(secret(ns, "owner"))
	deployment := s.create(workload("Deployment", ns, "web"))
	for kind, make := range map[string]func(string, string, ...func(object)) object{"built-in": configMap, "custom": widget} {
		t.Run(kind, func(t *testing.T) {
			s := s.forSubtest(t)
			o := s.create(make(ns, "subject", ownedBy(
				referenceTo(owner, named("misspelled"), blocking), withFormerUID(referenceTo(deployment, controlling)), referenceTo(owner),
				referenceTo(deployment, versioned("apps/v1beta1")),
			)))
			s.gc("repair", "-n", ns, "--yes", "--no-backup").exits(t, 0).shows(t, "relink", "unlink")
			s.requireReferences(o, referenceTo(deployment, controlling), referenceTo(owner))
			s.gc("repair", "-n", ns, "--yes", "--no-backup").exits(t, 0).shows(t, "Nothing to do")
		})
	}
}

func TestRepairUpdatesUnservedVersion(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("update-version")
	deployment := s.create(workload("Deployment", ns, "web"))
	alive := s.create(configMap(ns, "alive", ownedBy(referenceTo(deployment, versioned("apps/v1beta1"), blocking))))
	elsewhere := s.create(configMap(ns, "elsewhere", ownedBy(referenceTo(deployment, versioned("extensions/v1beta1")))))
	replaced := s.create(configMap(ns, "replaced", ownedBy(withFormerUID(referenceTo(deployment, versioned("apps/v1beta1"))))))
	orphan := s.create(configMap(ns, "orphan", ownedBy(reference("apps/v1beta1", "Deployment", "gone", "gone"))))
	s.gc("repair", "-n", ns, "--yes", "--no-backup").exits(t, 0).shows(t, "relinked 1, updated 2, unlinked 1 in ")
	s.requireReferences(alive, referenceTo(deployment, blocking))
	s.requireReferences(elsewhere, referenceTo(deployment))
	s.requireReferences(replaced, referenceTo(deployment))
	s.requireReferences(orphan)
}

func TestRepairReassessesChangedObjects(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("meanwhile")
	owner := s.create(secret(ns, "owner"))
	cases := map[string]struct {
		meanwhile func(o object)
		refers    []metav1.OwnerReference
	}{
		"an-irrelevant-change": {func(o object) { s.patch(o, `{"metadata":{"labels":{"beat":"1"}}}`) }, []metav1.OwnerReference{referenceTo(owner)}},
		"another-owner":        {func(o object) { s.setOwners(o, missingOwner(), withFormerUID(referenceTo(owner))) }, []metav1.OwnerReference{missingOwner(), referenceTo(owner)}},
		"repaired":             {func(o object) { s.setOwners(o, referenceTo(owner, blocking)) }, []metav1.OwnerReference{referenceTo(owner, blocking)}},
	}
	objects := map[string]object{}
	for name := range cases {
		objects[name] = s.create(configMap(ns, name, ownedBy(withFormerUID(referenceTo(owner)))))
	}
	f := s.throughProxy(func(through http.Handler) (faults []fault) {
		for name, c := range cases {
			faults = append(faults, fault{firstOnly(writing(single("configmaps", name))), beforeResponse(through, func() { c.meanwhile(objects[name]) })})
		}
		return faults
	}).allowWrites()
	// One of them could lose the other owner, too.
	f.gc("repair", "-n", ns, "--yes", "--no-backup").exits(t, 1).
		shows(t, "relinked 2 in ", "skipped", "it changed: nothing to do: it is already in this state", "a scan afterwards found 1 more to do")
	for name, c := range cases {
		s.requireReferences(objects[name], c.refers...)
	}
}

func TestRepairRefusals(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("refusals")
	owner := s.create(secret(ns, "owner"))
	o := s.create(configMap(ns, "subject", ownedBy(withFormerUID(referenceTo(owner)))))
	protected := s.create(configMap(ns, "protected", ownedBy(withFormerUID(referenceTo(owner)))))
	s.gc("repair", "-n", ns, "--confirm", "0123456789abcdef").exits(t, 4).warns(t, "the plan differs from the confirmed one: its digest is ", ", not 0123456789abcdef")
	s.gc("repair", "configmap/gone", "-n", ns, "--yes").exits(t, 2).warns(t, fmt.Sprintf(`"configmaps/gone" in namespace %q does not exist`, ns))
	tty := s.tool().atTerminal("repair", "-n", ns)
	tty.awaitText("confirm: ")
	tty.press("2\n")
	tty.wait().exits(t, 4)
	s.requireUnchanged(o, protected)

	s.denyWrites(ns, "protected")
	s.gc("repair", "-n", ns, "--dry-run=server").exits(t, 1).shows(t, "ConfigMap/protected", "this one is under protection", "The API server would accept 1 of 2 steps")
	s.requireUnchanged(o, protected)
	s.gc("repair", "-n", ns, "--yes", "--no-backup").exits(t, 1).shows(t, "ConfigMap/protected", "this one is under protection", "relinked 1", "1 failed")
	s.requireUnchanged(protected)
	s.requireReferences(o, referenceTo(owner))
}

// All members of the cycle are in foreground deletion and wait for each other, so the user has to
// choose which reference to remove.
func TestRepairBreaksACycleOnRequest(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("circle")
	egg := s.create(configMap(ns, "egg"))
	hen := s.create(secret(ns, "hen", ownedBy(referenceTo(egg, blocking))))
	egg = s.setOwners(egg, referenceTo(hen, blocking))
	for _, o := range []object{egg, hen} {
		s.remove(o, metav1.DeletePropagationForeground)
	}
	s.gc("repair", "-n", ns, "--yes", "--no-backup").exits(t, 0).shows(t, "Nothing to do")
	s.gc("repair", "configmap/egg", "-n", ns, "--fix", "unlink", "--reference", string(hen.GetUID()), "--yes", "--no-backup").exits(t, 1).
		shows(t, "Secret/hen is being deleted in the foreground and waits for its dependents, but you chose to remove this reference; its own deletion continues; so the deletion of Secret/hen can complete", "unlinked 1 in ")
	s.gc("collect", "-n", ns, "--yes", "--no-backup").exits(t, 0)
	s.requireGone(egg, hen)
}

// An object whose deletion waits for a controller that does not exist, with an owner that waits
// for it, and a dependent.
func TestFinalizerRemoveRemovesOneFinalizer(t *testing.T) {
	s := sceneWithCollector(t)
	const finalizer = "traces.example.org/hold"
	s.define(definition("traces.example.org", "Trace", "Namespaced", version("v1", true)))
	remove := func(target, ns string, more ...string) []string {
		return append([]string{"finalizer", "remove", target, finalizer, "-n", ns}, more...)
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
			"skips the cleanup of the controller behind traces.example.org; this deletes the object at once", "The controller of traces.example.org may still be installed: found type traces.traces.example.org.", "remove-finalizer 1, delete 3 in namespace ", digest)
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
			"label":     {`{"metadata":{"labels":{"beat":"1"}}}`, "ConfigMap/label has been held by example.com/other", []string{"example.com/other"}},
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
