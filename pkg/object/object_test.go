package object_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

func TestDeletingDependents(t *testing.T) {
	now := time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)
	tests := map[string]struct {
		deleted     *time.Time
		finalizers  []string
		terminating bool
		waiting     bool
	}{
		"alive":                               {},
		"alive with the foreground finalizer": {finalizers: []string{object.ForegroundFinalizer}},
		"terminating gracefully":              {deleted: &now, terminating: true},
		"terminating, held by somebody":       {deleted: &now, finalizers: []string{"example.com/hold"}, terminating: true},
		"terminating, orphaning":              {deleted: &now, finalizers: []string{object.OrphanFinalizer}, terminating: true},
		"terminating in the foreground":       {deleted: &now, finalizers: []string{"x/y", object.ForegroundFinalizer}, terminating: true, waiting: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			o := object.Object{Deleted: test.deleted, Finalizers: test.finalizers}
			if o.Terminating() != test.terminating || o.DeletingDependents() != test.waiting {
				t.Errorf("terminating %v, deleting dependents %v; want %v, %v",
					o.Terminating(), o.DeletingDependents(), test.terminating, test.waiting)
			}
		})
	}
}

func TestForeignFinalizers(t *testing.T) {
	o := object.Object{Finalizers: []string{"z/last", object.OrphanFinalizer, "a/first", object.ForegroundFinalizer}}
	if diff := cmp.Diff([]string{"z/last", "a/first"}, o.ForeignFinalizers()); diff != "" {
		t.Error(diff)
	}
	o.Finalizers = []string{object.ForegroundFinalizer}
	if got := o.ForeignFinalizers(); got != nil {
		t.Errorf("got %q, want none", got)
	}
}

func TestAt(t *testing.T) {
	o := object.Object{
		Identity: object.Identity{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "shop", Name: "web", UID: "u"},
		Aliases:  []object.Identity{{APIVersion: "extensions/v1beta1", Kind: "Deployment", Namespace: "shop", Name: "web", UID: "u"}},
	}
	tests := map[string]struct {
		apiVersion, kind, namespace, name string
		want                              bool
	}{
		"its own identity":     {"apps/v1", "Deployment", "shop", "web", true},
		"an alias":             {"extensions/v1beta1", "Deployment", "shop", "web", true},
		"another version":      {"apps/v1beta1", "Deployment", "shop", "web", false},
		"another kind":         {"apps/v1", "deployment", "shop", "web", false},
		"another namespace":    {"apps/v1", "Deployment", "", "web", false},
		"another name":         {"apps/v1", "Deployment", "shop", "we", false},
		"a mix of the two":     {"extensions/v1beta1", "Deployment", "shop", "other", false},
		"nothing in the least": {},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := o.ServedAs(test.apiVersion, test.kind, test.namespace, test.name); got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

func TestFromMeta(t *testing.T) {
	at := metav1.NewTime(time.Date(2026, 11, 20, 9, 0, 0, 0, time.FixedZone("CET", 3600)))
	grace, yes := int64(30), true
	meta := &metav1.ObjectMeta{
		Namespace: "shop", Name: "web", UID: "u", ResourceVersion: "7",
		CreationTimestamp: at, DeletionTimestamp: &at, DeletionGracePeriodSeconds: &grace,
		Finalizers:      []string{"x/y"},
		Labels:          map[string]string{"app": "web"},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "p", UID: "o", Controller: &yes}},
	}
	utc := time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)
	want := object.Object{
		Identity:        object.Identity{APIVersion: "v1", Kind: "ConfigMap", Namespace: "shop", Name: "web", UID: "u"},
		ResourceVersion: "7", Created: utc, Deleted: &utc, GraceSeconds: &grace,
		Finalizers: []string{"x/y"},
		Labels:     map[string]string{"app": "web"},
		Owners:     []object.Reference{{APIVersion: "v1", Kind: "Pod", Name: "p", UID: "o", Controller: &yes}},
	}
	if diff := cmp.Diff(want, object.FromMeta("v1", "ConfigMap", meta, true)); diff != "" {
		t.Error(diff)
	}
	if got := object.FromMeta("v1", "ConfigMap", meta, false).Labels; got != nil {
		t.Errorf("labels that nobody asked for were kept: %v", got)
	}
	if got := object.FromMeta("v1", "ConfigMap", &metav1.ObjectMeta{}, true); !got.Created.IsZero() || got.Deleted != nil || got.Owners != nil {
		t.Errorf("an empty metadata became %+v", got)
	}
}

func TestReferencesOfKeepsUnsetFlags(t *testing.T) {
	yes, no := true, false
	refs := object.ReferencesOf([]metav1.OwnerReference{
		{Name: "unset"},
		{Name: "false", Controller: &no, BlockOwnerDeletion: &no},
		{Name: "true", Controller: &yes, BlockOwnerDeletion: &yes},
	})
	want := []object.Reference{
		{Name: "unset"},
		{Name: "false", Controller: &no, BlockOwnerDeletion: &no},
		{Name: "true", Controller: &yes, BlockOwnerDeletion: &yes},
	}
	if diff := cmp.Diff(want, refs); diff != "" {
		t.Error(diff)
	}
	for i, want := range []bool{false, false, true} {
		if refs[i].Blocks() != want || refs[i].Controls() != want {
			t.Errorf("%s: blocks %v, controls %v; want %v", refs[i].Name, refs[i].Blocks(), refs[i].Controls(), want)
		}
	}
	if got := object.ReferencesOf([]metav1.OwnerReference{}); got != nil {
		t.Errorf("no references became %v, want nil", got)
	}
}

func TestReferencesOfCopies(t *testing.T) {
	flag := true
	refs := object.ReferencesOf([]metav1.OwnerReference{{Controller: &flag}})
	flag = false
	if !refs[0].Controls() {
		t.Error("a later change of the metadata changed the reference")
	}
}

func TestIdentityCompare(t *testing.T) {
	id := func(kind, namespace, name, uid, apiVersion string) object.Identity {
		return object.Identity{Kind: kind, Namespace: namespace, Name: name, UID: types.UID(uid), APIVersion: apiVersion}
	}
	sorted := []object.Identity{
		id("A", "z", "z", "z", "z"),
		id("B", "", "z", "z", "z"),
		id("B", "a", "b", "z", "z"),
		id("B", "a", "c", "a", "z"),
		id("B", "a", "c", "b", "v1"),
		id("B", "a", "c", "b", "v2"),
	}
	got := slices.Clone(sorted)
	slices.Reverse(got)
	slices.SortFunc(got, object.Identity.Compare)
	if diff := cmp.Diff(sorted, got); diff != "" {
		t.Error(diff)
	}
}

// A malformed apiVersion leads to the core group (docs/gc-semantics.md#kind-spelling).
func TestGroupVersionKind(t *testing.T) {
	tests := map[string]string{
		"v1":      "/v1, Kind=X",
		"apps/v1": "apps/v1, Kind=X",
		"/v1":     "/v1, Kind=X",
		"apps/":   "apps/, Kind=X",
		"":        "/, Kind=X",
		"/":       "/, Kind=X",
		"a/b/c":   "/, Kind=X",
	}
	for apiVersion, want := range tests {
		if got := (object.Reference{APIVersion: apiVersion, Kind: "X"}).GroupVersionKind().String(); got != want {
			t.Errorf("reference to %q: got %s, want %s", apiVersion, got, want)
		}
		if got := (object.Identity{APIVersion: apiVersion, Kind: "X"}).GroupVersionKind().String(); got != want {
			t.Errorf("identity of %q: got %s, want %s", apiVersion, got, want)
		}
	}
}

func TestString(t *testing.T) {
	if got := (object.Identity{Kind: "Pod", Namespace: "shop", Name: "web"}).String(); got != "Pod/web" {
		t.Errorf("identity: got %s", got)
	}
	if got := (object.Reference{APIVersion: "v1", Kind: "Pod", Name: "web"}).String(); got != "Pod/web" {
		t.Errorf("reference: got %s", got)
	}
}
