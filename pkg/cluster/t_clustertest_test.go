package cluster

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

	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// connect starts a server and returns a client of it.
func connect(t *testing.T, handler http.Handler, o Options) *Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	c, err := New(&rest.Config{Host: server.URL}, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// fake answers what a real API server cannot be made to: JSON alone, one object
// under two groups, pages without end. It fails the test on a request it does
// not expect.
type fake struct {
	t       *testing.T
	answers map[string]func(*http.Request) any // by path
	mu      sync.Mutex
	asked   map[string]int
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	f.asked[r.URL.Path]++
	f.mu.Unlock()
	reply, ok := f.answers[r.URL.Path]
	if !ok {
		f.t.Errorf("unexpected request %s", r.URL)
		http.Error(w, "unexpected", http.StatusTeapot)
		return
	}
	body := reply(r)
	w.Header().Set("Content-Type", "application/json")
	if refusal, said := body.(fields); said && refusal["kind"] == "Status" && refusal["status"] == "Failure" {
		w.WriteHeader(refusal["code"].(int))
	}
	if status, failed := body.(failure); failed {
		w.WriteHeader(status.code)
		body = map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": status.code, "reason": status.reason, "message": status.reason}
	}
	if raw, ok := body.([]byte); ok {
		_, _ = w.Write(raw)
		return
	}
	_ = json.NewEncoder(w).Encode(body)
}

type failure struct {
	code   int
	reason string
}

func refuse(code int, reason string) failure { return failure{code, reason} }

type fields = map[string]any

func say(v any) func(*http.Request) any { return func(*http.Request) any { return v } }

// serve starts a server of core pods and events, and of widgets in two groups.
// Discovery is of the old kind, which every server still understands.
func serve(t *testing.T, answers map[string]func(*http.Request) any) (*Client, *fake) {
	t.Helper()
	verbs := []string{"delete", "get", "list", "watch"}
	resource := func(name, kind string) fields {
		return fields{"name": name, "kind": kind, "singularName": strings.ToLower(kind), "namespaced": true, "verbs": verbs}
	}
	version := func(g string) fields { return fields{"groupVersion": g + "/v1", "version": "v1"} }
	f := &fake{t: t, asked: map[string]int{}, answers: map[string]func(*http.Request) any{
		"/version": say(fields{"gitVersion": "v1.36.3"}),
		"/api":     say(fields{"kind": "APIVersions", "versions": []string{"v1"}}),
		"/apis": say(fields{"kind": "APIGroupList", "apiVersion": "v1", "groups": []fields{
			{"name": "example.com", "versions": []fields{version("example.com")}, "preferredVersion": version("example.com")},
			{"name": "old.example.com", "versions": []fields{version("old.example.com")}, "preferredVersion": version("old.example.com")},
		}}),
		"/api/v1":                  say(fields{"kind": "APIResourceList", "groupVersion": "v1", "resources": []fields{resource("pods", "Pod"), resource("events", "Event")}}),
		"/apis/example.com/v1":     say(fields{"kind": "APIResourceList", "groupVersion": "example.com/v1", "resources": []fields{resource("widgets", "Widget")}}),
		"/apis/old.example.com/v1": say(fields{"kind": "APIResourceList", "groupVersion": "old.example.com/v1", "resources": []fields{resource("widgets", "Widget")}}),

		// It serves neither custom types nor aggregated APIs.
		"/apis/apiregistration.k8s.io/v1/apiservices":             say(refuse(http.StatusNotFound, "NotFound")),
		"/apis/apiextensions.k8s.io/v1/customresourcedefinitions": say(refuse(http.StatusNotFound, "NotFound")),

		"/api/v1/pods":                     say(list()),
		"/apis/example.com/v1/widgets":     say(list()),
		"/apis/old.example.com/v1/widgets": say(list()),
	}}
	for path, a := range answers {
		f.answers[path] = a
	}
	return connect(t, f, Options{ChunkSize: 2, Concurrency: 3, Timeout: 10 * time.Second}), f
}

func list(items ...fields) fields {
	return fields{"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", "metadata": fields{"resourceVersion": "10"}, "items": items}
}

func item(name string) fields {
	return fields{"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": fields{"name": name, "namespace": "ns", "uid": "uid-" + name, "resourceVersion": "5"}}
}

const (
	servicesPath    = "/apis/apiregistration.k8s.io/v1/apiservices"
	definitionsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
)

// clusterScoped is the metadata of a cluster-scoped object.
func clusterScoped(name string) fields {
	return fields{"metadata": fields{"name": name, "uid": "uid-" + name, "resourceVersion": "5"}}
}

// definition is a whole CustomResourceDefinition with one version.
func definition(name string, served bool, established string) fields {
	return fields{
		"kind": "CustomResourceDefinition", "apiVersion": "apiextensions.k8s.io/v1", "metadata": clusterScoped(name)["metadata"],
		"spec":   fields{"versions": []fields{{"name": "v1", "served": served}}},
		"status": fields{"conditions": []fields{{"type": "Established", "status": established}}},
	}
}

// script is a server that gives each request the next answer of its method and
// path, the last one for ever, and remembers what it was asked.
type script struct {
	t       *testing.T
	mu      sync.Mutex
	answers map[string][]http.HandlerFunc
	asked   []string
	bodies  []string
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	key := r.Method + " " + r.URL.Path
	s.mu.Lock()
	s.asked = append(s.asked, key)
	s.bodies = append(s.bodies, string(body))
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

// connectScript starts a scripted server, which has pods and secrets, and returns a client of it
// and a scan in which the pods were listed.
func connectScript(t *testing.T, answers map[string][]http.HandlerFunc) (*Client, *snapshot.Snapshot, *script) {
	t.Helper()
	s := &script{t: t, answers: answers}
	c := connect(t, s, Options{Concurrency: 3, Timeout: 10 * time.Second})
	secrets := snapshot.Type{Version: "v1", Resource: "secrets", Kind: "Secret", Namespaced: true, Preferred: true, Verbs: pods.Verbs}
	return c, &snapshot.Snapshot{Types: []snapshot.Type{pods, secrets}, Listed: []snapshot.Listing{{Resource: "pods"}}}, s
}

func (s *script) count(key string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, a := range s.asked {
		if a == key {
			n++
		}
	}
	return n
}

func answers(code int, body any, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(body)
	}
}

func status(code int, reason, message string, details fields) fields {
	s := fields{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason, "message": message}
	if details != nil {
		s["details"] = details
	}
	return s
}

func notFound() http.HandlerFunc {
	return answers(404, status(404, "NotFound", `pods "x" not found`, fields{"name": "x", "kind": "pods"}))
}

func breaks(w http.ResponseWriter, _ *http.Request) {
	c, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		c.Close()
	}
}

// stalls is no answer until the client has given up.
func stalls(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body) // before that the end of the connection is not noticed
	<-r.Context().Done()
}

var pods = snapshot.Type{Version: "v1", Resource: "pods", Kind: "Pod", Namespaced: true, Preferred: true, Verbs: []string{"delete", "get", "list", "watch"}}

func asMetadata(uid, resourceVersion string, more fields) fields {
	m := fields{"name": "x", "namespace": "ns", "uid": uid, "resourceVersion": resourceVersion}
	for k, v := range more {
		m[k] = v
	}
	return fields{"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": m}
}
