package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

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
		"/apis/apiregistration.k8s.io/v1/apiservices":             say(failure{http.StatusNotFound, "NotFound"}),
		"/apis/apiextensions.k8s.io/v1/customresourcedefinitions": say(failure{http.StatusNotFound, "NotFound"}),

		"/api/v1/pods":                     say(list()),
		"/apis/example.com/v1/widgets":     say(list()),
		"/apis/old.example.com/v1/widgets": say(list()),
	}}
	for path, a := range answers {
		f.answers[path] = a
	}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	c, err := New(&rest.Config{Host: server.URL}, Options{ChunkSize: 2, Concurrency: 3, Timeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.REST.(*rest.RESTClient).Client.CloseIdleConnections() })
	return c, f
}

func list(items ...fields) fields {
	return fields{"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", "metadata": fields{"resourceVersion": "10"}, "items": items}
}

func item(name string) fields {
	return fields{"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": fields{"name": name, "namespace": "ns", "uid": "uid-" + name, "resourceVersion": "5"}}
}

func take(t *testing.T, c *Client) *snapshot.Snapshot {
	t.Helper()
	w, err := Discover(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Run(context.Background(), c, w, Scope{}, func() time.Time { return time.Unix(0, 0) })
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func identities(s *snapshot.Snapshot) []string {
	out := []string{}
	for _, o := range s.Objects {
		line := fmt.Sprintf("%s %s", o.APIVersion, o.Identity)
		for _, a := range o.Aliases {
			line += fmt.Sprintf(" also %s %s", a.APIVersion, a)
		}
		out = append(out, line)
	}
	return out
}

func TestLook(t *testing.T) {
	pages := func(r *http.Request) any {
		p := list(item("a"), item("b"))
		if r.URL.Query().Get("continue") == "" {
			p["metadata"] = fields{"resourceVersion": "10", "continue": "more"}
			return p
		}
		return list(item("c"))
	}
	forgetful := func(r *http.Request) any {
		switch q := r.URL.Query(); {
		case q.Get("continue") != "":
			return failure{http.StatusGone, "Expired"}
		case q.Get("limit") != "":
			p := list(item("a"), item("gone-since"))
			p["metadata"] = fields{"resourceVersion": "10", "continue": "more"}
			return p
		}
		return list(item("a"), item("b"), item("c"))
	}
	endless := func(*http.Request) any {
		p := list(item("a"))
		p["metadata"] = fields{"resourceVersion": "10", "continue": "again"}
		return p
	}
	for name, test := range map[string]struct {
		answers map[string]func(*http.Request) any
		want    []string
		gaps    []string
	}{
		"the kind comes from discovery, whatever the items call themselves": {
			answers: map[string]func(*http.Request) any{"/api/v1/pods": say(list(item("a")))},
			want:    []string{"v1 Pod/a"},
		},
		"a server that sends whole objects is understood": {
			answers: map[string]func(*http.Request) any{"/apis/example.com/v1/widgets": say(fields{
				"kind": "WidgetList", "apiVersion": "example.com/v1", "metadata": fields{"resourceVersion": "10"},
				"items": []fields{{"kind": "Widget", "apiVersion": "example.com/v1", "metadata": item("a")["metadata"], "spec": fields{"size": 3}}},
			})},
			want: []string{"example.com/v1 Widget/a"},
		},
		"an object served under two groups is one object": {
			answers: map[string]func(*http.Request) any{
				"/apis/example.com/v1/widgets":     say(list(item("a"))),
				"/apis/old.example.com/v1/widgets": say(list(item("a"))),
			},
			want: []string{"example.com/v1 Widget/a also old.example.com/v1 Widget/a"},
		},
		"pages are put together": {
			answers: map[string]func(*http.Request) any{"/api/v1/pods": pages},
			want:    []string{"v1 Pod/a", "v1 Pod/b", "v1 Pod/c"},
		},
		"a list whose pages expire is read again in one": {
			answers: map[string]func(*http.Request) any{"/api/v1/pods": forgetful},
			want:    []string{"v1 Pod/a", "v1 Pod/b", "v1 Pod/c"},
		},
		"a list that never ends is a gap": {
			answers: map[string]func(*http.Request) any{"/api/v1/pods": endless},
			want:    []string{"v1 Pod/a"},
			gaps:    []string{"pods: unreadable"},
		},
		"an item without a UID makes the list unreadable": {
			answers: map[string]func(*http.Request) any{"/api/v1/pods": say(list(fields{"metadata": fields{"name": "a"}}))},
			want:    []string{},
			gaps:    []string{"pods: unreadable"},
		},
		"a refused list is a gap, and the others are read": {
			answers: map[string]func(*http.Request) any{
				"/api/v1/pods":                 say(failure{http.StatusForbidden, "Forbidden"}),
				"/apis/example.com/v1/widgets": say(list(item("a"))),
			},
			want: []string{"example.com/v1 Widget/a"},
			gaps: []string{"pods: forbidden"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, f := serve(t, test.answers)
			s := take(t, c)
			if diff := cmp.Diff(test.want, identities(s)); diff != "" {
				t.Errorf("objects (-want +got):\n%s", diff)
			}
			var gaps []string
			for _, g := range s.Gaps {
				gaps = append(gaps, fmt.Sprintf("%s: %s", g, g.Reason))
			}
			if diff := cmp.Diff(test.gaps, gaps); diff != "" {
				t.Errorf("gaps (-want +got):\n%s", diff)
			}
			if f.asked["/api/v1/events"] > 0 {
				t.Error("events were listed, which the collector ignores")
			}
		})
	}
}

// TestAnOwnerIsAskedForOnce, however many objects name it.
func TestAnOwnerIsAskedForOnce(t *testing.T) {
	orphan := func(name string) fields {
		i := item(name)
		i["metadata"].(fields)["ownerReferences"] = []fields{{"apiVersion": "example.com/v1", "kind": "Widget", "name": "gone", "uid": "uid-gone"}}
		return i
	}
	const owner = "/apis/example.com/v1/namespaces/ns/widgets/gone"
	c, f := serve(t, map[string]func(*http.Request) any{
		"/api/v1/pods": say(list(orphan("a"), orphan("b"))),
		owner:          say(failure{http.StatusInternalServerError, "InternalError"}),
	})
	s := take(t, c)
	want := []snapshot.Lookup{{
		Coordinates: snapshot.Coordinates{APIVersion: "example.com/v1", Kind: "Widget", Namespace: "ns", Name: "gone"},
		Outcome:     snapshot.Failed, Reason: snapshot.ServerError, Message: "InternalError",
	}}
	if diff := cmp.Diff(want, s.Lookups); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if tries := f.asked[owner]; tries != retryBackoff.Steps {
		t.Errorf("a transient failure was asked for %d times, want %d", tries, retryBackoff.Steps)
	}
}

func TestNothingReadIsNoAnswer(t *testing.T) {
	no := say(failure{http.StatusForbidden, "Forbidden"})
	c, _ := serve(t, map[string]func(*http.Request) any{
		"/api/v1/pods": no, "/apis/example.com/v1/widgets": no, "/apis/old.example.com/v1/widgets": no,
	})
	w, err := Discover(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Run(context.Background(), c, w, Scope{}, time.Now)
	var blind *NothingReadableError
	if !errors.As(err, &blind) || len(blind.Gaps) != 3 {
		t.Errorf("got %v", err)
	}
}

func TestAnInterruptedLookAnswersTheInterrupt(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	c, _ := serve(t, map[string]func(*http.Request) any{"/api/v1/pods": func(*http.Request) any {
		stop()
		return list()
	}})
	w, err := Discover(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Run(ctx, c, w, Scope{}, time.Now); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
