package trust

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	apidiscovery "k8s.io/api/apidiscovery/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/test/apiserver"
)

// The types that the server always serves. It serves Widgets after Add(Widgets.Definition()).
var (
	Namespaces  = apiserver.Namespaces
	Secrets     = apiserver.Secrets
	ConfigMaps  = apiserver.ConfigMaps
	Pods        = apiserver.Pods
	Deployments = apiserver.Deployments
	ReplicaSets = apiserver.ReplicaSets

	accessReviews = apiserver.AccessReviews
	Widgets       = apiserver.Namespaced("example.com", "widgets", "Widget")
)

// Type and Object are those of the server.
type (
	Type   = apiserver.Type
	Object = apiserver.Object
)

// Server is an API server in memory that can be made to lie.
type Server struct {
	*apiserver.Server
	URL string
}

// NewServer starts a server for the duration of a test. It has the namespaces kube-system and
// shop, and no garbage collector.
func NewServer(t testing.TB) *Server {
	t.Helper()
	s := &Server{Server: apiserver.New([]*Type{Namespaces, Secrets, ConfigMaps, Pods, Deployments, ReplicaSets, apiserver.CRDs, apiserver.APIServices, accessReviews})}
	s.Controllers, s.Clock = true, time.Now
	s.addNamespaces()
	s.URL = s.Listen(t)
	return s
}

// rebuild turns the server into a new cluster at the same address.
func (s *Server) rebuild() {
	s.Reset()
	s.addNamespaces()
}

func (s *Server) addNamespaces() {
	s.Add(Namespaces.Object("", "kube-system"), Namespaces.Object("", "shop"))
}

// aggregated returns a type of an aggregated API server.
func aggregated(group, resource, kind string) *Type {
	t := apiserver.Namespaced(group, resource, kind)
	t.Aggregated = true
	return t
}

// Add adds objects that are an hour old, and returns the last one.
func (s *Server) Add(objects ...*Object) (last *Object) {
	for _, o := range objects {
		if o.CreationTimestamp.IsZero() {
			o.CreationTimestamp = metav1.NewTime(time.Now().Add(-time.Hour))
		}
		last = s.Server.Add(o)
	}
	return last
}

// Match reports whether a lie applies to a request.
type Match func(*http.Request) bool

// Once calls do before the first matching request, and then responds honestly: a change in
// the cluster is not a lie.
func (s *Server) Once(matches Match, do func()) {
	s.Lie(matches.First(1), func(w http.ResponseWriter, r *http.Request) {
		do()
		s.Honest(w, r)
	})
}

// Path matches reads of one path.
func Path(path string) Match {
	return func(r *http.Request) bool { return r.Method == http.MethodGet && r.URL.Path == path }
}

// Sent matches requests of a method about objects of a type.
func Sent(method string, t *Type) Match {
	return func(r *http.Request) bool { return r.Method == method && isAbout(r, t) }
}

// Listed matches lists of a type, in one namespace or all.
func Listed(t *Type) Match {
	return func(r *http.Request) bool {
		return r.Method == http.MethodGet && isAbout(r, t) && strings.HasSuffix(r.URL.Path, "/"+t.Resource)
	}
}

// isAbout reports whether the path leads to the type, or to an object of it.
func isAbout(r *http.Request, t *Type) bool {
	root, _ := strings.CutSuffix(t.Path(), t.Resource)
	rest, ok := strings.CutPrefix(r.URL.Path, root)
	words := strings.Split(rest, "/")
	if t.Namespaced && len(words) > 2 && words[0] == "namespaces" {
		words = words[2:]
	}
	return ok && words[0] == t.Resource && len(words) <= 2
}

// Whole matches requests for whole objects, not their metadata or a table.
func Whole(r *http.Request) bool { return !strings.Contains(r.Header.Get("Accept"), "as=") }

// Metadata matches requests for metadata alone.
func Metadata(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadata")
}

// And matches requests that both match.
func (m Match) And(other Match) Match {
	return func(r *http.Request) bool { return m(r) && other(r) }
}

// First matches the first n requests that m matches.
func (m Match) First(n int32) Match {
	var count atomic.Int32
	return func(r *http.Request) bool { return m(r) && count.Add(1) <= n }
}

// After matches the requests that m matches, except for the first n.
func (m Match) After(n int32) Match {
	var count atomic.Int32
	return func(r *http.Request) bool { return m(r) && count.Add(1) > n }
}

// SinceAWrite matches requests after the first write.
func (s *Server) SinceAWrite(*http.Request) bool { return len(s.Writes()) > 0 }

// Document responds with a JSON document and status 200.
func Document(document any) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { apiserver.WriteJSON(w, http.StatusOK, document) }
}

// Text responds with bytes of a content type.
func Text(code int, contentType, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(code)
		_, _ = w.Write([]byte(text)) // fails if the client has disconnected
	}
}

// Page responds with the login page of a gateway.
func Page() http.HandlerFunc {
	return Text(http.StatusOK, "text/html", "<!DOCTYPE html><html><body><form>Log in</form></body></html>")
}

// Refuse responds with an error.
func Refuse(err *apierrors.StatusError) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { apiserver.RespondError(w, r, err) }
}

// Forbid responds with 403.
func Forbid(t *Type) http.HandlerFunc {
	return Refuse(apierrors.NewForbidden(t.GroupResource(), "", nil))
}

// InProtobuf responds with a protobuf message that claims to be of that kind.
func InProtobuf(apiVersion, kind string, raw []byte) http.HandlerFunc {
	return Text(http.StatusOK, apiserver.InProtobuf, string(apiserver.Enveloped(apiVersion, kind, raw)))
}

// Half responds with the first half of an honest body.
func (s *Server) Half(w http.ResponseWriter, r *http.Request) {
	honest := httptest.NewRecorder()
	s.Honest(honest, r)
	Text(honest.Code, honest.Header().Get("Content-Type"), honest.Body.String()[:honest.Body.Len()/2])(w, r)
}

// Read responds as to a GET, without doing what was asked.
func (s *Server) Read(w http.ResponseWriter, r *http.Request) {
	r.Method = http.MethodGet
	s.Honest(w, r)
}

// Edited responds honestly, in JSON, except for what edit changes. It does not change plain text.
func (s *Server) Edited(edit func(document map[string]any)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		honest := httptest.NewRecorder()
		s.Honest(honest, apiserver.WithoutProtobuf(r))
		var document map[string]any
		if err := json.NewDecoder(bytes.NewReader(honest.Body.Bytes())).Decode(&document); err != nil {
			Text(honest.Code, honest.Header().Get("Content-Type"), honest.Body.String())(w, r)
			return
		}
		edit(document)
		w.Header().Set("Content-Type", honest.Header().Get("Content-Type"))
		apiserver.WriteJSON(w, honest.Code, document)
	}
}

// EditedMetadata responds honestly except for one field of the metadata of an object or list.
func (s *Server) EditedMetadata(name string, value any) http.HandlerFunc {
	return s.Edited(func(o map[string]any) { metadataOf(o)[name] = value })
}

// EditedItems responds honestly except for the items of a list that has any.
func (s *Server) EditedItems(edit func(items []any) []any) http.HandlerFunc {
	return s.Edited(func(list map[string]any) {
		if all, _ := list["items"].([]any); len(all) > 0 {
			list["items"] = edit(all)
		}
	})
}

// metadataOf returns the metadata of a document, which may have none.
func metadataOf(o any) map[string]any {
	m, ok := o.(map[string]any)["metadata"].(map[string]any)
	if !ok {
		m = map[string]any{}
	}
	return m
}

// EditedGroups responds with aggregated discovery, honestly except for what edit changes.
func (s *Server) EditedGroups(edit func(*apidiscovery.APIGroupDiscoveryList)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		list := s.Groups(strings.Trim(r.URL.Path, "/"))
		edit(list)
		apiserver.WriteDiscovery(w, r, list)
	}
}

// Stale marks the discovery of a group as stale.
func Stale(group string) func(*apidiscovery.APIGroupDiscoveryList) {
	return func(l *apidiscovery.APIGroupDiscoveryList) {
		for _, g := range l.Items {
			for i := range g.Versions {
				if g.Name == group {
					g.Versions[i].Freshness, g.Versions[i].Resources = apidiscovery.DiscoveryFreshnessStale, nil
				}
			}
		}
	}
}

// Without removes a group.
func Without(group string) func(*apidiscovery.APIGroupDiscoveryList) {
	return func(l *apidiscovery.APIGroupDiscoveryList) {
		l.Items = slices.DeleteFunc(l.Items, func(g apidiscovery.APIGroupDiscovery) bool { return g.Name == group })
	}
}
