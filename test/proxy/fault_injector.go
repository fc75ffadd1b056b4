package proxy

import (
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// FaultInjector is a handler that injects faults by a seed. The fault of a request depends on
// the seed, on what it requests and on how often that was requested before, but not on when
// it arrives. So a seed is reproducible as far as the client sends the same requests, except
// for the limits on kinds that cost time.
type FaultInjector struct {
	upstream http.Handler
	observed http.Handler // upstream; records writes whose client has disconnected
	seed     uint64
	odds     map[requestClass]int // faults per thousand requests
	bad      *failingType         // nil: none
	same     func(path string) string
	most     map[Kind]int // limits of the kinds that cost time
	queue    Queue

	mu       sync.Mutex
	attempts map[string]int // by request
	count    map[Kind]int
	lost     int
	hidden   map[schema.GroupResource]bool // types whose lists had faults; an empty resource means the discovery of the group
}

// failingType is a type whose lists fail for a whole run.
type failingType struct {
	Kind
	resource string
	as       fault
}

// levels are the possible odds of a run, in faults per thousand requests.
var levels = []int{0, 30, 100, 200, 300, 450}

// NewFaultInjector draws the odds for reads and for writes, and whether the lists of one of
// the types always fail. same returns a canonical path for equivalent paths; it may be nil.
func NewFaultInjector(seed uint64, types []string, same func(path string) string) *FaultInjector {
	random := rand.New(rand.NewPCG(seed, 1))
	reads, writes := levels[random.IntN(len(levels))], levels[random.IntN(len(levels))]
	if reads+writes == 0 {
		writes = levels[len(levels)-1]
	}
	m := &FaultInjector{
		seed: seed, same: same, most: slowKinds, attempts: map[string]int{}, count: map[Kind]int{}, hidden: map[schema.GroupResource]bool{},
		// A run without discovery ends at once and tests nothing.
		odds: map[requestClass]int{discovery: reads / 8, list: reads / 4, get: reads, watch: reads, write: writes},
	}
	if kind := []Kind{"", "", "", BadPages, BadPages, BadType}[random.IntN(6)]; kind != "" && len(types) > 0 {
		m.bad = &failingType{kind, types[random.IntN(len(types))], drawFault(requestInfo{class: list}, random)}
		for slowKinds[m.bad.as.kind] > 0 || m.bad.as.kind == Delayed {
			m.bad.as = drawFault(requestInfo{class: list}, random)
		}
	}
	return m
}

// Wrap returns the handler, which forwards requests to through.
func (m *FaultInjector) Wrap(through http.Handler) http.Handler {
	m.upstream = through
	m.observed = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if requestInfoOf(r).class != write {
			through.ServeHTTP(w, r)
			return
		}
		noting := &statusRecorder{ResponseWriter: w}
		through.ServeHTTP(noting, r)
		if r.Context().Err() != nil && noting.code >= 200 && noting.code < 300 { // the client has disconnected
			m.recordLostWrite()
		}
	})
	return m
}

// ServeHTTP implements http.Handler.
func (m *FaultInjector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer m.queue.Done()
	kind, answer := m.choose(r)
	m.recordHidden(r, kind)
	answer(w, r)
}

// choose returns the fault of a request and counts it. The kind is empty without a fault.
func (m *FaultInjector) choose(r *http.Request) (Kind, http.HandlerFunc) {
	a := requestInfoOf(r)
	random := m.diceFor(r, a)
	if b := m.bad; b != nil && a.class == list && a.resource == b.resource && (a.continued || b.Kind == BadType) {
		m.countFault(b.Kind)
		return b.Kind, b.as.answer(m, a, random)
	}
	if random.IntN(1000) >= m.odds[a.class] {
		return "", m.observed.ServeHTTP
	}
	t := drawFault(a, random)
	for !m.countFault(t.kind) {
		t = drawFault(a, random)
	}
	return t.kind, t.answer(m, a, random)
}

func (m *FaultInjector) diceFor(r *http.Request, a requestInfo) *rand.Rand {
	path := r.URL.Path
	if m.same != nil {
		path = m.same(path)
	}
	key := fmt.Sprint(r.Method, path, a)
	m.mu.Lock()
	m.attempts[key]++
	n := m.attempts[key]
	m.mu.Unlock()
	hash := fnv.New64a()
	fmt.Fprint(hash, key, n)
	return rand.New(rand.NewPCG(m.seed, hash.Sum64()))
}

// countFault counts a fault and reports whether it is within the limit of the run.
func (m *FaultInjector) countFault(k Kind) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if most, bounded := m.most[k]; bounded && m.count[k] >= most {
		return false
	}
	m.count[k]++
	return true
}

// recordHidden records the type that a fault may hide from the client.
func (m *FaultInjector) recordHidden(r *http.Request, k Kind) {
	a := requestInfoOf(r)
	group, ofOne := groupOf(r.URL.Path)
	if k == "" || k == Delayed || !ofOne || a.class != list && a.class != discovery {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.hidden[schema.GroupResource{Group: group, Resource: a.resource}] = true
}

// groupOf returns the group of a path; ofOne is false for paths of all groups.
func groupOf(path string) (group string, ofOne bool) {
	at := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case len(at) < 2:
		return "", false
	case at[0] == "apis":
		return at[1], true
	}
	return "", at[0] == "api"
}

// MayHaveHidden reports whether a list of a type, or the discovery of its group, had a fault
// other than a delay, so that the client may not have read its objects. It may have retried
// successfully.
func (m *FaultInjector) MayHaveHidden(of schema.GroupResource) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.hidden[of] || m.hidden[schema.GroupResource{Group: of.Group}]
}

func (m *FaultInjector) recordLostWrite() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lost++
}

// Counts returns the number of faults so far, by kind.
func (m *FaultInjector) Counts() map[Kind]int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.count)
}

// LostWrites returns the number of writes that the server executed without a response to the
// client.
func (m *FaultInjector) LostWrites() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.lost
}

// String describes the odds.
func (m *FaultInjector) String() string {
	out := fmt.Sprintf("of 1000 reads %d and of 1000 writes %d go wrong", m.odds[get], m.odds[write])
	if m.bad != nil {
		out += fmt.Sprintf("; %s: %s, %s", m.bad.Kind, m.bad.resource, m.bad.as.kind)
	}
	return out
}

// statusRecorder records the status code of a response.
type statusRecorder struct {
	http.ResponseWriter
	code int
}

func (n *statusRecorder) WriteHeader(code int) {
	n.code = code
	n.ResponseWriter.WriteHeader(code)
}

// Unwrap is for http.ResponseController.
func (n *statusRecorder) Unwrap() http.ResponseWriter { return n.ResponseWriter }
