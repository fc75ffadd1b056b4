package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
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

// createEveryAction creates objects for which a plan needs every action with every propagation
// policy, on built-in and on custom types.
func (s *scene) createEveryAction(ns string) {
	s.Helper()
	s.defineTestKinds()
	owner := s.create(secret(ns, "owner"))
	s.create(configMap(ns, "orphan", ownedBy(missingOwner())))
	s.create(widget(ns, "orphan", ownedBy(missingOwner())))
	s.create(configMap(ns, "shared", ownedBy(referenceTo(owner), missingOwner())))
	s.create(widget(ns, "shared", ownedBy(missingOwner(), referenceTo(owner))))
	// This one waits for a dependent that has a dependent itself, so it is deleted in the
	// foreground.
	waiting := s.create(widget(ns, "waiting"))
	child := s.create(configMap(ns, "child", ownedBy(referenceTo(waiting, blocking))))
	s.create(secret(ns, "grandchild", ownedBy(referenceTo(child, blocking))))
	s.remove(waiting, metav1.DeletePropagationForeground)
	// Its finalizer asks the collector to orphan its dependents.
	leaving := s.create(configMap(ns, "leaving", ownedBy(missingOwner()), heldBy("orphan")))
	s.create(secret(ns, "left", ownedBy(referenceTo(leaving))))
	// One of the two objects of this cycle is deleted in the foreground.
	one, two := s.create(widget(ns, "one")), s.create(widget(ns, "two"))
	s.setOwners(one, referenceTo(two, blocking))
	s.setOwners(two, referenceTo(one, blocking))
	s.remove(one, metav1.DeletePropagationForeground)
}

func TestCollectSendsPreconditionsWithEveryWrite(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("bound-writes")
	s.createEveryAction(ns)
	planned := s.tool().plan("-n", ns)
	uids := map[string]bool{}
	for _, step := range planned.Steps {
		uids[step.Object.Name+" "+step.Object.UID] = true
	}
	f := s.throughProxy(nil).allowWrites()
	got := f.tool.collect("-n", ns)
	if got.Summary.Done != len(planned.Steps) || got.Summary.Left+got.Summary.Blocked > 0 {
		t.Errorf("of %d steps: %+v", len(planned.Steps), got.Summary)
	}
	writes := slices.DeleteFunc(f.recordedWrites(), func(w recordedWrite) bool { return w.Query.Has("dryRun") }) // whether admission accepts a removal
	if len(writes) != len(planned.Steps) {
		t.Errorf("%d writes for %d steps", len(writes), len(planned.Steps))
	}
	met := map[string]bool{}
	for _, w := range writes {
		uid, act := "", w.Method
		switch w.Method {
		case http.MethodDelete:
			uid, act = boundDelete(t, w)
		case http.MethodPatch:
			uid = boundPatch(t, w)
		default:
			t.Errorf("it sends %s %s", w.Method, w.Path)
		}
		met[act] = true
		if !uids[w.name()+" "+uid] {
			t.Errorf("%s %s is bound to the UID %q, which is not that of a planned object", w.Method, w.Path, uid)
		}
	}
	for _, act := range []string{"Background", "Foreground", "Orphan", http.MethodPatch} {
		if !met[act] {
			t.Errorf("no write with %s: the scene shows too little", act)
		}
	}
}

// boundDelete checks the body of a DELETE and returns its UID precondition and its policy.
func boundDelete(t *testing.T, w recordedWrite) (uid, policy string) {
	t.Helper()
	var body struct {
		APIVersion    string `json:"apiVersion"`
		Kind          string `json:"kind"`
		Preconditions struct {
			UID             string `json:"uid"`
			ResourceVersion string `json:"resourceVersion"`
		} `json:"preconditions"`
		PropagationPolicy string `json:"propagationPolicy"`
	}
	d := json.NewDecoder(bytes.NewReader([]byte(w.Body)))
	d.DisallowUnknownFields()
	if err := d.Decode(&body); err != nil {
		t.Errorf("DELETE %s: %v in %s", w.Path, err, w.Body)
	}
	if body.Preconditions.UID == "" || body.Preconditions.ResourceVersion == "" || body.PropagationPolicy == "" {
		t.Errorf("DELETE %s is bound to nothing, or has no policy: %s", w.Path, w.Body)
	}
	return body.Preconditions.UID, body.PropagationPolicy
}

// boundPatch checks the body of a PATCH and returns its UID precondition.
func boundPatch(t *testing.T, w recordedWrite) (uid string) {
	t.Helper()
	var ops []struct{ Op, Path, Value string }
	var raw []map[string]any
	if err := json.Unmarshal([]byte(w.Body), &raw); err != nil || w.Type != "application/json-patch+json" {
		t.Errorf("PATCH %s: %v in %s %s", w.Path, err, w.Type, w.Body)
	}
	for _, op := range raw {
		ops = append(ops, struct{ Op, Path, Value string }{fmt.Sprint(op["op"]), fmt.Sprint(op["path"]), fmt.Sprint(op["value"])})
	}
	version := false
	for _, op := range ops {
		switch {
		case op.Op == "test" && op.Path == "/metadata/uid":
			uid = op.Value
		case op.Op == "replace" && op.Path == "/metadata/resourceVersion":
			version = op.Value != ""
		}
	}
	if uid == "" || !version {
		t.Errorf("PATCH %s is bound to nothing: %s", w.Path, w.Body)
	}
	return uid
}

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

// collect --from FILE must print exactly what it prints when it reads the cluster, except for the
// name of the file, and the hint how to apply the plan, which a file cannot support.
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
			if diff := cmp.Diff(sourceless(live.Stdout), sourceless(saved.Stdout)); diff != "" || saved.Stderr != "" {
				t.Errorf("kubectl gc %s: live (-) and from a file (+) differ:\n%s%s", live.output(), short(diff), saved.Stderr)
			}
			if format == "table" {
				saved.shows(t, "must stop first (grace period)")
			}
		}
	}
}
