package e2e

import (
	"net/http"
	"sync"
	"testing"
	"time"
)

// TestRateLimitsWrites sends 11 writes at 10/s, which takes a second.
func TestRateLimitsWrites(t *testing.T) {
	s := newScene(t)
	const objects = 11
	var mu sync.Mutex
	var last time.Time
	writes := 0
	f := s.throughProxy(func(through http.Handler) []fault {
		return []fault{{writing(anyRequest), func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			last = time.Now()
			writes++
			mu.Unlock()
			through.ServeHTTP(w, r)
		}}}
	}).allowWrites()
	takesASecond := func(t *testing.T, args ...string) result {
		t.Helper()
		writes = 0
		begun := time.Now()
		r := f.gc(append(args, "--rate", "10/s")...).exits(t, 0)
		mu.Lock()
		defer mu.Unlock()
		if took := last.Sub(begun); writes != objects || took < (objects-1)*time.Second/10 {
			t.Errorf("%d writes in %s", writes, took)
		}
		return r
	}

	ns := s.namespace("rate")
	s.createGarbage(ns, objects)
	takesASecond(t, "collect", "-n", ns, "--dry-run=server")
	r := takesASecond(t, "collect", "-n", ns, "--yes", "-o", "json")
	takesASecond(t, "restore", decode[collected](t, r).Backup, "--yes")

	t.Run("a run that would take too long is refused before anything is changed", func(t *testing.T) {
		s := s.forSubtest(t)
		ns := s.namespace("too-long")
		garbage := s.createGarbage(ns, 4)
		s.gc("collect", "-n", ns, "--dry-run", "--rate=1", "--timeout=2s").exits(t, 0).warns(t, "warning: at --rate 1/s, 4 writes take at least 3s, longer than --timeout allows (2s)")
		s.gc("collect", "-n", ns, "--yes", "--rate=1", "--timeout=2s").exits(t, 2).
			warns(t, "error: at --rate 1/s, 4 writes take at least 3s, longer than --timeout allows (2s): nothing was changed", "hint: use --timeout 0 for no limit")
		for _, o := range garbage {
			s.live(o)
		}
	})
}
