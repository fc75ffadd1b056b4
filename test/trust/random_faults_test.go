package trust

import (
	"bytes"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// TestRandomFaults runs commands while requests fail as they do between a client and an API server. It requires what
// TestRandomLies requires, and that another run, without faults, does what is left: then all that was to go is gone, and
// nothing else is. SEEDS is the number of runs, SEED the first one.
func TestRandomFaults(t *testing.T) {
	t.Parallel()
	forSeeds(t, 20, func(t *testing.T, seed uint64) {
		r := newRandomRun(t, seed)
		failAtRandom(r.server, seed)
		r.run(0, 1, 2)

		switch r.command[0] {
		case "delete": // if the target is gone, its dependents are garbage
			r.runs(append(r.command, "--ignore-not-found")...).exits(0)
			r.runs("collect", "--yes").exits(0)
		default:
			r.runs(r.command...).exits(0)
		}
		if command := r.command[0]; command == "repair" || command == "restore" {
			if left := r.runs(append([]string{command, "--dry-run"}, r.command[2:]...)...).exits(0).read(); len(left.Steps) > 0 {
				t.Errorf("after a second run it would still do this: %+v", left.Steps)
			}
			return
		}
		for _, was := range r.truth.before {
			if gone := r.server.Now(&was) == nil; was.DeletionTimestamp == nil && gone != r.truth.mayGo(&was) {
				t.Errorf("after a second run, %s is gone: %t", was.Path(), gone)
			}
		}
	})
}

// failAtRandom makes requests fail from now on. Whether one does, and how, depends on the seed, on the request, and on how
// often it was sent before, but not on the order of all. Discovery seldom fails: without it, a run ends at once. In half of
// the runs, the lists of one type always fail, from the start or after the first page.
func failAtRandom(s *Server, seed uint64) {
	chance := rand.New(rand.NewPCG(seed, 1))
	percent, fromTheStart := []int{3, 10, 20, 45}[chance.IntN(4)], chance.IntN(2) == 0
	failing := Listed([]*Type{Secrets, ConfigMaps, Pods, Widgets, ReplicaSets, Deployments}[chance.IntN(6)])
	if chance.IntN(2) == 0 {
		failing = func(*http.Request) bool { return false }
	}
	var mu sync.Mutex
	sent := map[string]int{}
	s.Lie(func(*http.Request) bool { return true }, func(w http.ResponseWriter, r *http.Request) {
		request := r.Method + r.URL.String() + r.Header.Get("Accept")
		mu.Lock()
		sent[request]++
		hash := fnv.New64a()
		fmt.Fprint(hash, request, sent[request])
		mu.Unlock()
		percent := percent
		if !strings.Contains(r.URL.Path, "v1/") {
			percent /= 8
		}
		random := rand.New(rand.NewPCG(seed, hash.Sum64()))
		switch {
		case failing(r) && (fromTheStart || r.URL.Query().Has("continue")):
			Refuse(apierrors.NewServiceUnavailable("the server is currently unable to handle the request"))(w, r)
		case random.IntN(100) < percent:
			s.randomFault(r, random)(w, r)
		default:
			s.Honest(w, r)
		}
	})
}

func (s *Server) randomFault(r *http.Request, random *rand.Rand) http.HandlerFunc {
	faults := []http.HandlerFunc{
		Refuse(apierrors.NewUnauthorized("Unauthorized")),
		Forbid(Secrets),
		Refuse(apierrors.NewGenericServerResponse(http.StatusNotFound, "get", Secrets.GroupResource(), "", "", 0, true)),
		Text(http.StatusNotFound, "text/plain", "404 page not found"),
		Refuse(apierrors.NewResourceExpired("The provided continue parameter is too old")),
		Refuse(apierrors.NewTooManyRequests("too many requests", 1)),
		Refuse(apierrors.NewInternalError(errors.New("etcdserver: request timed out"))),
		Refuse(apierrors.NewServiceUnavailable("the server is currently unable to handle the request")),
		Refuse(apierrors.NewTimeoutError("the server was unable to return a response in the time allotted", 0)),
		func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, // the connection breaks
		func(w http.ResponseWriter, r *http.Request) { // ... in the middle of the answer
			s.Half(w, r)
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		},
		func(w http.ResponseWriter, r *http.Request) { // others overtake it
			time.Sleep(time.Duration(random.IntN(100)) * time.Millisecond)
			s.Honest(w, r)
		},
		s.corrupted(random),
	}
	if r.Method != http.MethodGet {
		faults = slices.Concat(faults, []http.HandlerFunc{
			Refuse(apierrors.NewConflict(Secrets.GroupResource(), "", errors.New("the object has been modified"))),
			s.lost, s.lost, s.lost, s.twice, s.twice, s.twice,
		})
	}
	return faults[random.IntN(len(faults))]
}

// lost does what is asked, and the connection breaks before the answer.
func (s *Server) lost(_ http.ResponseWriter, r *http.Request) {
	s.Honest(httptest.NewRecorder(), r)
	panic(http.ErrAbortHandler)
}

// twice does what is asked twice, as when a proxy sends a request again.
func (s *Server) twice(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body) // of a request that was read
	again := r.Clone(r.Context())
	r.Body, again.Body = io.NopCloser(bytes.NewReader(body)), io.NopCloser(bytes.NewReader(body))
	s.Honest(httptest.NewRecorder(), r)
	s.Honest(w, again)
}

// corrupted responds honestly except for some bytes.
func (s *Server) corrupted(random *rand.Rand) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		honest := httptest.NewRecorder()
		s.Honest(honest, r)
		body := honest.Body.Bytes()
		for range 1 + random.IntN(1+len(body)/400) {
			at := random.IntN(max(1, len(body)))
			for i := at; i < min(at+4, len(body)); i++ {
				body[i] = byte(random.Uint32())
			}
		}
		Text(honest.Code, honest.Header().Get("Content-Type"), string(body))(w, r)
	}
}
