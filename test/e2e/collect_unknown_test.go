package e2e

import (
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// untouched demands objects that are as they were created or read.
func (s *scene) untouched(objects ...object) {
	s.Helper()
	for _, o := range objects {
		live, err := s.at(o).Get(s.Context(), o.GetName(), metav1.GetOptions{})
		switch {
		case err != nil:
			s.Errorf("%s/%s: %v", o.GetKind(), o.GetName(), err)
		case live.GetUID() != o.GetUID() || live.GetResourceVersion() != o.GetResourceVersion():
			s.Errorf("%s/%s was changed", o.GetKind(), o.GetName())
		}
	}
}

// goes demands objects that are no longer there.
func (s *scene) goes(objects ...object) {
	s.Helper()
	for _, o := range objects {
		if !s.gone(o) {
			s.Errorf("%s/%s is still there", o.GetKind(), o.GetName())
		}
	}
}

// Forbidden, unavailable, a 404 that names nothing: none of them is absence.
func TestCollectTakesNothingForAbsentThatCouldNotBeRead(t *testing.T) {
	for name, c := range map[string]struct {
		about  func(*http.Request) bool
		answer http.HandlerFunc
	}{
		"the list of the owner's type is forbidden":       {reading(either(listOf("secrets"), getOf("secrets"))), says(403, "Forbidden", "no")},
		"the list fails, though the owner answers 404":    {reading(listOf("secrets")), says(500, "InternalError", "etcd is on fire")},
		"the owner is forbidden":                          {reading(getOf("secrets")), says(403, "Forbidden", "no")},
		"the owner answers 503":                           {reading(getOf("secrets")), says(503, "ServiceUnavailable", "later")},
		"the owner answers 404 of no object":              {reading(getOf("secrets")), notAPath},
		"the owner answers 404 of a server that starts":   {reading(getOf("secrets")), says(404, "NotFound", "the server could not find the requested resource")},
		"the owner answers something that is no object":   {reading(getOf("secrets")), func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(200) }},
		"the owner answers 401, as a token that ran out":  {reading(getOf("secrets")), says(401, "Unauthorized", "who are you?")},
		"the owner's type answers 404 of no list, either": {reading(either(listOf("secrets"), getOf("secrets"))), notAPath},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			ns := s.namespace("unknown")
			only := s.create(configMap(ns, "only", ownedBy(lost())))
			shared := s.create(configMap(ns, "shared", ownedBy(to(only), lost())))
			f := s.throughProxy(func(http.Handler) []fault { return []fault{{c.about, c.answer}} }).acting()
			got := f.tool.collect("-n", ns)
			if got.Complete || len(got.Steps) > 0 {
				t.Errorf("it claims to know: %+v", got)
			}
			f.gc("collect", "-n", ns, "--strict", "--yes").exits(t, 3).warns(t, "secrets", "--strict: nothing was changed")
			if writes := f.wrote(); len(writes) > 0 {
				t.Errorf("it writes all the same: %+v", writes[0])
			}
			s.untouched(only, shared)
		})
	}
}

func either(one, other func(*http.Request) bool) func(*http.Request) bool {
	return func(r *http.Request) bool { return one(r) || other(r) }
}

func TestCollectForAUserWhoMayNotListTheOwnersTypeDeletesNothing(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("unlistable")
	only := s.create(configMap(ns, "only", ownedBy(lost())))
	known := s.create(configMap(ns, "known", ownedBy(reference("v1", "ConfigMap", "gone", "gone"))))
	s.grant("alice", "", []any{""}, []any{"configmaps"}, []any{"list", "get", "delete", "patch"})
	alice := s.as("alice")
	for _, mode := range []string{"--dry-run", "--dry-run=server"} {
		alice.gc("collect", "-n", ns, "--strict", mode).exits(t, 3).warns(t, "forbidden")
	}
	alice.gc("collect", "-n", ns, "--yes", "--strict").exits(t, 3).warns(t, "forbidden", "--strict: nothing was changed")
	s.untouched(only, known)
	alice.gc("collect", "-n", ns, "--yes").exits(t, 1).warns(t, "forbidden", "warning: the scan after the run was incomplete").
		shows(t, "delete 1. Incomplete scan.", "deleted 1", "; the scan afterwards was incomplete, so what is left is not known.")
	s.untouched(only)
	s.goes(known)
	alice.gc("collect", "-n", ns, "--yes").exits(t, 1).warns(t, "forbidden", "warning: the scan was incomplete, so there may be more to do than it could find").
		shows(t, "Nothing to do. Incomplete scan.")
}

// Nothing binds the removal of a finalizer to what depends on the object.
func TestCollectRemovesNoFinalizerWhereDependentsMayBeUnseen(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("unseen")
	owner := s.create(configMap(ns, "owner"))
	s.remove(owner, metav1.DeletePropagationForeground)
	orphaning := s.create(configMap(ns, "orphaning"))
	s.remove(orphaning, metav1.DeletePropagationOrphan)
	failing := func(about func(*http.Request) bool) *recordingProxy {
		return s.throughProxy(func(http.Handler) []fault {
			return []fault{{reading(about), says(500, "InternalError", "etcd is on fire")}}
		}).acting()
	}
	f := failing(listOf("secrets"))
	if got := f.tool.collect("-n", ns); len(got.Steps) > 0 || got.Summary.Blocked != 2 {
		t.Errorf("%+v", got)
	}
	f.gc("collect", "-n", ns, "--yes").exits(t, 1).shows(t, "blocked", "ConfigMap/owner", "ConfigMap/orphaning")

	// The same where it is only the last look before the removal that fails.
	f = failing(again(func(r *http.Request) bool { return r.URL.Path == "/apis/coordination.k8s.io/v1/leases" }))
	f.gc("collect", "-n", ns, "--yes").exits(t, 1).shows(t, "skipped", "not all of its dependents could be listed again")
	if s.gone(owner) || s.gone(orphaning) {
		t.Error("a finalizer is removed all the same")
	}
	if got := s.tool().collect("-n", ns); got.Summary.Done != 2 || got.Summary.Blocked > 0 {
		t.Errorf("with a whole view: %+v", got)
	}
	s.goes(owner, orphaning)
}

// A server that is asked for each group by itself, as those before 1.30 are, may tell
// a user of some only. What is in the others may own, and may depend.
func TestCollectWithoutTheDiscoveryOfAGroupLeavesWhatItMayHold(t *testing.T) {
	s := newScene(t)
	s.custom()
	ns := s.namespace("undiscovered")
	orphan := s.create(configMap(ns, "orphan", ownedBy(lost())))
	doubtful := s.create(configMap(ns, "doubtful", ownedBy(reference(customGroup+"/v1", "Widget", "gone", "gone"))))
	waiting := s.create(secret(ns, "waiting"))
	hidden := s.create(widget(ns, "hidden", ownedBy(to(waiting, blocking))))
	s.remove(waiting, metav1.DeletePropagationForeground)
	waiting = s.live(waiting)
	f := s.throughProxy(func(through http.Handler) []fault {
		root := func(r *http.Request) bool { return r.URL.Path == "/api" || r.URL.Path == "/apis" }
		return []fault{
			{root, func(w http.ResponseWriter, r *http.Request) {
				r.Header.Set("Accept", "application/json")
				through.ServeHTTP(w, r)
			}},
			{func(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/apis/"+customGroup+"/") }, says(403, "Forbidden", "you may not")},
		}
	}).acting()
	f.gc("collect", "-n", ns, "--strict", "--yes", "--no-backup").exits(t, 3).warns(t, customGroup, "forbidden")
	s.untouched(orphan, doubtful, waiting, hidden)
	f.gc("collect", "-n", ns, "--yes", "--no-backup").warns(t, customGroup, "forbidden").shows(t, "deleted 1 in ")
	s.goes(orphan)
	s.untouched(doubtful, waiting, hidden)
	s.gc("collect", "-n", ns, "--yes", "--no-backup").exits(t, 0).shows(t, "deleted 2, removed finalizer 1 in ")
	s.goes(doubtful, waiting, hidden)
}
