package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// proxyCalling returns a proxy that calls do just before the first matching request is answered.
func (s *scene) proxyCalling(about func(*http.Request) bool, do func()) *recordingProxy {
	s.Helper()
	return s.throughProxy(func(through http.Handler) []fault { return []fault{{firstOnly(about), beforeResponse(through, do)}} }).allowWrites()
}

// These scenarios of the collector's rules need a change between the scan and the write. One run meets them all.
func TestCollectDecidesAgainAfterChange(t *testing.T) {
	s := newScene(t)
	s.defineTestKinds()
	ns := s.namespace("derived")
	owner := s.create(secret(ns, "owner"))
	leaving := s.create(configMap(ns, "leaving"))
	waiting := s.create(configMap(ns, "waiting", heldBy("example.com/hold")))
	orphaned, half := []metav1.OwnerReference{missingOwner()}, []metav1.OwnerReference{referenceTo(owner), missingOwner()}
	request := func(method string) func(string) func(*http.Request) bool {
		return func(name string) func(*http.Request) bool {
			return func(r *http.Request) bool { return r.Method == method && single("widgets", name)(r) }
		}
	}
	deletion, patch := request(http.MethodDelete), request(http.MethodPatch)
	cases := []struct {
		name            string
		owners          []metav1.OwnerReference
		before          func(name string) func(*http.Request) bool
		do              func(o object)
		status, message string
		left            []metav1.OwnerReference // of an object that is not deleted
	}{
		{name: "L27 a custom resource loses its last reference", owners: []metav1.OwnerReference{referenceTo(leaving)}, before: patch, do: func(object) {}, status: "done"},
		{
			name: "L27 after a conflict the decision is the same", owners: half, before: patch, status: "done", left: []metav1.OwnerReference{referenceTo(owner)},
			do: func(o object) { s.setOwners(o, missingOwner(), referenceTo(owner)) },
		},
		{
			name: "L27 after a conflict the decision is different", owners: half, before: patch, status: "skipped", message: "nothing to do: it is already in this state",
			do: func(o object) { s.setOwners(o, referenceTo(owner)) }, left: []metav1.OwnerReference{referenceTo(owner)},
		},
		{
			name: "L28 the object was replaced", owners: orphaned, before: deletion, status: "skipped", message: "already gone",
			do: func(o object) { s.setOwners(s.replace(o), missingOwner()) },
		},
		{
			name: "L29 it got another owner that exists", owners: orphaned, before: deletion, status: "skipped", message: "its owner Secret/owner exists",
			do: func(o object) { s.setOwners(o, referenceTo(owner)) }, left: []metav1.OwnerReference{referenceTo(owner)},
		},
		{
			name: "L29 it got another owner that does not exist", owners: orphaned, before: deletion, status: "done",
			do: func(o object) { s.setOwners(o, reference("v1", "ConfigMap", "gone", "gone")) },
		},
		{
			name: "L29 it got an owner that cannot be judged", owners: orphaned, before: deletion, status: "skipped", message: "the garbage collector cannot resolve",
			do:   func(o object) { s.setOwners(o, missingOwner(), reference("example.com/v1", "Nothing", "x", "x")) },
			left: []metav1.OwnerReference{missingOwner(), reference("example.com/v1", "Nothing", "x", "x")},
		},
		{
			name: "L29 an unrelated change", owners: orphaned, before: deletion, status: "done",
			do: func(o object) { s.patch(o, `{"metadata":{"labels":{"a":"b"}}}`) },
		},
		{
			name: "a waiting owner became solid before its dependent was deleted", owners: []metav1.OwnerReference{referenceTo(waiting)},
			before: func(string) func(*http.Request) bool { return reading(single("configmaps", "waiting")) },
			do:     func(object) { s.patch(waiting, `{"metadata":{"finalizers":["example.com/hold"]}}`) },
			status: "skipped", message: "its owner ConfigMap/waiting exists", left: []metav1.OwnerReference{referenceTo(waiting)},
		},
	}
	objects := make([]object, len(cases))
	for i, c := range cases {
		objects[i] = s.create(widget(ns, fmt.Sprint("subject-", i), ownedBy(c.owners...)))
	}
	s.remove(leaving, metav1.DeletePropagationOrphan)
	s.remove(waiting, metav1.DeletePropagationForeground)
	f := s.throughProxy(func(through http.Handler) (faults []fault) {
		for i, c := range cases {
			faults = append(faults, fault{firstOnly(c.before(objects[i].GetName())), beforeResponse(through, func() { c.do(objects[i]) })})
		}
		return faults
	}).allowWrites()
	got := f.tool.collect("-n", ns)
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := s.forSubtest(t)
			at := slices.IndexFunc(got.Steps, func(s collectedStep) bool { return s.Object.UID == string(objects[i].GetUID()) })
			if at < 0 {
				t.Fatal("nothing was planned")
			}
			step := got.Steps[at]
			if step.Status != c.status || !strings.Contains(step.Result.Message, c.message) {
				t.Errorf("%s is %s: %q, want %s: %q", step.Action, step.Status, step.Result.Message, c.status, c.message)
			}
			deleted := step.Action == "delete" && c.status == "done" || c.message == "already gone"
			if deleted != s.gone(objects[i]) {
				t.Fatalf("it is gone: %t", !deleted)
			}
			if !deleted {
				s.requireReferences(objects[i], c.left...)
			}
		})
	}
}

// requireUnchanged requires that objects are as they were when they were created or read.
func (s *scene) requireUnchanged(objects ...object) {
	s.Helper()
	for _, o := range objects {
		live, err := s.client(o).Get(s.Context(), o.GetName(), metav1.GetOptions{})
		switch {
		case err != nil:
			s.Errorf("%s/%s: %v", o.GetKind(), o.GetName(), err)
		case live.GetUID() != o.GetUID() || live.GetResourceVersion() != o.GetResourceVersion():
			s.Errorf("%s/%s was changed", o.GetKind(), o.GetName())
		}
	}
}

// requireGone requires that objects no longer exist.
func (s *scene) requireGone(objects ...object) {
	s.Helper()
	for _, o := range objects {
		if !s.gone(o) {
			s.Errorf("%s/%s is still there", o.GetKind(), o.GetName())
		}
	}
}

// Errors such as forbidden, or a 404 without a name, do not prove that an owner is absent. test/trust has many more.
func TestCollectTreatsUnreadableOwnerAsUnknown(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("unknown")
	only := s.create(configMap(ns, "only", ownedBy(missingOwner())))
	shared := s.create(configMap(ns, "shared", ownedBy(referenceTo(only), missingOwner())))
	for name, c := range map[string]fault{
		"the list of the owner's type is forbidden":               {reading(either(listOf("secrets"), getOf("secrets"))), respondStatus(403, "Forbidden", "no")},
		"the list fails, but the GET of the owner answers 404":    {reading(listOf("secrets")), respondStatus(500, "InternalError", "etcd is on fire")},
		"the GET of the owner answers a 404 without a name":       {reading(getOf("secrets")), respondUnknownPath},
		"the GET of the owner answers a 404 of a starting server": {reading(getOf("secrets")), respondStatus(404, "NotFound", "the server could not find the requested resource")},
	} {
		t.Run(name, func(t *testing.T) {
			s := s.forSubtest(t)
			f := s.throughProxy(func(http.Handler) []fault { return []fault{c} }).allowWrites()
			if got := f.tool.collect("-n", ns); got.Complete || len(got.Steps) > 0 {
				t.Errorf("it claims to know: %+v", got)
			}
			if writes := f.recordedWrites(); len(writes) > 0 {
				t.Errorf("it sends a write: %+v", writes[0])
			}
			s.requireUnchanged(only, shared)
		})
	}
}

func either(one, other func(*http.Request) bool) func(*http.Request) bool {
	return func(r *http.Request) bool { return one(r) || other(r) }
}

// The API server accepts the removal of a finalizer whatever depends on the object, so the
// program has to be sure that it knows all dependents.
func TestCollectKeepsFinalizerIfDependentsAreUnknown(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("unseen")
	owner := s.create(configMap(ns, "owner"))
	s.remove(owner, metav1.DeletePropagationForeground)
	orphaning := s.create(configMap(ns, "orphaning"))
	s.remove(orphaning, metav1.DeletePropagationOrphan)
	failing := func(about func(*http.Request) bool) *recordingProxy {
		return s.throughProxy(func(http.Handler) []fault {
			return []fault{{reading(about), respondStatus(500, "InternalError", "etcd is on fire")}}
		}).allowWrites()
	}
	f := failing(listOf("secrets"))
	if got := f.tool.collect("-n", ns); len(got.Steps) > 0 || got.Summary.Blocked != 2 {
		t.Errorf("%+v", got)
	}
	f.gc("collect", "-n", ns, "--yes").exits(t, 1).shows(t, "blocked", "ConfigMap/owner", "ConfigMap/orphaning")

	// The same, if only the last list before the removal fails.
	f = failing(exceptFirst(func(r *http.Request) bool { return r.URL.Path == "/apis/coordination.k8s.io/v1/leases" }))
	f.gc("collect", "-n", ns, "--yes").exits(t, 1).shows(t, "skipped", "this tool could not list all of its dependents again")
	if s.gone(owner) || s.gone(orphaning) {
		t.Error("a finalizer is removed")
	}
	if got := s.tool().collect("-n", ns); got.Summary.Done != 2 || got.Summary.Blocked > 0 {
		t.Errorf("after a complete scan: %+v", got)
	}
	s.requireGone(owner, orphaning)
}

// A Namespace or CustomResourceDefinition whose contents cannot be listed is not deleted, and the
// output names the type that could not be listed.
func TestCollectKeepsNamespaceAndCRDWithUnlistableContents(t *testing.T) {
	s := newScene(t)
	const group = "contents.example.com"
	gone := ownedBy(reference("v1", "Namespace", "gone", "gone"))
	crd := definition(group, "Crate", "Namespaced", version("v1", true))
	gone(crd)
	s.define(crd)
	crd = s.live(crd)
	ns := s.namespace("contents")
	crate := s.create(newObject(group+"/v1", "Crate", ns, "one"))
	space := s.create(newObject("v1", "Namespace", "", ns+"-doomed", gone))
	inside := []object{s.create(secret(ns+"-doomed", "a")), s.create(secret(ns+"-doomed", "b")), s.create(secret(ns+"-doomed", "c"))}

	f := s.throughProxy(func(http.Handler) []fault {
		return []fault{
			{reading(listOf("secrets")), respondStatus(403, "Forbidden", "no")},
			{reading(listOf("crates")), respondStatus(500, "InternalError", "conversion webhook for contents.example.com/v1, Kind=Crate failed: no route to host")},
		}
	}).allowWrites()
	f.gc("collect", "--yes", "--rule", "missing-owner", "--no-backup").exits(t, 1).shows(t,
		"Namespace/"+space.GetName(), "this tool could not list its contents: ", "secrets (forbidden)",
		"CustomResourceDefinition/"+crd.GetName(), "crates."+group+" (conversion-webhook)")
	for _, more := range []string{"--client-side", "--no-backup"} {
		f.gc("delete", "namespace/"+space.GetName(), "--yes", more).exits(t, 1).shows(t, "this tool could not list its contents: ", "secrets (forbidden)")
		f.gc("delete", "crd/"+crd.GetName(), "--yes", more).exits(t, 1).shows(t, "this tool could not list its contents: crates."+group+" (conversion-webhook)")
	}
	s.requireUnchanged(append(inside, crate, space, crd)...)
}

// An object that is created in a Namespace after the preview keeps the Namespace from being
// deleted.
func TestCollectKeepsNamespaceWithObjectCreatedAfterPreview(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("appears")
	space := s.create(newObject("v1", "Namespace", "", ns+"-doomed", ownedBy(reference("v1", "Namespace", "gone", "gone"))))
	old := s.create(configMap(space.GetName(), "old"))
	var late object
	f := s.throughProxy(func(through http.Handler) []fault {
		discoveries := 0
		return []fault{{reading(listOf("apis")), func(w http.ResponseWriter, r *http.Request) {
			if discoveries++; discoveries == 2 { // before the namespace is listed again
				late = s.create(secret(space.GetName(), "late"))
			}
			through.ServeHTTP(w, r)
		}}}
	}).allowWrites()
	f.gc("delete", "namespace/"+space.GetName(), "--yes").exits(t, 1).shows(t, "refused: it now contains Secret/late, which was not in the plan")
	s.requireUnchanged(old, late)
	s.gc("delete", "namespace/"+space.GetName(), "--yes", "--wait=false").exits(t, 0)
	if s.live(space).GetDeletionTimestamp() == nil {
		t.Error("it is not being deleted, though the preview showed all that is in it")
	}
}

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

	const hint = "hint: with --accept-gap " + group + ", this would also process 1 more object, although it could not read everything that is related to them: ConfigMap/release"
	s.gc("collect", "-n", ns, "--dry-run").exits(t, 0).shows(t, "blocked", "keeps its finalizer").warns(t, hint)
	s.gc("collect", "-n", ns, "--yes").exits(t, 1).warns(t, hint)
	s.gc("collect", "-n", ns, "--yes", "--accept-gap", "secrets").exits(t, 1).
		warns(t, "warning: --accept-gap secrets has no effect", hint)
	s.requireUnchanged(release)

	accepted := s.gc("collect", "-n", ns, "--dry-run", "--accept-gap", group).exits(t, 0).
		shows(t, "Accepted, although this tool could not read it: "+group+". These actions depend on it:",
			"ConfigMap/release -n "+ns+": its finalizer foregroundDeletion is removed, although this tool could not read "+group).
		warns(t, "kubectl gc collect --accept-gap "+group+" -n "+ns+" --confirm ")
	if strings.Contains(accepted.Stderr, "hint:") {
		t.Errorf("what is accepted is proposed: %s", accepted.Stderr)
	}
	plain := s.tool().plan("-n", ns).Digest
	s.gc("collect", "-n", ns, "--accept-gap", group, "--confirm", plain).exits(t, 4)
	s.gc("collect", "-n", ns, "--accept-gap", group).exits(t, 4)
	s.gc("collect", "-n", ns, "--yes", "--strict").exits(t, 3)
	s.requireUnchanged(release)

	s.gc("collect", "-n", ns, "--yes", "--strict", "--accept-gap", group).exits(t, 0)
	s.requireGone(release)
}

func TestDeleteOfNamespaceBeginsIfUnavailableAPIIsAccepted(t *testing.T) {
	const group = "metrics.k8s.io"
	s := newScene(t)
	s.brokenAPIService(group)
	space := s.live(newObject("v1", "Namespace", "", s.namespace("accept-space")))
	s.gc("delete", "namespace/"+space.GetName(), "--yes").exits(t, 1).
		shows(t, "because this tool could not list its contents: API group "+group).warns(t, "hint: with --accept-gap "+group)
	s.requireUnchanged(space)
	s.gc("delete", "namespace/"+space.GetName(), "--yes", "--wait=false", "--accept-gap", group).exits(t, 0).
		shows(t, "its "+group+" are deleted, too, although this tool could not read them or back them up")
	space = s.live(space)
	if space.GetDeletionTimestamp() == nil {
		t.Error("it is not being deleted")
	}
	// There is no namespace controller, and whoever reads the whole cluster later would find it stuck.
	unstructured.RemoveNestedField(space.Object, "spec", "finalizers")
	_, err := s.client(space).Update(t.Context(), space.Unstructured, metav1.UpdateOptions{}, "finalize")
	s.must(err)
}

// proxyAfterDelete returns a proxy that applies the fault only from the first DELETE on.
func (s *scene) proxyAfterDelete(f fault) *recordingProxy {
	s.Helper()
	var begun atomic.Bool
	return s.throughProxy(func(http.Handler) []fault {
		return []fault{{func(r *http.Request) bool {
			if r.Method == http.MethodDelete {
				begun.Store(true)
			}
			return begun.Load() && f.matches(r)
		}, f.answer}}
	}).allowWrites()
}

// verified is what the result of any command says about the scan after the run.
type verified struct {
	Complete     bool   `json:"complete"`
	Verification string `json:"verification"`
	Gaps         []gap  `json:"gaps"`
}

func verifiedBy(t testing.TB, r result) (out verified) {
	t.Helper()
	if err := json.Unmarshal([]byte(r.Stdout), &out); err != nil {
		t.Fatalf("%v: %s", err, short(r.Stdout))
	}
	return out
}

// Completed steps do not prove that nothing is left. Only a complete scan after the run does. That every command
// keeps to that is tested in pkg/cli and test/trust.
func TestRunSucceedsOnlyAfterCompleteScanFindsNothingLeft(t *testing.T) {
	s := newScene(t)
	gap := fault{reading(listOf("leases")), respondStatus(500, "InternalError", "etcd is on fire")}
	root := func(r *http.Request) bool { return r.URL.Path == "/api" || r.URL.Path == "/apis" }
	failed := fault{reading(root), respondStatus(503, "ServiceUnavailable", "later")}
	for name, c := range map[string]struct {
		args         string
		fault        fault
		code         int
		verification string
		warns        string
	}{
		"a scan with a gap":                {"collect", gap, 1, "incomplete", "warning: the scan after the run was incomplete, so more may be left than it could find"},
		"a scan with a gap, and --strict":  {"collect --strict", gap, 3, "incomplete", "leases.coordination.k8s.io"},
		"a scan that failed":               {"delete configmap/orphan --client-side", failed, 1, "failed", "warning: the scan after the run failed, so more may be left: "},
		"a scan that failed, and --strict": {"delete configmap/orphan --client-side --strict", failed, 3, "failed", "warning: the scan after the run failed"},
	} {
		t.Run(name, func(t *testing.T) {
			s := s.forSubtest(t)
			ns := s.namespace("verified")
			orphan := s.create(configMap(ns, "orphan", ownedBy(missingOwner())))
			r := s.proxyAfterDelete(c.fault).gc(append(strings.Fields(c.args), "-n", ns, "--yes", "-o", "json")...).exits(t, c.code).warns(t, c.warns)
			s.requireGone(orphan)
			got := verifiedBy(t, r)
			if got.Verification != c.verification || !got.Complete || (c.verification == "incomplete") != (len(got.Gaps) > 0) {
				t.Errorf("the verification is %s, with the gaps %+v", got.Verification, got.Gaps)
			}
		})
	}
}

// Objects that become garbage during a run are reported as left.
func TestGarbageLeftAfterRunFailsIt(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("meanwhile")
	orphan := s.create(configMap(ns, "orphan", ownedBy(missingOwner())))
	var more object
	f := s.proxyCalling(deleting(single("configmaps", "orphan")), func() { more = s.create(configMap(ns, "more", ownedBy(missingOwner()))) })
	f.gc("collect", "-n", ns, "--yes").exits(t, 1).shows(t, "deleted 1 in ", "a scan afterwards found 1 more to do.")
	s.requireGone(orphan)
	s.requireUnchanged(more)
}
