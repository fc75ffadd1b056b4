package trust

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"

	apidiscovery "k8s.io/api/apidiscovery/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Match reports whether a lie applies to a request.
type Match func(*http.Request) bool

type lie struct {
	matches Match
	answer  http.HandlerFunc
}

// Lie responds to matching requests with a lie, from now on.
func (s *Server) Lie(matches Match, answer http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lies = append(s.lies, lie{matches, answer})
}

// StopLying ends all lies.
func (s *Server) StopLying() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lies = nil
}

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
func Sent(method string, t Type) Match {
	return func(r *http.Request) bool { return r.Method == method && isAbout(r, t) }
}

// Listed matches lists of a type, in one namespace or all.
func Listed(t Type) Match {
	return func(r *http.Request) bool {
		return r.Method == http.MethodGet && isAbout(r, t) && strings.HasSuffix(r.URL.Path, "/"+t.Resource)
	}
}

// isAbout reports whether the path leads to the type, or to an object of it.
func isAbout(r *http.Request, t Type) bool {
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
	return func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, http.StatusOK, document) }
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
	return func(w http.ResponseWriter, r *http.Request) { respondError(w, r, err) }
}

// Forbid responds with 403.
func Forbid(t Type) http.HandlerFunc {
	return Refuse(apierrors.NewForbidden(t.GroupResource(), "", nil))
}

// InProtobuf responds with a protobuf message that claims to be of that kind.
func InProtobuf(apiVersion, kind string, raw []byte) http.HandlerFunc {
	return Text(http.StatusOK, inProtobuf, string(enveloped(apiVersion, kind, raw)))
}

// Edited responds honestly, in JSON, except for what edit changes.
func (s *Server) Edited(edit func(document map[string]any)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		honest := httptest.NewRecorder()
		s.Honest(honest, withoutProtobuf(r))
		var document map[string]any
		if err := json.NewDecoder(bytes.NewReader(honest.Body.Bytes())).Decode(&document); err != nil {
			panic(err)
		}
		edit(document)
		w.Header().Set("Content-Type", honest.Header().Get("Content-Type"))
		writeJSON(w, honest.Code, document)
	}
}

// EditedGroups responds with aggregated discovery, honestly except for what edit changes.
func (s *Server) EditedGroups(edit func(*apidiscovery.APIGroupDiscoveryList)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		list := aggregatedDiscovery(s.typesBelow(strings.Trim(r.URL.Path, "/")))
		s.mu.Unlock()
		edit(list)
		if s.JSON {
			w.Header().Set("Content-Type", discoveryJSON)
			writeJSON(w, http.StatusOK, list)
			return
		}
		writeProtobuf(w, discoveryProtobuf, http.StatusOK, list)
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
