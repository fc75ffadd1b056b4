// Package clustertest provides API servers with scripted answers, for tests.
package clustertest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Connect starts a server and returns a client of it.
func Connect(t testing.TB, handler http.Handler, o client.Options) *client.Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	c, err := client.New(&rest.Config{Host: server.URL}, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Server answers in ways that a real API server cannot be made to: only JSON, one object in two
// groups, endless pages. It fails the test on an unexpected request.
type Server struct {
	t       testing.TB
	answers map[string]func(*http.Request) any // by path
	mu      sync.Mutex
	Asked   map[string]int
}

func (f *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	f.Asked[r.URL.Path]++
	f.mu.Unlock()
	reply, ok := f.answers[r.URL.Path]
	if !ok {
		f.t.Errorf("unexpected request %s", r.URL)
		http.Error(w, "unexpected", http.StatusTeapot)
		return
	}
	body := reply(r)
	w.Header().Set("Content-Type", "application/json")
	if refusal, said := body.(Fields); said && refusal["kind"] == "Status" && refusal["status"] == "Failure" {
		w.WriteHeader(refusal["code"].(int))
	}
	if status, failed := body.(Refusal); failed {
		w.WriteHeader(status.code)
		body = map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": status.code, "reason": status.reason, "message": status.reason}
	}
	if raw, ok := body.([]byte); ok {
		_, _ = w.Write(raw)
		return
	}
	_ = json.NewEncoder(w).Encode(body)
}

type Refusal struct {
	code   int
	reason string
}

func Refuse(code int, reason string) Refusal { return Refusal{code, reason} }

type Fields = map[string]any

func Reply(v any) func(*http.Request) any { return func(*http.Request) any { return v } }

// Serve starts a server of core pods and events, and of widgets in two groups. Its discovery is
// unaggregated.
func Serve(t testing.TB, answers map[string]func(*http.Request) any) (*client.Client, *Server) {
	t.Helper()
	version := func(g string) Fields { return Fields{"groupVersion": g + "/v1", "version": "v1"} }
	f := &Server{t: t, Asked: map[string]int{}, answers: map[string]func(*http.Request) any{
		"/version": Reply(Fields{"gitVersion": "v1.36.3"}),
		"/api":     Reply(Fields{"kind": "APIVersions", "versions": []string{"v1"}}),
		"/apis": Reply(Fields{"kind": "APIGroupList", "apiVersion": "v1", "groups": []Fields{
			{"name": "example.com", "versions": []Fields{version("example.com")}, "preferredVersion": version("example.com")},
			{"name": "old.example.com", "versions": []Fields{version("old.example.com")}, "preferredVersion": version("old.example.com")},
		}}),
		"/api/v1":                  Reply(TypeList("v1", NamespacedType("pods", "Pod"), NamespacedType("events", "Event"))),
		"/apis/example.com/v1":     Reply(TypeList("example.com/v1", NamespacedType("widgets", "Widget"))),
		"/apis/old.example.com/v1": Reply(TypeList("old.example.com/v1", NamespacedType("widgets", "Widget"))),

		// no custom types or aggregated APIs
		"/apis/apiregistration.k8s.io/v1/apiservices":             Reply(Refuse(http.StatusNotFound, "NotFound")),
		"/apis/apiextensions.k8s.io/v1/customresourcedefinitions": Reply(Refuse(http.StatusNotFound, "NotFound")),

		"/api/v1/pods":                     Reply(List()),
		"/apis/example.com/v1/widgets":     Reply(List()),
		"/apis/old.example.com/v1/widgets": Reply(List()),
	}}
	for path, a := range answers {
		f.answers[path] = a
	}
	return Connect(t, f, client.Options{ChunkSize: 2, Concurrency: 3, Timeout: 10 * time.Second}), f
}

// TypeList returns the discovery document of a group and version.
func TypeList(groupVersion string, types ...Fields) Fields {
	return Fields{"kind": "APIResourceList", "groupVersion": groupVersion, "resources": append([]Fields{}, types...)}
}

// NamespacedType returns what discovery says of a namespaced type that can be deleted and watched.
func NamespacedType(name, kind string) Fields {
	return Fields{"name": name, "kind": kind, "singularName": strings.ToLower(kind), "namespaced": true, "verbs": []string{"delete", "get", "list", "watch"}}
}

func List(items ...Fields) Fields {
	return Fields{"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", "metadata": Fields{"resourceVersion": "10"}, "items": items}
}

func Item(name string) Fields {
	return Fields{"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": Fields{"name": name, "namespace": "ns", "uid": "uid-" + name, "resourceVersion": "5"}}
}

const (
	ServicesPath    = "/apis/apiregistration.k8s.io/v1/apiservices"
	DefinitionsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
)

// ClusterScoped returns the metadata of a cluster-scoped object.
func ClusterScoped(name string) Fields {
	return Fields{"metadata": Fields{"name": name, "uid": "uid-" + name, "resourceVersion": "5"}}
}

// Definition returns a CustomResourceDefinition with one version.
func Definition(name string, served bool, established string) Fields {
	return Fields{
		"kind": "CustomResourceDefinition", "apiVersion": "apiextensions.k8s.io/v1", "metadata": ClusterScoped(name)["metadata"],
		"spec":   Fields{"versions": []Fields{{"name": "v1", "served": served}}},
		"status": Fields{"conditions": []Fields{{"type": "Established", "status": established}}},
	}
}

// Script is a server that returns the answers for a method and path in turn, repeats the last
// one, and records the requests.
type Script struct {
	t       *testing.T
	mu      sync.Mutex
	answers map[string][]http.HandlerFunc
	Asked   []string
	Bodies  []string
}

func (s *Script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	key := r.Method + " " + r.URL.Path
	s.mu.Lock()
	s.Asked = append(s.Asked, key)
	s.Bodies = append(s.Bodies, string(body))
	answers := s.answers[key]
	if len(answers) > 1 {
		s.answers[key] = answers[1:]
	}
	s.mu.Unlock()
	if len(answers) == 0 {
		s.t.Errorf("unexpected request %s", key)
		http.Error(w, "unexpected", http.StatusTeapot)
		return
	}
	answers[0](w, r)
}

// ServeScript starts a scripted server of pods and secrets. It returns a client and a scan in
// which pods were listed.
func ServeScript(t *testing.T, answers map[string][]http.HandlerFunc) (*client.Client, *snapshot.Snapshot, *Script) {
	t.Helper()
	s := &Script{t: t, answers: answers}
	c := Connect(t, s, client.Options{Concurrency: 3, Timeout: 10 * time.Second})
	secrets := snapshot.Type{Version: "v1", Resource: "secrets", Kind: "Secret", Namespaced: true, Preferred: true, Verbs: Pods.Verbs}
	return c, &snapshot.Snapshot{Types: []snapshot.Type{Pods, secrets}, Listed: []snapshot.Listing{{Resource: "pods"}}}, s
}

func (s *Script) Count(key string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, a := range s.Asked {
		if a == key {
			n++
		}
	}
	return n
}

func ReplyWith(code int, body any, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(body)
	}
}

func Status(code int, reason, message string, details Fields) Fields {
	s := Fields{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason, "message": message}
	if details != nil {
		s["details"] = details
	}
	return s
}

func NotFound() http.HandlerFunc {
	return ReplyWith(404, Status(404, "NotFound", `pods "x" not found`, Fields{"name": "x", "kind": "pods"}))
}

func Breaks(w http.ResponseWriter, _ *http.Request) {
	c, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		c.Close()
	}
}

// Stalls blocks until the client gives up.
func Stalls(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body) // otherwise the end of the connection is not noticed
	<-r.Context().Done()
}

var Pods = snapshot.Type{Version: "v1", Resource: "pods", Kind: "Pod", Namespaced: true, Preferred: true, Verbs: []string{"delete", "get", "list", "watch"}}

func AsMetadata(uid, resourceVersion string, more Fields) Fields {
	m := Fields{"name": "x", "namespace": "ns", "uid": uid, "resourceVersion": resourceVersion}
	for k, v := range more {
		m[k] = v
	}
	return Fields{"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": m}
}
