package trust

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Server is a fake API server that holds its objects in memory. It is honest unless a test makes
// it lie. It has the controllers that empty a deleted Namespace and CustomResourceDefinition and
// that maintain APIServices, and no garbage collector.
type Server struct {
	URL string
	// JSON responds to metadata requests in JSON even if the client prefers protobuf, as a
	// server may.
	JSON bool
	// Legacy responds to discovery with one document per group, as before Kubernetes 1.30.
	Legacy bool

	mu         sync.Mutex
	objects    map[key]*unstructured.Unstructured
	aggregated []Type // served by an aggregated API server
	revision   int
	cluster    string // part of every UID, so that no two clusters share one

	lies     []lie
	requests []Request
}

// Request is a request as it was received.
type Request struct {
	Method, Path string
	Query        url.Values
	Header       http.Header
	Body         string
}

// Write reports whether the request changes something: it is neither an access review nor a
// dry run.
func (r Request) Write() bool {
	return r.Method != http.MethodGet && !strings.Contains(r.Path, "/authorization.k8s.io/") &&
		!r.Query.Has("dryRun") && !strings.Contains(r.Body, `"dryRun":["All"]`)
}

// NewServer starts a server for the duration of a test. It has the namespaces kube-system and
// shop.
func NewServer(t testing.TB) *Server {
	t.Helper()
	s := &Server{}
	s.Rebuild()
	s.URL = s.Listen(t)
	return s
}

// Listen adds another address to the server, and returns its URL.
func (s *Server) Listen(t testing.TB) string {
	listening := httptest.NewServer(s)
	t.Cleanup(listening.Close)
	return listening.URL
}

// ServeHTTP responds with the newest matching lie, or honestly if there is none.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has disconnected
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	s.mu.Lock()
	s.requests = append(s.requests, Request{r.Method, r.URL.Path, r.URL.Query(), r.Header.Clone(), string(body)})
	lies := slices.Clone(s.lies)
	s.mu.Unlock()
	if s.JSON {
		r = withoutProtobuf(r)
	}
	for _, l := range slices.Backward(lies) {
		if l.matches(r) {
			l.answer(w, r)
			return
		}
	}
	s.Honest(w, r)
}

// Requests returns the requests so far, in the order of arrival.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Writes returns the writes so far, in the order of arrival.
func (s *Server) Writes() []Request {
	return slices.DeleteFunc(s.Requests(), func(r Request) bool { return !r.Write() })
}

// Honest responds as a real API server does.
func (s *Server) Honest(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	words := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case r.URL.Path == "/version":
		writeJSON(w, http.StatusOK, map[string]any{"major": "1", "minor": "36", "gitVersion": "v1.36.3"})
	case words[0] == "api" && len(words) <= 2, words[0] == "apis" && len(words) <= 3:
		s.discovery(w, r, words)
	default:
		if at, ok := s.route(words); ok {
			s.serve(w, r, at)
			return
		}
		http.Error(w, "404 page not found", http.StatusNotFound)
	}
}

// place is the type or object that a path leads to.
type place struct {
	Type
	namespace, name string
}

func (s *Server) route(words []string) (at place, ok bool) {
	group, version, rest := "", "", []string(nil)
	switch {
	case words[0] == "api":
		version, rest = words[1], words[2:]
	case words[0] == "apis":
		group, version, rest = words[1], words[2], words[3:]
	default:
		return at, false
	}
	if len(rest) > 2 && rest[0] == "namespaces" {
		at.namespace, rest = rest[1], rest[2:]
	}
	for _, t := range s.typesNow() {
		if t.Group == group && t.Version == version && t.Resource == rest[0] {
			at.Type, ok = t, true
		}
	}
	if len(rest) > 1 {
		at.name = rest[1]
	}
	return at, ok && len(rest) <= 2
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request, at place) {
	switch {
	case at.createOnly:
		review(w, r)
	case r.Method == http.MethodPost && at.name == "":
		s.create(w, r, at)
	case r.Method == http.MethodGet && at.name == "" && !r.URL.Query().Has("watch"):
		s.list(w, r, at)
	case r.Method == http.MethodGet && at.name != "":
		s.get(w, r, at)
	case r.Method == http.MethodDelete && at.name != "":
		s.delete(w, r, at)
	case r.Method == http.MethodPatch && at.name != "":
		s.patch(w, r, at)
	default: // includes watches, so clients have to poll
		respondError(w, r, apierrors.NewMethodNotSupported(at.GroupResource(), strings.ToLower(r.Method)))
	}
}
