package e2e

import (
	"net/http"
	"testing"
)

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
		"Namespace/"+space.GetName(), "its contents could not be listed: ", "secrets (forbidden)",
		"CustomResourceDefinition/"+crd.GetName(), "crates."+group+" (conversion-webhook)")
	for _, more := range []string{"--client-side", "--no-backup"} {
		f.gc("delete", "namespace/"+space.GetName(), "--yes", more).exits(t, 1).shows(t, "its contents could not be listed: ", "secrets (forbidden)")
		f.gc("delete", "crd/"+crd.GetName(), "--yes", more).exits(t, 1).shows(t, "its contents could not be listed: crates."+group+" (conversion-webhook)")
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
	f.gc("delete", "namespace/"+space.GetName(), "--yes").exits(t, 1).shows(t, "Secret/late in it was not in the plan")
	s.requireUnchanged(old, late)
	s.gc("delete", "namespace/"+space.GetName(), "--yes", "--wait=false").exits(t, 0)
	if s.live(space).GetDeletionTimestamp() == nil {
		t.Error("it is not being deleted, though the preview showed all that is in it")
	}
}
