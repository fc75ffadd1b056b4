package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// stepLines returns the steps of a plan in the order of their objects, one short line each.
func (p planned) stepLines() []string {
	out := []string{}
	for _, s := range p.Steps {
		out = append(out, s.Action+" "+s.Object.Kind+"/"+s.Object.Name)
	}
	slices.Sort(out)
	return out
}

func (s *scene) requirePlan(want []string, args ...string) {
	s.Helper()
	slices.Sort(want)
	if diff := cmp.Diff(want, s.tool().plan(args...).stepLines()); diff != "" {
		s.Errorf("collect --dry-run %q (-want +got)\n%s", args, diff)
	}
}

func TestCollectByRuleStartsFromFlaggedObjects(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("rules")
	owner := s.create(secret(ns, "owner"))
	replaced := s.create(configMap(ns, "replaced", ownedBy(referenceTo(owner, func(r *metav1.OwnerReference) { r.UID = "former" }))))
	below := s.create(secret(ns, "below-replaced", ownedBy(referenceTo(replaced))))
	missing := s.create(configMap(ns, "missing", ownedBy(missingOwner())))
	s.create(configMap(ns, "both", ownedBy(referenceTo(replaced), missingOwner())))
	released := s.create(configMap(ns, "released"))
	s.remove(released, metav1.DeletePropagationForeground)

	everything := []string{"delete ConfigMap/missing", "delete ConfigMap/replaced", "delete Secret/below-replaced", "unlink ConfigMap/both", "delete ConfigMap/both", "remove-finalizer ConfigMap/released"}
	s.requirePlan(everything, "-n", ns)
	s.requirePlan([]string{"delete ConfigMap/replaced", "delete Secret/below-replaced", "delete ConfigMap/both"}, "-n", ns, "--rule", "replaced-owner")
	s.requirePlan([]string{}, "-n", ns, "--rule", "cross-namespace-owner,owner-cycle")
	s.requirePlan(everything, "-n", ns, "--rule", "replaced-owner", "--rule=missing-owner,blocked-deletion")

	s.gc("collect", "-n", ns, "--rule", "replaced-owner", "--dry-run").exits(t, 0).warns(t, "kubectl gc collect -n "+ns+" --rule replaced-owner --confirm ")
	s.tool().collect("-n", ns, "--rule", "replaced-owner")
	s.requireGone(replaced, below)
	s.requireUnchanged(missing)
	if s.gone(released) {
		t.Error("a deletion that the rule does not report was completed")
	}
	s.tool().collect("-n", ns)
	s.requireGone(missing, released)
}

// -n limits a run to objects of one namespace. Dependents in other namespaces still count.
func TestCollectInOneNamespaceTouchesNoOther(t *testing.T) {
	s := newScene(t)
	s.defineTestKinds()
	here, there := s.namespace("here"), s.namespace("there")
	mine, theirs := s.create(configMap(here, "orphan", ownedBy(missingOwner()))), s.create(configMap(there, "orphan", ownedBy(missingOwner())))
	global := s.create(gadget("e2e-orphan", ownedBy(reference(customGroup+"/v1", "Gadget", "gone", "gone"))))
	// A deletion blocked by a dependent in another namespace, whose reference is invalid but
	// still blocks.
	blocked := s.create(configMap(here, "blocked"))
	blocker := s.create(secret(there, "blocker", ownedBy(referenceTo(blocked, blocking))))
	s.remove(blocked, metav1.DeletePropagationForeground)

	r := s.gc("collect", "-n", here, "--yes").exits(t, 1)
	r.shows(t, "deleted 1", "1 blocked: ConfigMap/blocked")
	s.requireGone(mine)
	s.requireUnchanged(theirs, global, blocker)
	if s.gone(blocked) {
		t.Error("the deletion ended although something blocks it")
	}
	r = s.gc("collect", "-n", here, "--dry-run").exits(t, 0).shows(t, "blocked", "Secret/blocker")
	r.lacks(t, "ConfigMap/orphan", "Gadget/")

	s.tool().collect("-n", there)
	s.requireGone(theirs, blocker)
	s.requireUnchanged(global)
	s.tool().collect("-n", here)
	s.requireGone(blocked)
	if got := s.tool().plan("-A"); !slices.Contains(got.stepLines(), "delete Gadget/e2e-orphan") {
		t.Errorf("the whole cluster: %v", got.stepLines())
	}
}

func TestCollectWithPermissionsInOneNamespace(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("bobs")
	orphan := s.create(configMap(ns, "orphan", ownedBy(reference("v1", "Secret", "gone", "gone"))))
	global := s.create(configMap(ns, "global", ownedBy(reference("rbac.authorization.k8s.io/v1", "ClusterRole", "gone", "gone"))))
	waits := s.create(configMap(ns, "waits"))
	s.remove(waits, metav1.DeletePropagationForeground)
	s.grant("bob", ns, []any{"*"}, []any{"*"}, []any{"list", "get", "delete", "patch"})
	bob := s.toolAs("bob")

	// Dependents may be in any namespace, so no finalizer is removed.
	bob.gc("collect", "-n", ns, "--yes").exits(t, 1).
		shows(t, "delete", "ConfigMap/orphan", "blocked", "ConfigMap/waits", "Incomplete scan", "deleted 1", "1 blocked: ConfigMap/waits").
		warns(t, "could not read", "forbidden")
	s.requireGone(orphan)
	s.requireUnchanged(global)
	if s.gone(waits) {
		t.Error("a finalizer was removed although not everything was scanned")
	}
}

// missingOwner returns a reference to a Secret that never existed.
func missingOwner() metav1.OwnerReference { return reference("v1", "Secret", "gone", "gone") }

func TestCollectSendsOneRequestPerUnchangedObject(t *testing.T) {
	const many = 200
	s := newScene(t)
	ns := s.namespace("many")
	s.createGarbage(ns, many)
	f := s.throughProxy(nil).allowWrites()
	if got := f.tool.collect("-n", ns); got.Summary != (collectedSummary{Deleted: many, Done: many}) {
		t.Errorf("%+v", got.Summary)
	}
	if writes := len(f.recordedWrites()); writes != many {
		t.Errorf("%d writes for %d objects", writes, many)
	}
	if singles := f.matching(reading(getOf("configmaps"))); len(singles) > 0 {
		t.Errorf("%d objects were requested one by one, such as %s", len(singles), singles[0].URL)
	}
	// At most five lists are needed: the scan, the search for the owner in other namespaces, two
	// pages for the backup, and the scan after the run.
	if lists := f.matching(reading(listOf("configmaps"))); len(lists) > 5 {
		t.Errorf("ConfigMaps were listed %d times", len(lists))
	}
}

// createGarbage creates n ConfigMaps whose owner does not exist. Their names are in ascending
// order.
func (s *scene) createGarbage(ns string, n int) []object {
	s.Helper()
	var out []object
	for i := range n {
		out = append(out, s.create(configMap(ns, fmt.Sprintf("orphan-%03d", i), ownedBy(missingOwner()), withField("data", map[string]any{"number": fmt.Sprint(i)}))))
	}
	return out
}

// denyWrites creates an admission policy that denies updates and deletions of ConfigMaps with
// this name.
func (s *scene) denyWrites(ns, name string) {
	s.Helper()
	const admission = "admissionregistration.k8s.io/v1"
	policy := "e2e-" + name
	its := s.forSubtest(s.T)
	its.create(newObject(admission, "ValidatingAdmissionPolicy", "", policy, withField("spec", map[string]any{
		"failurePolicy": "Fail",
		"matchConstraints": map[string]any{"resourceRules": []any{map[string]any{
			"apiGroups": []any{""}, "apiVersions": []any{"v1"}, "operations": []any{"DELETE", "UPDATE"}, "resources": []any{"configmaps"},
		}}},
		"validations": []any{map[string]any{"expression": "oldObject.metadata.name != '" + name + "'", "message": "this one is under protection"}},
	})))
	its.create(newObject(admission, "ValidatingAdmissionPolicyBinding", "", policy, withField("spec", map[string]any{
		"policyName": policy, "validationActions": []any{"Deny"},
	})))
	// The API server takes a moment to start enforcing the policy, and another one to stop.
	denied := func(ctx context.Context) bool {
		err := s.client(configMap(ns, name)).Delete(ctx, name, metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}})
		return err != nil && strings.Contains(err.Error(), "under protection")
	}
	s.await("the policy to be enforced", func(ctx context.Context) (bool, error) { return denied(ctx), nil })
	s.Cleanup(func() {
		its.clear()
		s.await("the end of the policy", func(ctx context.Context) (bool, error) { return !denied(ctx), nil })
	})
}

// With the admission plugin OwnerReferencesPermissionEnforcement, only users who may delete an
// object may change its owner references. Controllers failed because of it in operator-sdk#4020
// and kserve#2838.
func TestCollectAndRepairUnderOwnerReferencesPermissionEnforcement(t *testing.T) {
	s := withPermissionEnforcement.newScene(t)
	ns := s.namespace("enforced")
	deployment := s.create(workload("Deployment", ns, "web"))
	shared := s.create(configMap(ns, "shared", ownedBy(referenceTo(deployment), missingOwner())))
	orphan := s.create(secret(ns, "orphan", ownedBy(missingOwner())))
	s.grant("alice", "", []any{"*"}, []any{"*"}, []any{"list", "get", "patch"})
	s.grant("alice", ns, []any{""}, []any{"secrets"}, []any{"delete"})
	alice := s.toolAs("alice")
	const undeletable, refusal = "cannot set an ownerRef on a resource you can't delete", "change owner references only if you may delete the object"
	alice.gc("collect", "-n", ns, "--dry-run=server").exits(t, 1).
		shows(t, "failed  unlink", "ConfigMap/shared", undeletable, refusal, "The API server would accept 1 of 2 steps")
	// One of these patches is tried with a dry run first, so that no run stops halfway.
	alice.gc("collect", "-n", ns, "--yes").exits(t, 1).shows(t, "failed   unlink", "nothing was changed", "1 skipped, 1 failed").warns(t, undeletable, refusal)
	s.requireUnchanged(shared, orphan)
	if got := s.tool().collect("-n", ns); got.Summary.Done != 2 {
		t.Errorf("who may delete it: %+v", got.Summary)
	}

	blocks := s.create(secret(ns, "blocks", ownedBy(withFormerUID(referenceTo(deployment, blocking)))))
	for _, how := range []string{"--dry-run=server", "--yes"} {
		requireWords(t, alice.gc("repair", "-n", ns, "--no-backup", how).exits(t, 1),
			"cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on", "block the deletion of an owner only if you may update the finalizers of that owner")
	}
	s.requireUnchanged(blocks)
	s.gc("repair", "-n", ns, "--yes", "--no-backup").exits(t, 0).shows(t, "relinked 1 in ")
}
