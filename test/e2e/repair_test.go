package e2e

import (
	"fmt"
	"net/http"
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
	tty.awaitText("Change 2 references of 2 objects, delete none? Type yes: ")
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

// With OwnerReferencesPermissionEnforcement, controllers that relinked restored objects failed in
// operator-sdk#4020 and kserve#2838.
func TestRepairUnderOwnerReferencesPermissionEnforcement(t *testing.T) {
	s := withPermissionEnforcement.newScene(t)
	ns := s.namespace("enforced")
	deployment := s.create(workload("Deployment", ns, "web"))
	blocks := s.create(configMap(ns, "blocks", ownedBy(withFormerUID(referenceTo(deployment, blocking)))))
	plain := s.create(secret(ns, "plain", ownedBy(withFormerUID(referenceTo(deployment)))))
	s.grant("alice", "", []any{"*"}, []any{"*"}, []any{"list", "get", "patch"})
	s.grant("alice", ns, []any{""}, []any{"configmaps"}, []any{"delete"})
	for _, how := range []string{"--dry-run=server", "--yes"} {
		requireWords(t, s.toolAs("alice").gc("repair", "-n", ns, "--no-backup", how).exits(t, 1),
			"cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on", "only who may update the finalizers of an owner may let an object block its deletion",
			"cannot set an ownerRef on a resource you can't delete", "only who may delete an object may change its owner references")
	}
	s.requireUnchanged(blocks, plain)
	s.gc("repair", "-n", ns, "--yes", "--no-backup").exits(t, 0).shows(t, "relinked 2 in ")
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
		shows(t, "Secret/hen is being deleted in the foreground and waits for it, but you chose to remove this reference; its own deletion continues; so the deletion of Secret/hen can complete", "unlinked 1 in ")
	s.gc("collect", "-n", ns, "--yes", "--no-backup").exits(t, 0)
	s.requireGone(egg, hen)
}
