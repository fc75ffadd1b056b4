package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
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

func TestRepairBacksUpEveryObjectBeforeTheFirstChange(t *testing.T) {
	s := newScene(t)
	s.defineTestKinds()
	ns := s.namespace("saved")
	owner := s.create(secret(ns, "owner"))
	objects := []object{
		s.create(configMap(ns, "one", ownedBy(withFormerUID(referenceTo(owner, blocking)), missingOwner()))),
		s.create(widget(ns, "two", ownedBy(missingOwner()), withField("spec", map[string]any{"size": int64(3)}))),
	}
	root := t.TempDir()
	f := s.proxyCalling(withoutDryRun(writing(anyRequest)), func() {
		folders, err := filepath.Glob(filepath.Join(root, "*", "objects.jsonl"))
		if err != nil || len(folders) != 1 || len(s.backupManifests(filepath.Dir(folders[0]))) != len(objects) {
			t.Errorf("the first change comes, and the backups are %q, %v", folders, err)
		}
	})
	f.gc("repair", "-n", ns, "--yes", "--backup-dir", root).exits(t, 0).shows(t, "Undo: kubectl gc restore "+root)
	folders, _ := filepath.Glob(filepath.Join(root, "*"))
	saved := s.backupManifests(folders[0])
	for _, o := range objects {
		if differs := sameObject(o, saved[string(o.GetUID())]); differs != "" {
			t.Errorf("%s: %s", o.GetName(), differs)
		}
	}
	s.requirePrivate(folders[0])
	plan, err := os.ReadFile(filepath.Join(folders[0], "plan.json"))
	if err != nil || !strings.Contains(string(plan), `"becomes"`) {
		t.Errorf("the plan does not name the new references: %v", err)
	}
}

func TestRepairReassessesChangedObjects(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		meanwhile func(s *scene, o, owner object)
		code      int
		shows     []string
		refers    func(owner object) []metav1.OwnerReference
	}{
		"an irrelevant change": {
			func(s *scene, o, _ object) { s.patch(o, `{"metadata":{"labels":{"beat":"1"}}}`) },
			0,
			[]string{"relinked 1 in "},
			func(owner object) []metav1.OwnerReference { return []metav1.OwnerReference{referenceTo(owner)} },
		},
		"it got another owner": {
			func(s *scene, o, owner object) { s.setOwners(o, missingOwner(), withFormerUID(referenceTo(owner))) },
			1, // it could lose the other owner, too
			[]string{"relinked 1 in ", "a scan afterwards found 1 more to do"},
			func(owner object) []metav1.OwnerReference {
				return []metav1.OwnerReference{missingOwner(), referenceTo(owner)}
			},
		},
		"somebody repaired it": {
			func(s *scene, o, owner object) { s.setOwners(o, referenceTo(owner, blocking)) },
			0,
			[]string{"skipped", "it changed: nothing to do: it is already in this state", "nothing was changed"},
			func(owner object) []metav1.OwnerReference {
				return []metav1.OwnerReference{referenceTo(owner, blocking)}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			ns := s.namespace("meanwhile")
			owner := s.create(secret(ns, "owner"))
			o := s.create(configMap(ns, "subject", ownedBy(withFormerUID(referenceTo(owner)))))
			f := s.proxyCalling(writing(single("configmaps", "subject")), func() { c.meanwhile(s, o, owner) })
			f.gc("repair", "-n", ns, "--yes", "--no-backup").exits(t, c.code).shows(t, c.shows...)
			s.requireReferences(o, c.refers(owner)...)
		})
	}
}

func TestRepairChecksNewOwnerBeforeWrite(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("late")
	owner := s.create(secret(ns, "owner"))
	o := s.create(configMap(ns, "subject", ownedBy(withFormerUID(referenceTo(owner)))))
	f := s.throughProxy(func(through http.Handler) []fault {
		// The scan reads it first, and the run reads it again right before the write.
		return []fault{{firstOnly(exceptFirst(reading(single("secrets", "owner")))), beforeResponse(through, func() { s.remove(owner, metav1.DeletePropagationBackground) })}}
	}).allowWrites()
	f.gc("repair", "configmap/subject", "-n", ns, "--fix", "relink", "--yes", "--no-backup").shows(t, "skipped", "Secret/owner, the planned new owner, no longer exists", "nothing was changed")
	s.requireUnchanged(o)
}

func TestRepairRefusals(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("refusals")
	owner := s.create(secret(ns, "owner"))
	o := s.create(configMap(ns, "subject", ownedBy(withFormerUID(referenceTo(owner)))))
	protected := s.create(configMap(ns, "protected", ownedBy(withFormerUID(referenceTo(owner)))))
	s.grant("alice", "", []any{"*"}, []any{"*"}, []any{"list", "get"})
	alice := s.toolAs("alice")
	for _, c := range []struct {
		tool  tool
		args  []string
		code  int
		words []string
	}{
		{s.tool(), nil, 4, []string{"error: not confirmed: standard input is not a terminal", "hint: use --yes, or --confirm "}},
		{s.tool(), []string{"--confirm", "0123456789abcdef"}, 4, []string{"the plan differs from the confirmed one: its digest is ", ", not 0123456789abcdef"}},
		{s.tool(), []string{"configmap/gone", "--yes"}, 2, []string{fmt.Sprintf(`"configmaps/gone" in namespace %q does not exist`, ns)}},
		{s.tool(), []string{"-l", "no=such", "--yes"}, 2, []string{fmt.Sprintf(`nothing matched: no object in namespace %q has the labels "no=such"`, ns)}},
		{alice, []string{"--yes", "--no-backup"}, 1, []string{"failed", "you may not patch configmaps in namespace " + ns, "2 failed"}},
		{alice, []string{"--dry-run=server"}, 1, []string{`User "alice" cannot patch resource "configmaps"`, "The API server would accept 0 of 2 steps"}},
	} {
		r := c.tool.gc(append([]string{"repair", "-n", ns}, c.args...)...).exits(t, c.code)
		for _, w := range c.words {
			if !strings.Contains(r.Stdout+r.Stderr, w) {
				t.Errorf("repair %q does not say %q: %s%s", c.args, w, r.Stdout, r.Stderr)
			}
		}
	}
	s.gc("repair", "configmap/subject", "-A", "--yes").exits(t, 2).warns(t, "cannot be repaired by name in all namespaces", "hint: use -n to choose its namespace")
	s.requireUnchanged(o, protected)

	s.denyWrites(ns, "protected")
	s.gc("repair", "-n", ns, "--dry-run=server").exits(t, 1).shows(t, "ConfigMap/protected", "this one is under protection", "The API server would accept 1 of 2 steps")
	s.requireUnchanged(o, protected)
	s.gc("repair", "-n", ns, "--yes", "--no-backup").exits(t, 1).shows(t, "ConfigMap/protected", "this one is under protection", "relinked 1", "1 failed")
	s.requireUnchanged(protected)
	s.requireReferences(o, referenceTo(owner))
	digest := s.gc("repair", "configmap/subject", "-n", ns, "--dry-run", "-o", "jsonpath={.digest}").exits(t, 0).Stdout
	s.remove(o, metav1.DeletePropagationBackground)
	s.gc("repair", "configmap/subject", "-n", ns, "--confirm", digest).exits(t, 2).warns(t, "does not exist")
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

func TestRepairAtTerminalAsksForYes(t *testing.T) {
	t.Parallel()
	for keys, code := range map[string]int{"yes\n": 0, "2\n": 4, "y\n": 4} {
		t.Run(fmt.Sprintf("%q", keys), func(t *testing.T) {
			s := newScene(t)
			ns := s.namespace("typed")
			owner := s.create(configMap(ns, "owner"))
			o := s.create(secret(ns, "subject", ownedBy(withFormerUID(referenceTo(owner)), missingOwner())))
			tty := s.tool().atTerminal("repair", "-n", ns)
			tty.awaitText("Change 2 references of 1 object, delete none? Type yes: ")
			s.requireUnchanged(o)
			tty.press(keys)
			tty.wait().exits(t, code)
			if code == 0 {
				s.requireReferences(o, referenceTo(owner))
				return
			}
			s.requireUnchanged(o)
		})
	}
}

func TestRepairAtTerminalRefusesIfClusterChangedBeforeConfirmation(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("reading")
	o := s.create(secret(ns, "subject", ownedBy(withFormerUID(referenceTo(s.create(configMap(ns, "owner")))))))
	tty := s.tool().atTerminal("repair", "-n", ns)
	tty.awaitText("Change 1 reference of 1 object, delete none? Type yes: ")
	more := s.create(secret(ns, "more", ownedBy(missingOwner())))
	tty.press("yes\n")
	tty.wait().exits(t, 4).shows(t, "the cluster changed while you were reading, and the plan would be different now: nothing was changed", "hint: preview it again: kubectl gc repair -n "+ns)
	s.requireUnchanged(o, more)
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
