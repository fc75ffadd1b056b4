package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
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

func either(one, other func(*http.Request) bool) func(*http.Request) bool {
	return func(r *http.Request) bool { return one(r) || other(r) }
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
