package trust

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Defect 1: a Namespace or CustomResourceDefinition that is garbage was deleted although its
// contents could not all be listed, and the unlisted contents were not backed up.
func TestNamespaceAndCRDWithUnlistedContentsAreKept(t *testing.T) {
	t.Parallel()
	samples := aggregated("metrics.example.com", "samples", "Sample")
	for name, c := range map[string]struct {
		garbage func(*Server) *Object
		unseen  *Type
		about   Match
		lie     func(*Server) http.HandlerFunc
	}{
		"Secrets that may not be listed": {
			garbage: func(s *Server) *Object { return garbageNamespace(s, 3) },
			unseen:  Secrets, about: Listed(Secrets),
			lie: func(*Server) http.HandlerFunc { return Forbid(Secrets) },
		},
		"a list that fails after its first page": {
			garbage: func(s *Server) *Object { return garbageNamespace(s, 3) },
			unseen:  Secrets, about: Listed(Secrets).And(func(r *http.Request) bool { return r.URL.Query().Has("continue") }),
			lie: func(*Server) http.HandlerFunc { return Forbid(Secrets) },
		},
		"an API that is not available": {
			garbage: func(s *Server) *Object { return garbageNamespace(s, 1) },
			unseen:  samples, about: Path("/apis"),
			lie: func(s *Server) http.HandlerFunc { return s.EditedGroups(Stale(samples.Group)) },
		},
		"instances whose conversion webhook fails": {
			garbage: func(s *Server) *Object {
				s.Add(Widgets.Definition())
				s.Add(Widgets.Object("shop", "instance"))
				return s.Add(ownedBy(Widgets.Definition(), missingOwner(Namespaces)))
			},
			unseen: Widgets, about: Listed(Widgets),
			lie: func(*Server) http.HandlerFunc {
				webhook := apierrors.NewInternalError(errors.New(""))
				webhook.ErrStatus.Message = "conversion webhook for example.com/v1, Kind=Widget failed: no endpoints available"
				return Refuse(webhook)
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := NewServer(t)
			s.Serve(samples)
			garbage := c.garbage(s)
			s.Lie(c.about, c.lie(s))
			u := newUser(t, s)
			u.always = []string{"--chunk-size=2"}

			plan := u.runs("collect", "--dry-run", "-o", "json").read()
			if plan.Complete || !plan.hasGap(c.unseen) {
				t.Errorf("the gap is not named: %+v", plan.Gaps)
			}
			if !plan.isBlocked(garbage, c.unseen) {
				t.Errorf("it is not blocked by what could not be listed: %s", plan.Blocked)
			}
			u.runs("collect", "--yes").exits(1)
			u.runs("collect", "--yes", "--strict").exits(3)
			u.runs("delete", strings.ToLower(garbage.Kind)+"/"+garbage.Name, "--yes", "--client-side").exits(1, 2)
			requireKept(t, s, garbage)
		})
	}
}

// isBlocked reports whether an object is blocked, and the entry names the type that was not listed
// completely, or its group.
func (d document) isBlocked(o *Object, unseen *Type) bool {
	return slices.ContainsFunc(d.Blocked, func(entry map[string]any) bool {
		entry = maps.Clone(entry)
		object, _ := entry["object"].(map[string]any)
		delete(entry, "object") // the object itself must not be the match
		why := fmt.Sprint(entry)
		return object["uid"] == string(o.UID) &&
			(strings.Contains(why, unseen.Resource) || unseen.Group != "" && strings.Contains(why, unseen.Group))
	})
}
