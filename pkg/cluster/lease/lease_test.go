package lease

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/clustertest"
	"github.com/kubectl-gc/kubectl-gc/test/apiserver"
)

// server serves one Lease.
type server struct {
	mu      sync.Mutex
	lease   *Lease // nil if there is none
	version int
	writes  int
	late    time.Duration // how long the answer to the first write takes
	down    bool          // after the first write
	renewal bool          // that is under way until the Lease is to be released
}

func (s *server) set(l *Lease) { s.lease, s.version = l, s.version+1 }

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	before := s.writes
	if s.down && before > 0 {
		s.mu.Unlock()
		http.Error(w, "down", http.StatusInternalServerError)
		return
	}
	a := httptest.NewRecorder()
	s.answer(a, r)
	late := before == 0 && s.writes > 0
	s.mu.Unlock()
	if late {
		time.Sleep(s.late)
	}
	w.Header().Set("Content-Type", a.Header().Get("Content-Type"))
	w.WriteHeader(a.Code)
	_, _ = w.Write(a.Body.Bytes()) // fails if the client has given up
}

func (s *server) answer(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet {
		var sent struct {
			Metadata struct{ ResourceVersion string }
			Spec     Lease
		}
		if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
			panic(err)
		}
		if s.renewal && sent.Spec.HolderIdentity == "" {
			s.set(s.lease)
			s.renewal = false
		}
		if now := sent.Metadata.ResourceVersion; now != "" && now != strconv.Itoa(s.version) {
			apiserver.WriteJSON(w, http.StatusConflict, clustertest.Status(http.StatusConflict, "Conflict", "changed", nil))
			return
		}
		s.set(&sent.Spec)
		s.writes++
	}
	if s.lease == nil {
		apiserver.WriteJSON(w, http.StatusNotFound, clustertest.Status(http.StatusNotFound, "NotFound", "not found", clustertest.Fields{"name": "lock", "group": Leases.Group, "kind": Leases.Resource}))
		return
	}
	apiserver.WriteJSON(w, http.StatusOK, clustertest.Fields{
		"apiVersion": Leases.APIVersion(), "kind": Leases.Kind, "spec": s.lease,
		"metadata": clustertest.Fields{"namespace": "ops", "name": "lock", "uid": "u-lock", "resourceVersion": strconv.Itoa(s.version)},
	})
}

// withLock runs a test of a Lock that the candidate "us" uses, in a bubble of package synctest.
func withLock(t *testing.T, first *Lease, test func(*testing.T, *server, *Lock)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &server{lease: first}
		test(t, s, New(clustertest.ConnectInMemory(t, s, client.Config{}), "ops", "lock", "us"))
	})
}

func TestAcquire(t *testing.T) {
	for name, c := range map[string]struct {
		lease *Lease
		after time.Duration
	}{
		"creates a Lease that does not exist":               {nil, 0},
		"takes a Lease that was released at once":           {&Lease{LeaseDurationSeconds: 1}, 0},
		"takes one that is its own at once":                 {&Lease{HolderIdentity: "us", LeaseDurationSeconds: 15}, 0},
		"takes one that is not renewed when it has expired": {&Lease{HolderIdentity: "other", LeaseDurationSeconds: 15}, 16 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			withLock(t, c.lease, func(t *testing.T, s *server, l *Lock) {
				begun := time.Now()
				if err := l.Acquire(t.Context(), nil); err != nil || s.lease.HolderIdentity != "us" || s.lease.Duration() != duration {
					t.Errorf("%v; the Lease is %+v", err, s.lease)
				}
				s.mu.Lock()
				defer s.mu.Unlock()
				if got := time.Since(begun); got != c.after {
					t.Errorf("after %s, want %s", got, c.after)
				}
			})
		})
	}
}

// TestAnswerThatIsTooOldDoesNotCount has a server whose answer to the first write comes when the Lease has expired.
func TestAnswerThatIsTooOldDoesNotCount(t *testing.T) {
	withLock(t, nil, func(t *testing.T, s *server, l *Lock) {
		s.late = duration + time.Second
		begun := time.Now()
		if err := l.Acquire(t.Context(), nil); err != nil || s.writes != 2 {
			t.Errorf("%v, after %d writes", err, s.writes)
		}
		if got, want := time.Since(begun), renewDeadline+retryPeriod; got != want {
			t.Errorf("it has the Lease after %s, want %s", got, want)
		}
		time.Sleep(s.late) // for the answer that nobody reads
	})
}

// TestHoldEndsInTimeAfterASlowAcquisition has a server that fails after that.
func TestHoldEndsInTimeAfterASlowAcquisition(t *testing.T) {
	withLock(t, nil, func(t *testing.T, s *server, l *Lock) {
		s.late, s.down = renewDeadline-time.Second, true
		begun := time.Now()
		if err := l.Acquire(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		if err := l.Hold(t.Context()); !errors.Is(err, ErrLost) {
			t.Errorf("it ends with %v", err)
		}
		if got := time.Since(begun); got > renewDeadline+retryPeriod {
			t.Errorf("it ends %s after it has asked for the Lease", got)
		}
	})
}

// TestHold has a candidate whose Lease is somebody else's after a minute: another one may have acted.
func TestHold(t *testing.T) {
	for name, c := range map[string]struct {
		then *Lease
		want string
	}{
		"of another candidate":        {&Lease{HolderIdentity: "other", LeaseDurationSeconds: 15}, `the lease was lost: "other" holds it`},
		"of one that has released it": {&Lease{LeaseDurationSeconds: 1}, "the lease was lost: it was released or deleted"},
		"deleted":                     {nil, "the lease was lost: it was released or deleted"},
	} {
		t.Run(name, func(t *testing.T) {
			withLock(t, nil, func(t *testing.T, s *server, l *Lock) {
				if err := l.Acquire(t.Context(), nil); err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				begun := time.Now()
				before := 0
				time.AfterFunc(time.Minute+time.Second, func() {
					s.mu.Lock()
					defer s.mu.Unlock()
					s.set(c.then)
					before = s.writes
				})
				if err := l.Hold(ctx); !errors.Is(err, ErrLost) || err.Error() != c.want {
					t.Errorf("it ends with %v, want %s", err, c.want)
				}
				if got := time.Since(begun); got != time.Minute+retryPeriod || s.writes != before {
					t.Errorf("it ends after %s, with %d more writes", got, s.writes-before)
				}
			})
		})
	}
	for name, renewal := range map[string]bool{
		"releases the Lease at its end":                             false,
		"releases the Lease although a renewal was still under way": true,
	} {
		t.Run(name, func(t *testing.T) {
			withLock(t, nil, func(t *testing.T, s *server, l *Lock) {
				if err := l.Acquire(t.Context(), nil); err != nil {
					t.Fatal(err)
				}
				s.renewal = renewal
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				if err := l.Hold(ctx); !errors.Is(err, context.DeadlineExceeded) || s.lease.HolderIdentity != "" || s.lease.Duration() != time.Second {
					t.Errorf("%v; the Lease is %+v", err, s.lease)
				}
			})
		})
	}
}
