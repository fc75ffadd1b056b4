package scan

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/clustertest"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/discovery"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

func TestTypeThatVanishesDuringAScanIsNoGapOnceDiscoveryLacksIt(t *testing.T) {
	before := vanishedPause
	vanishedPause = 0
	t.Cleanup(func() { vanishedPause = before })
	for name, c := range map[string]struct {
		lags bool // discovery goes on naming it
		want string
	}{
		"discovery lacks it":       {false, "[]"},
		"discovery still names it": {true, "[widgets.example.com]"},
	} {
		t.Run(name, func(t *testing.T) {
			removed := false
			cluster, f := clustertest.Serve(t, map[string]func(*http.Request) any{
				clustertest.ServicesPath: clustertest.Reply(clustertest.List(clustertest.ClusterScoped("v1."), clustertest.ClusterScoped("v1.example.com"), clustertest.ClusterScoped("v1.old.example.com"))),
				clustertest.DefinitionsPath: func(*http.Request) any {
					if removed {
						return clustertest.List()
					}
					return clustertest.List(clustertest.ClusterScoped("widgets.example.com"))
				},
				"/apis/example.com/v1/widgets": func(*http.Request) any {
					removed = true
					return clustertest.Refuse(http.StatusNotFound, "NotFound")
				},
				"/apis/example.com/v1": func(*http.Request) any {
					if removed && !c.lags {
						return clustertest.TypeList("example.com/v1")
					}
					return clustertest.TypeList("example.com/v1", clustertest.NamespacedType("widgets", "Widget"))
				},
			})
			s, err := Cluster(t.Context(), cluster, nil, Scope{}, time.Now)
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(snapshot.Parameters(s.Gaps)); got != c.want || f.Count("GET /apis/example.com/v1/widgets") != 1 {
				t.Errorf("gaps %s, want %s; widgets were listed %d times", got, c.want, f.Count("GET /apis/example.com/v1/widgets"))
			}
		})
	}
}

func TestContradictedListIsGap(t *testing.T) {
	for name, test := range map[string]struct {
		version string // of the object that the list lacks; the list has 10
		gaps    int
	}{
		"which was there before":      {"5", 1},
		"which came or changed since": {"11", 0},
	} {
		t.Run(name, func(t *testing.T) {
			dependent := clustertest.Item("a")
			dependent["metadata"].(clustertest.Fields)["ownerReferences"] = []clustertest.Fields{{"apiVersion": "example.com/v1", "kind": "Widget", "name": "w", "uid": "uid-w"}}
			owner := clustertest.Item("w")
			owner["metadata"].(clustertest.Fields)["resourceVersion"] = test.version
			c, _ := clustertest.Serve(t, map[string]func(*http.Request) any{
				"/api/v1/pods": clustertest.Reply(clustertest.List(dependent)),
				"/apis/example.com/v1/namespaces/ns/widgets/w": clustertest.Reply(owner),
			})
			s := take(t, c)
			if len(s.Gaps) != test.gaps || len(s.Lookups) != 1 || s.Lookups[0].Outcome != snapshot.Found {
				t.Errorf("gaps %v, lookups %v", s.Gaps, s.Lookups)
			}
			saw := snapshot.NewView(s).Listed(snapshot.Type{Group: "example.com", Resource: "widgets"}.GroupResource(), "ns")
			if saw != (test.gaps == 0) {
				t.Errorf("the list counts as read: %t", saw)
			}
		})
	}
}

func TestUIDOfOtherObjectReplacesNoOwner(t *testing.T) {
	dependent := clustertest.Item("a")
	dependent["metadata"].(clustertest.Fields)["ownerReferences"] = []clustertest.Fields{{"apiVersion": "example.com/v1", "kind": "Widget", "name": "w", "uid": "uid-w"}}
	lie := clustertest.Item("w")
	lie["metadata"].(clustertest.Fields)["uid"] = "uid-other"
	c, _ := clustertest.Serve(t, map[string]func(*http.Request) any{
		"/api/v1/pods":                                 clustertest.Reply(clustertest.List(dependent)),
		"/apis/example.com/v1/widgets":                 clustertest.Reply(clustertest.List(clustertest.Item("other"))),
		"/apis/example.com/v1/namespaces/ns/widgets/w": clustertest.Reply(lie),
	})
	if s := take(t, c); len(s.Lookups) != 1 || s.Lookups[0].Outcome != snapshot.Failed {
		t.Errorf("lookups %+v", s.Lookups)
	}
}

func TestScanStopsAtMemoryLimit(t *testing.T) {
	name := strings.Repeat("n", 1<<20)
	n := 0
	c, _ := clustertest.Serve(t, map[string]func(*http.Request) any{"/api/v1/pods": func(*http.Request) any {
		n++
		p := clustertest.List(clustertest.Item(fmt.Sprint(name, n)))
		p["metadata"] = clustertest.Fields{"resourceVersion": "10", "continue": fmt.Sprint("more", n)}
		return p
	}})
	c.Config.MaxMemory = 20 << 20
	discovered, err := discovery.Discover(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Run(t.Context(), c, discovered, Scope{}, time.Now)
	var full *client.MemoryError
	if !errors.As(err, &full) || full.Limit != 20<<20 || n > 20 {
		t.Errorf("got %v after %d pages", err, n)
	}
}

// The server answers no list before the expected number is in flight.
func TestSmallRequestsAreConcurrent(t *testing.T) {
	for name, test := range map[string]struct {
		scope   Scope
		root    string
		waiting int // lists in flight
	}{
		"of a namespace":       {scope: Scope{Namespaces: []string{"ns"}}, root: "/namespaces/ns", waiting: 3},
		"of the whole cluster": {waiting: 1},
	} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			came, inFlight, most, all := 0, 0, 0, make(chan struct{})
			answer := func(r *http.Request) any {
				mu.Lock()
				inFlight++
				most = max(most, inFlight)
				if came++; came == test.waiting {
					close(all)
				}
				mu.Unlock()
				select {
				case <-all:
				case <-r.Context().Done():
				}
				mu.Lock()
				inFlight--
				mu.Unlock()
				return clustertest.List()
			}
			c, _ := clustertest.Serve(t, map[string]func(*http.Request) any{
				"/api/v1" + test.root + "/pods":                     answer,
				"/apis/example.com/v1" + test.root + "/widgets":     answer,
				"/apis/old.example.com/v1" + test.root + "/widgets": answer,
			})
			c.Config.Concurrency, c.Config.SmallConcurrency = 1, 3
			discovered, err := discovery.Discover(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			s, err := Run(t.Context(), c, discovered, test.scope, time.Now)
			if err != nil || len(s.Gaps) > 0 {
				t.Fatalf("got %+v, %v", s, err)
			}
			if most != test.waiting {
				t.Errorf("%d lists were in flight, want %d", most, test.waiting)
			}
		})
	}
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func take(t *testing.T, c *client.Client) *snapshot.Snapshot {
	t.Helper()
	discovered, err := discovery.Discover(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Run(context.Background(), c, discovered, Scope{}, func() time.Time { return time.Unix(0, 0) })
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

func TestRun(t *testing.T) {
	pages := func(r *http.Request) any {
		p := clustertest.List(clustertest.Item("a"), clustertest.Item("b"))
		if r.URL.Query().Get("continue") == "" {
			p["metadata"] = clustertest.Fields{"resourceVersion": "10", "continue": "more"}
			return p
		}
		return clustertest.List(clustertest.Item("c"))
	}
	forgetful := func(r *http.Request) any {
		switch q := r.URL.Query(); {
		case q.Get("continue") != "":
			return clustertest.Refuse(http.StatusGone, "Expired")
		case q.Get("limit") != "":
			p := clustertest.List(clustertest.Item("a"), clustertest.Item("gone-since"))
			p["metadata"] = clustertest.Fields{"resourceVersion": "10", "continue": "more"}
			return p
		}
		return clustertest.List(clustertest.Item("a"), clustertest.Item("b"), clustertest.Item("c"))
	}
	endless := func(*http.Request) any {
		p := clustertest.List(clustertest.Item("a"))
		p["metadata"] = clustertest.Fields{"resourceVersion": "10", "continue": "again"}
		return p
	}
	for name, test := range map[string]struct {
		answers map[string]func(*http.Request) any
		want    []string
		gaps    []string
	}{
		"the kind comes from discovery, whatever the items call themselves": {
			answers: map[string]func(*http.Request) any{"/api/v1/pods": clustertest.Reply(clustertest.List(clustertest.Item("a")))},
			want:    []string{"v1 Pod/a"},
		},
		"a server that sends whole objects is understood": {
			answers: map[string]func(*http.Request) any{"/apis/example.com/v1/widgets": clustertest.Reply(clustertest.Fields{
				"kind": "WidgetList", "apiVersion": "example.com/v1", "metadata": clustertest.Fields{"resourceVersion": "10"},
				"items": []clustertest.Fields{{"kind": "Widget", "apiVersion": "example.com/v1", "metadata": clustertest.Item("a")["metadata"], "spec": clustertest.Fields{"size": 3}}},
			})},
			want: []string{"example.com/v1 Widget/a"},
		},
		"an object served under two groups is one object": {
			answers: map[string]func(*http.Request) any{
				"/apis/example.com/v1/widgets":     clustertest.Reply(clustertest.List(clustertest.Item("a"))),
				"/apis/old.example.com/v1/widgets": clustertest.Reply(clustertest.List(clustertest.Item("a"))),
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
			answers: map[string]func(*http.Request) any{"/api/v1/pods": clustertest.Reply(clustertest.List(clustertest.Fields{"metadata": clustertest.Fields{"name": "a"}}))},
			want:    []string{},
			gaps:    []string{"pods: unreadable"},
		},
		"a refused list is a gap, and the others are read": {
			answers: map[string]func(*http.Request) any{
				"/api/v1/pods":                 clustertest.Reply(clustertest.Refuse(http.StatusForbidden, "Forbidden")),
				"/apis/example.com/v1/widgets": clustertest.Reply(clustertest.List(clustertest.Item("a"))),
			},
			want: []string{"example.com/v1 Widget/a"},
			gaps: []string{"pods: forbidden"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, f := clustertest.Serve(t, test.answers)
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
			if f.Count("GET /api/v1/events") > 0 {
				t.Error("events were listed, which the collector ignores")
			}
		})
	}
}

func TestOwnerIsLookedUpOnce(t *testing.T) {
	orphan := func(name string) clustertest.Fields {
		i := clustertest.Item(name)
		i["metadata"].(clustertest.Fields)["ownerReferences"] = []clustertest.Fields{{"apiVersion": "example.com/v1", "kind": "Widget", "name": "gone", "uid": "uid-gone"}}
		return i
	}
	const owner = "/apis/example.com/v1/namespaces/ns/widgets/gone"
	c, f := clustertest.Serve(t, map[string]func(*http.Request) any{
		"/api/v1/pods": clustertest.Reply(clustertest.List(orphan("a"), orphan("b"))),
		owner:          clustertest.Reply(clustertest.Refuse(http.StatusInternalServerError, "InternalError")),
	})
	s := take(t, c)
	want := []snapshot.Lookup{{
		Coordinates: snapshot.Coordinates{APIVersion: "example.com/v1", Kind: "Widget", Namespace: "ns", Name: "gone"},
		Outcome:     snapshot.Failed, Reason: snapshot.ServerError, Message: "InternalError",
	}}
	if diff := cmp.Diff(want, s.Lookups); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if tries := f.Count("GET " + owner); tries != client.RetryBackoff.Steps {
		t.Errorf("a transient failure was asked for %d times, want %d", tries, client.RetryBackoff.Steps)
	}
}

func TestNothingReadableError(t *testing.T) {
	no := clustertest.Reply(clustertest.Refuse(http.StatusForbidden, "Forbidden"))
	c, _ := clustertest.Serve(t, map[string]func(*http.Request) any{
		"/api/v1/pods": no, "/apis/example.com/v1/widgets": no, "/apis/old.example.com/v1/widgets": no,
	})
	discovered, err := discovery.Discover(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Run(context.Background(), c, discovered, Scope{}, time.Now)
	var blind *NothingReadableError
	if !errors.As(err, &blind) || len(blind.Gaps) != 3 {
		t.Errorf("got %v", err)
	}
}

func TestInterruptedScanReturnsContextError(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	c, _ := clustertest.Serve(t, map[string]func(*http.Request) any{"/api/v1/pods": func(*http.Request) any {
		stop()
		return clustertest.List()
	}})
	discovered, err := discovery.Discover(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Run(ctx, c, discovered, Scope{}, time.Now); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestPodsCountAsRunningIfUnknown(t *testing.T) {
	terminating := clustertest.Item("terminating")
	terminating["metadata"].(clustertest.Fields)["deletionTimestamp"] = "2026-01-01T00:00:00Z"
	c, f := clustertest.Serve(t, map[string]func(*http.Request) any{"/api/v1/pods": func(r *http.Request) any {
		if r.URL.Query().Get("fieldSelector") != "" {
			return clustertest.Refuse(http.StatusForbidden, "Forbidden")
		}
		return clustertest.List(clustertest.Item("a"), terminating)
	}})
	discovered, err := discovery.Discover(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Run(t.Context(), c, discovered, Scope{Running: true}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if !s.Objects[0].Running || s.Objects[1].Running || len(s.Gaps) > 0 || f.Count("GET /api/v1/pods") != 2 {
		t.Errorf("got %+v, gaps %v, %d lists", s.Objects, s.Gaps, f.Count("GET /api/v1/pods"))
	}
}
