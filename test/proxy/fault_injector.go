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

// FaultInjector is a handler that lets requests go wrong by a seed. What becomes of a
// request depends on the seed, on what it asks for and on how often that was asked
// before; not on when it comes. So a seed does the same again, as far as the client
// asks the same; but of the kinds that cost time only the first ones are done.
type FaultInjector struct {
	upstream http.Handler // hands on
	observed http.Handler // the same, and notices when nobody is there to hear of a write
	seed     uint64
	odds     map[requestClass]int // of a thousand requests, how many go wrong
	bad      *failingType         // nil: there is none
	same     func(path string) string
	most     map[Kind]int // of the kinds that cost time
	queue    Queue

	mu       sync.Mutex
	attempts map[string]int // how often
	count    map[Kind]int
	lost     int
	hidden   map[schema.GroupResource]bool // whose lists went wrong; with no resource: the discovery of the group
}

// failingType is a type whose lists fail for a whole run.
type failingType struct {
	Kind
	resource string
	as       fault
}

// levels are the odds that a run may have, of a thousand requests.
var levels = []int{0, 30, 100, 200, 300, 450}

// NewFaultInjector draws how much goes wrong for readers and for writers, and whether
// the lists of one of the types do so all the time. same answers what is to count
// as the same path though it is spelled otherwise; it may be nil.
func NewFaultInjector(seed uint64, types []string, same func(path string) string) *FaultInjector {
	dice := rand.New(rand.NewPCG(seed, 1))
	reads, writes := levels[dice.IntN(len(levels))], levels[dice.IntN(len(levels))]
	if reads+writes == 0 {
		writes = levels[len(levels)-1]
	}
	m := &FaultInjector{
		seed: seed, same: same, most: slowKinds, attempts: map[string]int{}, count: map[Kind]int{}, hidden: map[schema.GroupResource]bool{},
		// Where discovery fails there is no run, and nothing to learn from it.
		odds: map[requestClass]int{discovery: reads / 8, list: reads / 4, get: reads, watch: reads, write: writes},
	}
	if kind := []Kind{"", "", "", BadPages, BadPages, BadType}[dice.IntN(6)]; kind != "" && len(types) > 0 {
		m.bad = &failingType{kind, types[dice.IntN(len(types))], drawFault(requestInfo{class: list}, dice)}
		for slowKinds[m.bad.as.kind] > 0 || m.bad.as.kind == Delayed {
			m.bad.as = drawFault(requestInfo{class: list}, dice)
		}
	}
	return m
}

// Wrap is the handler, before what it hands requests on to.
func (m *FaultInjector) Wrap(through http.Handler) http.Handler {
	m.upstream = through
	m.observed = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if requestInfoOf(r).class != write {
			through.ServeHTTP(w, r)
			return
		}
		noting := &statusRecorder{ResponseWriter: w}
		through.ServeHTTP(noting, r)
		if r.Context().Err() != nil && noting.code >= 200 && noting.code < 300 { // who asked is gone
			m.recordLostWrite()
		}
	})
	return m
}

// ServeHTTP answers one request.
func (m *FaultInjector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer m.queue.Done()
	kind, answer := m.choose(r)
	m.recordHidden(r, kind)
	answer(w, r)
}

// choose says what becomes of a request, and counts it. The kind is empty where
// nothing goes wrong.
func (m *FaultInjector) choose(r *http.Request) (Kind, http.HandlerFunc) {
	a := requestInfoOf(r)
	dice := m.diceFor(r, a)
	if b := m.bad; b != nil && a.class == list && a.resource == b.resource && (a.continued || b.Kind == BadType) {
		m.countFault(b.Kind)
		return b.Kind, b.as.answer(m, a, dice)
	}
	if dice.IntN(1000) >= m.odds[a.class] {
		return "", m.observed.ServeHTTP
	}
	t := drawFault(a, dice)
	for !m.countFault(t.kind) {
		t = drawFault(a, dice)
	}
	return t.kind, t.answer(m, a, dice)
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

// countFault counts a fault, unless the run cannot afford it any more.
func (m *FaultInjector) countFault(k Kind) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if most, bounded := m.most[k]; bounded && m.count[k] >= most {
		return false
	}
	m.count[k]++
	return true
}

// recordHidden notes what the client may not see because of a fault.
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

// groupOf is the group that a path leads into; ofOne is false where it is of all.
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

// MayHaveHidden says whether a list of a type, or the discovery of its group, went wrong in
// another way than late: the client may have seen none of its objects. It may have
// asked again, and seen them after all.
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

// Counts is how often each kind of fault was done so far.
func (m *FaultInjector) Counts() map[Kind]int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.count)
}

// LostWrites is how many writes the server did and the client had no answer to.
func (m *FaultInjector) LostWrites() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.lost
}

// String says how much goes wrong.
func (m *FaultInjector) String() string {
	out := fmt.Sprintf("of 1000 reads %d and of 1000 writes %d go wrong", m.odds[get], m.odds[write])
	if m.bad != nil {
		out += fmt.Sprintf("; %s: %s, %s", m.bad.Kind, m.bad.resource, m.bad.as.kind)
	}
	return out
}

// statusRecorder remembers which code was answered.
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
