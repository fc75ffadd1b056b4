package proxy

import (
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
)

// FaultInjector is a handler that injects faults by a seed. The fault of a request depends on
// the seed, on what it requests and on how often that was requested before, but not on when
// it arrives. So a seed is reproducible as far as the client sends the same requests, except
// for the limits on kinds that cost time.
type FaultInjector struct {
	upstream http.Handler
	seed     uint64
	odds     map[requestClass]int // faults per thousand requests
	bad      *failingType         // nil: none
	most     map[Kind]int         // limits of the kinds that cost time
	queue    Queue

	mu       sync.Mutex
	attempts map[string]int // by request
	count    map[Kind]int
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
// the types always fail.
func NewFaultInjector(seed uint64, types []string) *FaultInjector {
	random := rand.New(rand.NewPCG(seed, 1))
	reads, writes := levels[random.IntN(len(levels))], levels[random.IntN(len(levels))]
	if reads+writes == 0 {
		writes = levels[len(levels)-1]
	}
	m := &FaultInjector{
		seed: seed, most: slowKinds, attempts: map[string]int{}, count: map[Kind]int{},
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
	return m
}

// ServeHTTP implements http.Handler.
func (m *FaultInjector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer m.queue.Done()
	_, answer := m.choose(r)
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
		return "", m.upstream.ServeHTTP
	}
	t := drawFault(a, random)
	for !m.countFault(t.kind) {
		t = drawFault(a, random)
	}
	return t.kind, t.answer(m, a, random)
}

func (m *FaultInjector) diceFor(r *http.Request, a requestInfo) *rand.Rand {
	key := fmt.Sprint(r.Method, r.URL.Path, a)
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

// String describes the odds and the faults so far.
func (m *FaultInjector) String() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := fmt.Sprintf("of 1000 reads %d and of 1000 writes %d go wrong", m.odds[get], m.odds[write])
	if m.bad != nil {
		out += fmt.Sprintf("; %s: %s, %s", m.bad.Kind, m.bad.resource, m.bad.as.kind)
	}
	for _, k := range slices.Sorted(maps.Keys(m.count)) {
		out += fmt.Sprintf("; %d × %s", m.count[k], k)
	}
	return out
}
