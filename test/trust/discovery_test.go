package trust

import (
	"net/http"
	"testing"

	apidiscovery "k8s.io/api/apidiscovery/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	status404 = Refuse(apierrors.NewGenericServerResponse(http.StatusNotFound, "get", schema.GroupResource{}, "", "", 0, true))
	success   = Document(metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusSuccess})
	text404   = Text(http.StatusNotFound, "text/plain", "404 page not found\n")
)

// Defect 2: types missing from discovery counted as types that do not exist. The orphan finalizer
// of an object was removed although its dependents were never listed, and the next run deleted
// them.
func TestTypesMissingFromDiscoveryAreUnknown(t *testing.T) {
	t.Parallel()
	empty := func(l *apidiscovery.APIGroupDiscoveryList) { l.Items = nil }
	apps := schema.GroupVersion{Group: "apps", Version: "v1"}
	for name, c := range map[string]struct {
		hidden *Type // the type of the dependents
		lies   func(*Server)
	}{
		"a 404 of /api in plain text": {Secrets, func(s *Server) { s.Lie(Path("/api"), text404) }},
		"a 404 of /api as a Status":   {Secrets, func(s *Server) { s.Lie(Path("/api"), status404) }},

		"an empty /api": {Secrets, func(s *Server) { s.Lie(Path("/api"), s.EditedGroups(empty)) }},
		"an empty /api, in JSON": {Secrets, func(s *Server) {
			s.JSON = true
			s.Lie(Path("/api"), s.EditedGroups(empty))
		}},
		"an empty /apis": {ReplicaSets, func(s *Server) { s.Lie(Path("/apis"), s.EditedGroups(empty)) }},
		"an empty /apis, before 1.30": {ReplicaSets, func(s *Server) {
			s.Legacy = true
			s.Lie(Path("/apis"), Document(metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}}))
		}},
		"the document of /apis at /api": {Secrets, func(s *Server) {
			s.Lie(Path("/api"), Document(metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}}))
		}},
		"the document of /api at /apis": {ReplicaSets, func(s *Server) {
			s.Lie(Path("/apis"), Document(metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}}))
		}},
		"a document of discovery without its field": {Secrets, func(s *Server) {
			s.Lie(Path("/api"), Document(map[string]any{"apiVersion": "apidiscovery.k8s.io/v2", "kind": "APIGroupDiscoveryList"}))
		}},

		"a starting server that does not serve apps yet":         {ReplicaSets, func(s *Server) { s.Lie(Path("/apis"), s.EditedGroups(Without("apps"))) }},
		"a starting server that does not serve custom types yet": {Widgets, func(s *Server) { s.Lie(Path("/apis"), s.EditedGroups(Without(Widgets.Group))) }},
		"a version of a group without types": {ReplicaSets, func(s *Server) {
			s.Lie(Path("/apis"), s.EditedGroups(func(l *apidiscovery.APIGroupDiscoveryList) {
				for i := range l.Items {
					if l.Items[i].Name == "apps" {
						l.Items[i].Versions[0].Resources = nil
					}
				}
			}))
		}},
		"a version of a group without types, before 1.30": {ReplicaSets, func(s *Server) {
			s.Legacy = true
			s.Lie(Path("/apis/apps/v1"), Document(metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList"}, GroupVersion: apps.String()}))
		}},
		"a group that is stale, and then gone": {ReplicaSets, func(s *Server) {
			s.Lie(Path("/apis"), s.EditedGroups(Without("apps")))
			s.Lie(Path("/apis").First(1), s.EditedGroups(Stale("apps")))
		}},
		"a group that fails, and then is gone, before 1.30": {ReplicaSets, func(s *Server) {
			s.Legacy = true
			s.Lie(Path("/apis/apps/v1"), text404)
			s.Lie(Path("/apis").After(1), s.Edited(func(document map[string]any) {
				var left []any
				for _, g := range document["groups"].([]any) {
					if g.(map[string]any)["name"] != "apps" {
						left = append(left, g)
					}
				}
				document["groups"] = left
			}))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			keepsFinalizerUnderLies(t, c.hidden, c.lies)
		})
	}
}

// The same with responses that are no discovery documents at all.
func TestInvalidDiscoveryIsAnError(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		root   string
		hidden *Type
		answer http.HandlerFunc
	}{
		"a 404 of /apis in plain text": {"/apis", ReplicaSets, text404},
		"a 404 of /apis as a Status":   {"/apis", ReplicaSets, status404},
		"a Status of /api":             {"/api", Secrets, success},
		"a Status of /apis":            {"/apis", ReplicaSets, success},
		"a login page of /api":         {"/api", Secrets, Page()},
		"a login page of /apis":        {"/apis", ReplicaSets, Page()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			keepsFinalizerUnderLies(t, c.hidden, func(s *Server) { s.Lie(Path(c.root), c.answer) })
		})
	}
}

// keepsFinalizerUnderLies requires that lies about a type prove nothing: an object that orphans
// dependents of that type keeps its finalizer. Without lies the finalizer is removed, and the
// dependents stay.
func keepsFinalizerUnderLies(t *testing.T, hidden *Type, lies func(*Server)) {
	s := NewServer(t)
	s.Add(Widgets.Definition())
	owner, dependent := addOrphaned(s, hidden)
	lies(s)
	u := newUser(t, s)

	incomplete(u)
	u.runs("collect", "--yes").exits(1, 2)
	u.runs("collect", "--yes", "--strict").exits(2, 3)
	requireFinalizers(t, s, owner)
	requireKept(t, s, dependent)

	s.StopLying()
	u.runs("collect", "--yes").exits(0)
	requireGone(t, s, owner)
	requireKept(t, s, dependent)
}

// addOrphaned adds an object that orphans its dependents, and one dependent of that type. Owner
// and dependent belong to different API groups.
func addOrphaned(s *Server, dependents *Type) (owner, dependent *Object) {
	other := ConfigMaps
	if dependents.Group == "" {
		other = Deployments
	}
	owner = s.Add(orphaning(other.Object("shop", "owner")))
	return owner, s.Add(ownedBy(dependents.Object("shop", "dependent"), referenceTo(owner)))
}

// incomplete requires that a scan is incomplete, or that the command fails.
func incomplete(u *user) *result {
	u.Helper()
	return u.runs(strictAudit...).isIncomplete()
}

var strictAudit = []string{"audit", "--strict", "-o", "json"}

func (r *result) isIncomplete() *result {
	r.Helper()
	r.exits(2, 3)
	switch r.code {
	case 2:
		if r.stderr == "" {
			r.Error("there is no error message")
		}
	case 3:
		if d := r.read(); d.Complete || len(d.Gaps) == 0 {
			r.Errorf("the scan counts as complete: %v", d.Gaps)
		}
	}
	return r
}
