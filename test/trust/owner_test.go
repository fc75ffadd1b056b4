package trust

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/test/apiserver"
)

// An owner that is in no list is requested by name. Only a 404 with its name proves that it does
// not exist, and only an object with its kind, name and namespace proves that it was replaced.
func TestOnlyResponseAboutOwnerProvesItsAbsence(t *testing.T) {
	t.Parallel()
	notFound := func(edit func(*metav1.Status)) metav1.Status {
		status := apierrors.NewNotFound(Deployments.GroupResource(), "web").Status()
		status.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
		edit(&status)
		return status
	}
	object := func(apiVersion, kind, namespace, name string) http.HandlerFunc {
		return Document(map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{
			"namespace": namespace, "name": name, "uid": "bbbbbbbb-0000-4000-8000-000000000000", "resourceVersion": "1", "creationTimestamp": "2026-01-01T00:00:00Z",
		}})
	}
	another := Refuse(apierrors.NewNotFound(Deployments.GroupResource(), "other"))
	for name, answer := range map[string]http.HandlerFunc{
		"a 404 in plain text":                     text404,
		"a 404 without a name":                    status404,
		"a 404 that names another":                another,
		"a 404 in JSON that names another":        func(w http.ResponseWriter, r *http.Request) { another(w, apiserver.WithoutProtobuf(r)) },
		"a 404 in protobuf that is no Status":     Text(http.StatusNotFound, apiserver.InProtobuf, string(apiserver.Enveloped("v1", "Error", nil))),
		"a 404 that names another type":           Refuse(apierrors.NewNotFound(Secrets.GroupResource(), "web")),
		"a 404 of the same type in another group": Refuse(apierrors.NewNotFound(schema.GroupResource{Group: "example.com", Resource: "deployments"}, "web")),
		"a 404 with status 200":                   Document(notFound(func(*metav1.Status) {})),
		"a Status that tells of success":          Document(notFound(func(s *metav1.Status) { s.Status = metav1.StatusSuccess })),
		"an object of another kind":               object("v1", "ConfigMap", "shop", "web"),
		"an object of another group":              object("example.com/v1", "Deployment", "shop", "web"),
		"an object of another name":               object("apps/v1", "Deployment", "shop", "other"),
		"an object of another namespace":          object("apps/v1", "Deployment", "kube-system", "web"),
		"an object without a kind":                object("", "", "shop", "web"),
		"a list":                                  list("apps/v1", "DeploymentList", []any{}),
		"a message":                               Document(map[string]any{"message": "session expired"}),
		"a login page":                            Page(),
		"a message in protobuf":                   InProtobuf("v1", "Error", nil),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := NewServer(t)
			web := s.Add(Deployments.Object("shop", "web"))
			dependent := s.Add(ownedBy(Secrets.Object("shop", "dependent"), referenceTo(web)))
			s.Lie(Sent(http.MethodGet, Deployments), answer)
			s.Lie(Listed(Deployments), list("meta.k8s.io/v1", "PartialObjectMetadataList", []any{}))

			newUser(t, s).runs("collect", "--yes").exits(0, 1)
			requireKept(t, s, web, dependent)
		})
	}
}

// A response that is not an access review denies nothing.
func TestInvalidAccessReviewDeniesNothing(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]http.HandlerFunc{
		"a message": Document(map[string]any{"message": "session expired"}), "a login page": Page(), "a 404 in plain text": text404, "a review without a status": reviewResponse(nil),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := NewServer(t)
			garbage := s.Add(ownedBy(Secrets.Object("shop", "garbage"), missingOwner(Deployments)))
			s.Lie(Sent(http.MethodPost, accessReviews), answer)

			newUser(t, s).runs("collect", "--yes").exits(0)
			requireGone(t, s, garbage)
		})
	}
}

// reviewResponse responds to an access review with a status, without the spec.
func reviewResponse(status map[string]any) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		apiserver.WriteJSON(w, http.StatusCreated, map[string]any{"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "status": status})
	}
}

// A role may allow only some names.
func TestOnlyDenialByNameStopsRun(t *testing.T) {
	t.Parallel()
	byName := func(r *http.Request) bool {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		return strings.Contains(string(body), `"name":`)
	}
	refused := reviewResponse(map[string]any{"allowed": false})
	for name, c := range map[string]struct {
		about Match
		stops bool
	}{
		"the namespace is denied, the name is allowed": {func(r *http.Request) bool { return isAbout(r, accessReviews) && !byName(r) }, false},
		"namespace and name are denied":                {Sent(http.MethodPost, accessReviews), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := NewServer(t)
			garbage := s.Add(ownedBy(Secrets.Object("shop", "garbage"), missingOwner(Deployments)))
			s.Lie(c.about, refused)

			if u := newUser(t, s); c.stops {
				u.runs("collect", "--yes").exits(1)
				requireKept(t, s, garbage)
			} else {
				u.runs("collect", "--yes").exits(0)
				requireGone(t, s, garbage)
			}
		})
	}
}
