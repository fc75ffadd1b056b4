// Package clustertest provides API servers with scripted answers, for tests.
package clustertest

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/apiserver"
)

// Connect starts a server and returns a client of it.
func Connect(t testing.TB, handler http.Handler, o client.Config) *client.Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return connect(t, &rest.Config{Host: server.URL}, o)
}

// ConnectInMemory returns a client of a handler. There is no network between them, so it works in a
// bubble of package synctest. Its config has the time limit, too, as that of a kubeconfig with
// --request-timeout.
func ConnectInMemory(t testing.TB, handler http.Handler, o client.Config) *client.Client {
	t.Helper()
	return connect(t, &rest.Config{Host: "http://memory", Transport: apiserver.Transport(handler), Timeout: o.Timeout}, o)
}

func connect(t testing.TB, config *rest.Config, o client.Config) *client.Client {
	t.Helper()
	c, err := client.New(config, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Server answers in ways that a real API server cannot be made to: only JSON, one object in two
// groups, endless pages. It fails the test on an unexpected request.
type Server struct{ *apiserver.Server }

// Count returns the number of requests of a method and path, such as "GET /api".
func (s Server) Count(key string) (n int) {
	for _, r := range s.Requests() {
		if r.Method+" "+r.Path == key {
			n++
		}
	}
	return n
}

// newServer returns a server that expects only these requests.
func newServer(t testing.TB, types []*apiserver.Type, expected ...string) Server {
	s := Server{apiserver.New(types)}
	s.Legacy, s.JSON = true, true
	honest := map[string]bool{}
	for _, path := range expected {
		honest["GET "+path] = true
	}
	unexpected := func(r *http.Request) bool { return !honest[r.Method+" "+r.URL.Path] }
	s.Lie(unexpected, func(w http.ResponseWriter, r *http.Request) {
		t.Errorf("unexpected request %s %s", r.Method, r.URL)
		http.Error(w, "unexpected", http.StatusTeapot)
	})
	return s
}

type Fields = map[string]any

func Reply(v any) func(*http.Request) any { return func(*http.Request) any { return v } }

func Refuse(code int, reason string) Fields { return Status(code, reason, reason, nil) }

// Serve starts a server of core pods and events, and of widgets in two groups, without objects. Its
// discovery is unaggregated. Instead of that it answers, at the paths of answers, with their
// documents, and all watches with RawEvents.
func Serve(t testing.TB, answers map[string]func(*http.Request) any) (*client.Client, Server) {
	t.Helper()
	s := newServer(t, []*apiserver.Type{
		apiserver.Pods, apiserver.Namespaced("", "events", "Event"),
		apiserver.Namespaced("example.com", "widgets", "Widget"), apiserver.Namespaced("old.example.com", "widgets", "Widget"),
	}, "/version", "/api", "/apis", "/api/v1", "/apis/example.com/v1", "/apis/old.example.com/v1")
	all := map[string]func(*http.Request) any{ // no custom types or aggregated APIs
		ServicesPath: Reply(Refuse(http.StatusNotFound, "NotFound")), DefinitionsPath: Reply(Refuse(http.StatusNotFound, "NotFound")),
		"/api/v1/pods": Reply(List()), "/apis/example.com/v1/widgets": Reply(List()), "/apis/old.example.com/v1/widgets": Reply(List()),
	}
	maps.Copy(all, answers)
	for path, reply := range all {
		s.Lie(func(r *http.Request) bool { return r.URL.Path == path }, func(w http.ResponseWriter, r *http.Request) {
			switch body := reply(r).(type) {
			case []byte:
				w.Header().Set("Content-Type", apiserver.InJSON)
				_, _ = w.Write(body)
			case Fields:
				code := http.StatusOK
				if body["kind"] == "Status" && body["status"] == "Failure" {
					code = body["code"].(int)
				}
				apiserver.WriteJSON(w, code, body)
			default:
				apiserver.WriteJSON(w, http.StatusOK, body)
			}
		})
	}
	s.Lie(func(r *http.Request) bool { return r.URL.Query().Has("watch") }, s.WatchRaw)
	return Connect(t, s, client.Config{ChunkSize: 2, Concurrency: 3, Timeout: 10 * time.Second}), s
}

// ServeScript starts a server that returns the answers for a method and path, such as "GET /api", in
// turn, and repeats the last one. It returns a client, and a scan in which pods were listed and
// secrets were not.
func ServeScript(t *testing.T, answers map[string][]http.HandlerFunc) (*client.Client, *snapshot.Snapshot, Server) {
	t.Helper()
	s := newServer(t, nil)
	for key, list := range answers {
		if len(list) > 0 {
			s.Lie(func(r *http.Request) bool { return r.Method+" "+r.URL.Path == key }, inTurn(list))
		}
	}
	c := Connect(t, s, client.Config{Concurrency: 3, Timeout: 10 * time.Second})
	secrets := snapshot.Type{Version: "v1", Resource: "secrets", Kind: "Secret", Namespaced: true, Preferred: true, Verbs: Pods.Verbs}
	return c, &snapshot.Snapshot{Types: []snapshot.Type{Pods, secrets}, Listed: []snapshot.Listing{{Resource: "pods"}}}, s
}

func inTurn(answers []http.HandlerFunc) http.HandlerFunc {
	var mu sync.Mutex
	return func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		answer := answers[0]
		if len(answers) > 1 {
			answers = answers[1:]
		}
		mu.Unlock()
		answer(w, r)
	}
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
func Stalls(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

var Pods = snapshot.Type{Version: "v1", Resource: "pods", Kind: "Pod", Namespaced: true, Preferred: true, Verbs: []string{"delete", "get", "list", "watch"}}

func AsMetadata(uid, resourceVersion string, more Fields) Fields {
	m := Fields{"name": "x", "namespace": "ns", "uid": uid, "resourceVersion": resourceVersion}
	for k, v := range more {
		m[k] = v
	}
	return Fields{"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": m}
}
