package e2e

import (
	"context"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestCollectServerDryRunChangesNothing(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("rehearsed")
	s.createEveryAction(ns)
	planned := s.tool().plan("-n", ns)
	f := s.throughProxy(nil).allowWrites()
	got := decode[collected](t, f.gc("collect", "-n", ns, "--dry-run=server", "-o", "json").exits(t, 0))
	if got.Digest != planned.Digest || !got.DryRun || got.Summary != (collectedSummary{Done: len(planned.Steps)}) {
		t.Errorf("%+v", got)
	}
	for _, w := range f.recordedWrites() {
		if w.Method == "PATCH" && w.Query.Get("dryRun") != "All" || w.Method == "DELETE" && !strings.Contains(w.Body, `"dryRun":["All"]`) {
			t.Errorf("%s %s?%s is not a dry run: %s", w.Method, w.Path, w.Query.Encode(), w.Body)
		}
	}
	if again := s.tool().plan("-n", ns); again.Digest != planned.Digest {
		t.Error("the plan has changed")
	}
	for _, step := range planned.Steps {
		o := newObject(step.Object.APIVersion, step.Object.Kind, step.Object.Namespace, step.Object.Name)
		if live, err := s.client(o).Get(t.Context(), step.Object.Name, metav1.GetOptions{}); err != nil || live.GetResourceVersion() != step.Object.ResourceVersion {
			t.Errorf("%s was changed: %v", step.Object.identity, err)
		}
	}
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

func TestCollectServerDryRunShowsAdmissionErrors(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("admission")
	protected := s.create(configMap(ns, "protected", ownedBy(missingOwner())))
	plain := s.create(configMap(ns, "plain", ownedBy(missingOwner())))
	s.denyWrites(ns, "protected")
	s.gc("collect", "-n", ns, "--dry-run=server").exits(t, 1).
		shows(t, "failed  delete", "ConfigMap/protected", "this one is under protection", "The API server would accept 1 of 2 steps")
	s.requireUnchanged(protected, plain)
	s.gc("collect", "-n", ns, "--yes").exits(t, 1).
		shows(t, "ConfigMap/protected", "this one is under protection", "deleted 1", "1 failed", "a scan afterwards found 1 more to do")
	s.requireUnchanged(protected)
	s.requireGone(plain)
}

// With the admission plugin OwnerReferencesPermissionEnforcement, only users who may delete an
// object may change its owner references. Controllers failed because of it in operator-sdk#4020
// and kserve#2838.
func TestCollectUnderOwnerReferencesPermissionEnforcement(t *testing.T) {
	s := withPermissionEnforcement.newScene(t)
	ns := s.namespace("enforced")
	owner := s.create(secret(ns, "owner"))
	shared := s.create(configMap(ns, "shared", ownedBy(referenceTo(owner), missingOwner())))
	orphan := s.create(secret(ns, "orphan", ownedBy(missingOwner())))
	s.grant("alice", "", []any{"*"}, []any{"*"}, []any{"list", "get", "patch"})
	s.grant("alice", ns, []any{""}, []any{"secrets"}, []any{"delete"})
	alice := s.toolAs("alice")
	const refusal = "cannot set an ownerRef on a resource you can't delete"
	begun := time.Now()
	alice.gc("collect", "-n", ns, "--dry-run=server").exits(t, 1).
		shows(t, "failed  unlink", "ConfigMap/shared", refusal, "only who may delete an object may change its owner references", "The API server would accept 1 of 2 steps")
	if took := time.Since(begun); took > waitTimeout/3 {
		t.Errorf("it takes %s, although a refused request must not be repeated", took)
	}
	s.requireUnchanged(shared, orphan)
	// One of these patches is tried with a dry run first, so that no run stops halfway.
	alice.gc("collect", "-n", ns, "--yes").exits(t, 1).shows(t, "failed   unlink", "nothing was changed", "1 skipped, 1 failed").warns(t, refusal, "only who may delete an object may change its owner references")
	s.requireUnchanged(shared, orphan)
	if got := s.tool().collect("-n", ns); got.Summary.Done != 2 {
		t.Errorf("who may delete it: %+v", got.Summary)
	}
}
