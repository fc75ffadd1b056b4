package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
			name: "L29 it got an owner that cannot be judged", owners: orphaned, before: deletion, status: "skipped", message: "cannot be resolved",
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
