package e2e

import (
	"net/http"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

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

func TestCollectWithoutPermissionToListOwnersDeletesNothing(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("unlistable")
	only := s.create(configMap(ns, "only", ownedBy(missingOwner())))
	known := s.create(configMap(ns, "known", ownedBy(reference("v1", "ConfigMap", "gone", "gone"))))
	s.grant("alice", "", []any{""}, []any{"configmaps"}, []any{"list", "get", "delete", "patch"})
	alice := s.toolAs("alice")
	for _, mode := range []string{"--dry-run", "--dry-run=server"} {
		alice.gc("collect", "-n", ns, "--strict", mode).exits(t, 3).warns(t, "forbidden")
	}
	alice.gc("collect", "-n", ns, "--yes", "--strict").exits(t, 3).warns(t, "forbidden", "--strict: nothing was changed")
	s.requireUnchanged(only, known)
	alice.gc("collect", "-n", ns, "--yes").exits(t, 1).warns(t, "forbidden", "warning: the scan after the run was incomplete").
		shows(t, "delete 1. Incomplete scan.", "deleted 1", "; the scan afterwards was incomplete, so what is left is not known.")
	s.requireUnchanged(only)
	s.requireGone(known)
	alice.gc("collect", "-n", ns, "--yes").exits(t, 1).warns(t, "forbidden", "warning: the scan was incomplete, so there may be more to do than it could find").
		shows(t, "Nothing to do. Incomplete scan.")
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
	f.gc("collect", "-n", ns, "--yes").exits(t, 1).shows(t, "skipped", "not all of its dependents could be listed again")
	if s.gone(owner) || s.gone(orphaning) {
		t.Error("a finalizer is removed")
	}
	if got := s.tool().collect("-n", ns); got.Summary.Done != 2 || got.Summary.Blocked > 0 {
		t.Errorf("after a complete scan: %+v", got)
	}
	s.requireGone(owner, orphaning)
}
