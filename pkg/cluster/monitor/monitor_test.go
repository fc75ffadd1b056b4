package monitor_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/clustertest"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/monitor"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

const pods = "/api/v1/pods"

// start returns a Monitor of a server with these answers.
func start(t testing.TB, answers map[string]func(*http.Request) any, o monitor.Settings, limits client.Config) (*monitor.Monitor, clustertest.Server) {
	t.Helper()
	_, s := clustertest.Serve(t, answers)
	limits.Concurrency, limits.Timeout = 3, 10*time.Second
	m, err := monitor.Start(t.Context(), clustertest.Connect(t, s, limits), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Stop)
	return m, s
}

func await(t testing.TB, what string, done func() bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, 20*time.Second, true, func(context.Context) (bool, error) { return done(), nil })
	if err != nil {
		t.Fatalf("waiting for %s: %v", what, err)
	}
}

// everything returns a snapshot of all objects.
func everything(ctx context.Context, m *monitor.Monitor) (*snapshot.Snapshot, error) {
	m.ForceEverything()
	all, err := m.SnapshotOfChanges(ctx)
	return all.Snapshot, err
}

func take(t testing.TB, m *monitor.Monitor) *snapshot.Snapshot {
	t.Helper()
	s, err := everything(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func names(s *snapshot.Snapshot) string {
	var out []string
	for _, o := range s.Objects {
		out = append(out, o.Name+"@"+o.ResourceVersion)
	}
	return strings.Join(out, " ")
}

func item(name, uid, version string) clustertest.Fields {
	return clustertest.Fields{"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": clustertest.Fields{"name": name, "namespace": "ns", "uid": uid, "resourceVersion": version}}
}

func TestEventsChangeTheSnapshot(t *testing.T) {
	m, s := start(t, map[string]func(*http.Request) any{pods: clustertest.Reply(clustertest.List(clustertest.Item("a")))}, monitor.Settings{}, client.Config{})
	for _, step := range []struct {
		kind, name, version, want string
	}{
		{"ADDED", "b", "11", "a@5 b@11"},
		{"MODIFIED", "a", "12", "a@12 b@11"},
		{"BOOKMARK", "", "13", "a@12 b@11"},
		{"DELETED", "a", "14", "b@11"},
	} {
		s.RawEvents(pods) <- clustertest.Fields{"type": step.kind, "object": item(step.name, "uid-"+step.name, step.version)}
		await(t, step.want, func() bool { return names(take(t, m)) == step.want })
	}
	if held, want := m.Stats(), int64(1); held.Bytes < want || held.Objects != 1 || held.Gaps != 0 || held.Relists != 0 {
		t.Errorf("%+v", held)
	}
}

func TestEventThatWasNotAskedForIsAGapUntilTheNextList(t *testing.T) {
	other := func(change func(metadata clustertest.Fields)) clustertest.Fields {
		o := item("a", "uid-a", "11")
		change(o["metadata"].(clustertest.Fields))
		return o
	}
	for name, event := range map[string]clustertest.Fields{
		"another kind":             {"type": "MODIFIED", "object": clustertest.Fields{"kind": "Secret", "apiVersion": "v1", "metadata": item("a", "uid-a", "11")["metadata"]}},
		"no UID":                   {"type": "MODIFIED", "object": item("a", "", "11")},
		"no resourceVersion":       {"type": "MODIFIED", "object": item("a", "uid-a", "")},
		"an earlier state":         {"type": "MODIFIED", "object": item("a", "uid-a", "4")},
		"no namespace":             {"type": "ADDED", "object": other(func(m clustertest.Fields) { delete(m, "namespace") })},
		"a deletion of another":    {"type": "DELETED", "object": item("a", "uid-other", "11")},
		"another type of event":    {"type": "REPLACED", "object": item("a", "uid-a", "11")},
		"a bookmark of no version": {"type": "BOOKMARK", "object": item("", "", "")},
		"an error":                 {"type": "ERROR", "object": clustertest.Fields{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 500, "reason": "InternalError", "message": "broken"}},
	} {
		t.Run(name, func(t *testing.T) {
			var held atomic.Bool
			release := make(chan struct{})
			m, s := start(t, map[string]func(*http.Request) any{pods: func(*http.Request) any {
				if held.Load() {
					<-release // so that the gap stays open
				}
				return clustertest.List(clustertest.Item("a"))
			}}, monitor.Settings{}, client.Config{})
			if got := names(take(t, m)); got != "a@5" {
				t.Fatalf("at first: %s", got)
			}
			held.Store(true)
			s.RawEvents(pods) <- event
			await(t, "a gap", func() bool { return m.Stats().Gaps == 1 })
			got := take(t, m)
			if len(got.Gaps) != 1 || !strings.Contains(got.Gaps[0].Message, "could not be watched") || len(got.Objects) != 0 {
				t.Errorf("gaps %v, objects %s", got.Gaps, names(got))
			}
			held.Store(false)
			close(release)
			await(t, "no gap", func() bool { return m.Stats().Gaps == 0 })
			if got := take(t, m); len(got.Gaps) != 0 || names(got) != "a@5" {
				t.Errorf("after another list: gaps %v, objects %s", got.Gaps, names(got))
			}
		})
	}
}

// expired is the event that ends a watch from a resourceVersion that the server has no more.
var expired = clustertest.Fields{"type": "ERROR", "object": clustertest.Status(http.StatusGone, "Expired", "too old", nil)}

func TestExpiredWatchIsNoGap(t *testing.T) {
	m, s := start(t, map[string]func(*http.Request) any{pods: clustertest.Reply(clustertest.List(clustertest.Item("a")))}, monitor.Settings{}, client.Config{})
	take(t, m)
	s.RawEvents(pods) <- expired
	await(t, "another list", func() bool {
		if got := m.Stats(); got.Gaps != 0 {
			t.Fatalf("%+v", got)
		}
		return m.Stats().Relists == 1
	})
}

func TestListThatALookupContradictsIsMadeAgain(t *testing.T) {
	dependent := clustertest.Item("a")
	dependent["metadata"].(clustertest.Fields)["ownerReferences"] = []clustertest.Fields{{"apiVersion": "v1", "kind": "Pod", "name": "o", "uid": "uid-o"}}
	var lists atomic.Int64
	m, _ := start(t, map[string]func(*http.Request) any{
		pods: func(*http.Request) any {
			if lists.Add(1) == 1 {
				return clustertest.List(dependent)
			}
			return clustertest.List(dependent, clustertest.Item("o"))
		},
		"/api/v1/namespaces/ns/pods/o": clustertest.Reply(clustertest.Item("o")),
	}, monitor.Settings{}, client.Config{})
	if got := take(t, m); len(got.Gaps) != 1 || !strings.Contains(got.Gaps[0].Message, "the list lacks") {
		t.Errorf("gaps %v", got.Gaps)
	}
	await(t, "a complete list", func() bool { return names(take(t, m)) == "a@5 o@5" })
	if got := take(t, m); len(got.Gaps)+len(got.Lookups) != 0 {
		t.Errorf("gaps %v, lookups %v", got.Gaps, got.Lookups)
	}
}

// A snapshot waits for a type until that is watched.
func TestSnapshotDoesNotWaitForATypeThatIsNotServedAnyMore(t *testing.T) {
	var gone atomic.Bool
	answers := map[string]func(*http.Request) any{
		pods: clustertest.Reply(clustertest.List(clustertest.Item("a"))),
		"/apis/example.com/v1": func(*http.Request) any {
			if gone.Load() {
				return clustertest.TypeList("example.com/v1")
			}
			return clustertest.TypeList("example.com/v1", clustertest.NamespacedType("widgets", "Widget"))
		},
		"/apis/example.com/v1/widgets": func(r *http.Request) any {
			<-r.Context().Done()
			return clustertest.List()
		},
	}
	_, s := clustertest.Serve(t, answers)
	synctest.Test(t, func(t *testing.T) {
		m, err := monitor.Start(t.Context(), clustertest.ConnectInMemory(t, s, client.Config{Concurrency: 3, Timeout: time.Hour}), monitor.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		defer m.Stop()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		time.AfterFunc(time.Second, func() { gone.Store(true) })
		got, err := everything(ctx, m)
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Gaps) != 1 || got.Gaps[0].Resource != "widgets" || got.Gaps[0].Reason != snapshot.Vanished || names(got) != "a@5" {
			t.Errorf("gaps %v, objects %s", got.Gaps, names(got))
		}
		if got := take(t, m); slices.ContainsFunc(got.Gaps, func(g snapshot.Gap) bool { return g.Reason == snapshot.Vanished }) {
			t.Errorf("gaps of the next snapshot: %v", got.Gaps)
		}
	})
}

// takePart sends an event after a snapshot of everything, and returns both that and the part that
// SnapshotOfChanges makes because of the event.
func takePart(t *testing.T, m *monitor.Monitor, s clustertest.Server, event clustertest.Fields) (whole *snapshot.Snapshot, part monitor.Changes) {
	t.Helper()
	next := func() bool {
		var err error
		if part, err = m.SnapshotOfChanges(t.Context()); err != nil {
			t.Fatal(err)
		}
		if part.Decidable == nil {
			whole = part.Snapshot
		}
		return part.Decidable != nil
	}
	await(t, "an end of changes of everything", next)
	s.RawEvents(pods) <- event
	await(t, "a part", func() bool { return next() && len(part.Objects) > 0 })
	return whole, part
}

func TestPartHasTheListsAndGapsOfTheWhole(t *testing.T) {
	m, s := start(t, map[string]func(*http.Request) any{
		pods:                           clustertest.Reply(clustertest.List(clustertest.Item("a"))),
		"/apis/example.com/v1":         clustertest.Reply(clustertest.TypeList("example.com/v1", clustertest.NamespacedType("widgets", "Widget"), clustertest.NamespacedType("gadgets", "Gadget"))),
		"/apis/example.com/v1/gadgets": clustertest.Reply(clustertest.List()),
		"/apis/example.com/v1/widgets": clustertest.Reply(clustertest.Refuse(http.StatusForbidden, "Forbidden")),
	}, monitor.Settings{}, client.Config{})
	whole, part := takePart(t, m, s, clustertest.Fields{"type": "ADDED", "object": item("b", "uid-b", "11")})
	diff := cmp.Diff(whole.Listed, part.Listed) + cmp.Diff(whole.Gaps, part.Gaps)
	if diff != "" || len(part.Gaps) != 1 || names(part.Snapshot) != "b@11" {
		t.Errorf("objects %s, lists and gaps of the whole (-) and the part (+)\n%s", names(part.Snapshot), diff)
	}
}

func TestPartLosesAListOnlyIfThatIsNotOlderThanWhatALookupFound(t *testing.T) {
	for version, gaps := range map[string]int{"5": 1, "99": 0} {
		t.Run(version, func(t *testing.T) {
			m, s := start(t, map[string]func(*http.Request) any{
				pods:                           clustertest.Reply(clustertest.List(clustertest.Item("a"))),
				"/api/v1/namespaces/ns/pods/o": clustertest.Reply(item("o", "uid-o", version)),
			}, monitor.Settings{}, client.Config{})
			dependent := item("b", "uid-b", "11")
			own(dependent, "o")
			_, part := takePart(t, m, s, clustertest.Fields{"type": "ADDED", "object": dependent})
			if len(part.Gaps) != gaps || len(part.Lookups) != 1 {
				t.Errorf("gaps %v, lookups %v", part.Gaps, part.Lookups)
			}
		})
	}
}

func TestMemoryLimitEndsTheMonitor(t *testing.T) {
	m, s := start(t, map[string]func(*http.Request) any{}, monitor.Settings{}, client.Config{MaxMemory: 64 << 10})
	take(t, m)
	go func() {
		for i := range 1000 {
			select {
			case s.RawEvents(pods) <- clustertest.Fields{"type": "ADDED", "object": item(fmt.Sprint("p-", i), fmt.Sprint("uid-", i), fmt.Sprint(11+i))}:
			case <-t.Context().Done():
				return
			}
		}
	}()
	await(t, "the limit", func() bool {
		_, err := everything(t.Context(), m)
		return errors.As(err, new(*client.MemoryError))
	})
}

// In each hour, objects come and go 60 times, a type six times, watches end after seven minutes, as
// API servers end them, and once one has expired. The hours are those of a bubble.
func TestADayOfChangesLeaksNothing(t *testing.T) {
	present := func() bool { return time.Now().Minute()%10 < 5 }
	var discoveries, version atomic.Int64
	version.Store(10)
	_, s := clustertest.Serve(t, map[string]func(*http.Request) any{
		clustertest.DefinitionsPath: func(*http.Request) any {
			if present() {
				return clustertest.List(clustertest.ClusterScoped("widgets.example.com"))
			}
			return clustertest.List()
		},
		clustertest.DefinitionsPath + "/widgets.example.com": clustertest.Reply(clustertest.Definition("widgets.example.com", true, "True")),
		"/apis/example.com/v1": func(*http.Request) any {
			discoveries.Add(1)
			if present() {
				return clustertest.TypeList("example.com/v1", clustertest.NamespacedType("widgets", "Widget"))
			}
			return clustertest.TypeList("example.com/v1")
		},
		"/apis/example.com/v1/widgets": clustertest.Reply(clustertest.List(clustertest.Item("w"))),
		pods: func(*http.Request) any {
			list := clustertest.List(clustertest.Item("a"))
			list["metadata"] = clustertest.Fields{"resourceVersion": fmt.Sprint(version.Load())}
			return list
		},
	})
	type state struct {
		objects, monitors, goroutines int
		bytes, watches                int64
	}
	synctest.Test(t, func(t *testing.T) {
		s.WatchLifetime = 7 * time.Minute
		m, err := monitor.Start(t.Context(), clustertest.ConnectInMemory(t, s, client.Config{Concurrency: 3, Timeout: 10 * time.Second}), monitor.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if got := names(take(t, m)); got != "a@5 w@5" {
			t.Fatalf("at first: %s", got)
		}
		measure := func() (state, uint64) {
			synctest.Wait()
			s.ForgetRequests()
			runtime.GC()
			var memory runtime.MemStats
			runtime.ReadMemStats(&memory)
			now := m.Stats()
			return state{now.Objects, now.Monitors, runtime.NumGoroutine(), now.Bytes, s.Watches.Load()}, memory.HeapAlloc
		}
		types := map[string]bool{}
		hour := func() {
			for minute := range 60 {
				uid := fmt.Sprint("uid-", version.Load())
				for _, event := range []string{"ADDED", "DELETED"} {
					s.RawEvents(pods) <- clustertest.Fields{"type": event, "object": item("b", uid, fmt.Sprint(version.Add(1)))}
				}
				if minute == 30 {
					s.RawEvents(pods) <- expired
				}
				time.Sleep(time.Minute - time.Second)
				types[names(take(t, m))] = true
				time.Sleep(time.Second)
			}
		}
		hour()
		first, before := measure()
		for range 23 {
			hour()
		}
		last, after := measure()
		if first != last {
			t.Errorf("after a day %+v, after an hour %+v", last, first)
		}
		if after > before+256<<10 {
			t.Errorf("the heap grew from %d to %d KiB", before>>10, after>>10)
		}
		if want := map[string]bool{"a@5": true, "a@5 w@5": true}; !maps.Equal(types, want) {
			t.Errorf("the snapshots had %v, want %v", types, want)
		}
		if n := discoveries.Load(); n < 2000 {
			t.Errorf("%d discoveries", n)
		}
		m.Stop()
		synctest.Wait()
		if got := m.Stats(); got.Bytes != 0 || got.Objects != 0 || s.Watches.Load() != 0 {
			t.Errorf("after Stop: %+v, %d watches", got, s.Watches.Load())
		}
		t.Logf("%d discoveries, %d relists, %d goroutines, heap of %d and %d KiB", discoveries.Load(), m.Stats().Relists, last.goroutines, before>>10, after>>10)
	})
}

// own makes an item a dependent of a Pod.
func own(item clustertest.Fields, owner string) {
	item["metadata"].(clustertest.Fields)["ownerReferences"] = []clustertest.Fields{{"apiVersion": "v1", "kind": "Pod", "name": owner, "uid": "uid-" + owner}}
}
