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

// Mischief is a handler that lets requests go wrong by a seed. What becomes of a
// request depends on the seed, on what it asks for and on how often that was asked
// before; not on when it comes. So a seed does the same again, as far as the client
// asks the same; but of the kinds that cost time only the first ones are done.
type Mischief struct {
	raw     http.Handler // hands on
	through http.Handler // the same, and notices when nobody is there to hear of a write
	seed    uint64
	odds    map[sort]int // of a thousand requests, how many go wrong
	bad     *badType     // nil: there is none
	same    func(path string) string
	most    map[Kind]int // of the kinds that cost time
	queue   Queue

	mu    sync.Mutex
	asked map[string]int // how often
	count map[Kind]int
	lost  int
	hid   map[schema.GroupResource]bool // whose lists went wrong; with no resource: the discovery of the group
}

// badType is a type whose lists fail for a whole run.
type badType struct {
	Kind
	resource string
	as       trick
}

// levels are the odds that a run may have, of a thousand requests.
var levels = []int{0, 30, 100, 200, 300, 450}

// NewMischief draws how much goes wrong for readers and for writers, and whether
// the lists of one of the types do so all the time. same answers what is to count
// as the same path though it is spelled otherwise; it may be nil.
func NewMischief(seed uint64, types []string, same func(path string) string) *Mischief {
	dice := rand.New(rand.NewPCG(seed, 1))
	reads, writes := levels[dice.IntN(len(levels))], levels[dice.IntN(len(levels))]
	if reads+writes == 0 {
		writes = levels[len(levels)-1]
	}
	m := &Mischief{
		seed: seed, same: same, most: slow, asked: map[string]int{}, count: map[Kind]int{}, hid: map[schema.GroupResource]bool{},
		// Where discovery fails there is no run, and nothing to learn from it.
		odds: map[sort]int{discovery: reads / 8, list: reads / 4, get: reads, watch: reads, write: writes},
	}
	if kind := []Kind{"", "", "", BadPages, BadPages, BadType}[dice.IntN(6)]; kind != "" && len(types) > 0 {
		m.bad = &badType{kind, types[dice.IntN(len(types))], draw(ask{sort: list}, dice)}
		for slow[m.bad.as.kind] > 0 || m.bad.as.kind == Delayed {
			m.bad.as = draw(ask{sort: list}, dice)
		}
	}
	return m
}

// Before is the handler, before what it hands requests on to.
func (m *Mischief) Before(through http.Handler) http.Handler {
	m.raw = through
	m.through = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if askOf(r).sort != write {
			through.ServeHTTP(w, r)
			return
		}
		noting := &noted{ResponseWriter: w}
		through.ServeHTTP(noting, r)
		if r.Context().Err() != nil && noting.code >= 200 && noting.code < 300 { // who asked is gone
			m.lose()
		}
	})
	return m
}

// ServeHTTP answers one request.
func (m *Mischief) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer m.queue.Passed()
	kind, answer := m.choose(r)
	m.hide(r, kind)
	answer(w, r)
}

// choose says what becomes of a request, and counts it. The kind is empty where
// nothing goes wrong.
func (m *Mischief) choose(r *http.Request) (Kind, http.HandlerFunc) {
	a := askOf(r)
	dice := m.diceFor(r, a)
	if b := m.bad; b != nil && a.sort == list && a.resource == b.resource && (a.continued || b.Kind == BadType) {
		m.note(b.Kind)
		return b.Kind, b.as.answer(m, a, dice)
	}
	if dice.IntN(1000) >= m.odds[a.sort] {
		return "", m.through.ServeHTTP
	}
	t := draw(a, dice)
	for !m.note(t.kind) {
		t = draw(a, dice)
	}
	return t.kind, t.answer(m, a, dice)
}

func (m *Mischief) diceFor(r *http.Request, a ask) *rand.Rand {
	path := r.URL.Path
	if m.same != nil {
		path = m.same(path)
	}
	key := fmt.Sprint(r.Method, path, a)
	m.mu.Lock()
	m.asked[key]++
	n := m.asked[key]
	m.mu.Unlock()
	hash := fnv.New64a()
	fmt.Fprint(hash, key, n)
	return rand.New(rand.NewPCG(m.seed, hash.Sum64()))
}

// note counts a fault, unless the run cannot afford it any more.
func (m *Mischief) note(k Kind) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if most, bounded := m.most[k]; bounded && m.count[k] >= most {
		return false
	}
	m.count[k]++
	return true
}

// hide notes what the client may not see because of a fault.
func (m *Mischief) hide(r *http.Request, k Kind) {
	a := askOf(r)
	group, ofOne := groupOf(r.URL.Path)
	if k == "" || k == Delayed || !ofOne || a.sort != list && a.sort != discovery {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.hid[schema.GroupResource{Group: group, Resource: a.resource}] = true
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

// Hid says whether a list of a type, or the discovery of its group, went wrong in
// another way than late: the client may have seen none of its objects. It may have
// asked again, and seen them after all.
func (m *Mischief) Hid(of schema.GroupResource) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.hid[of] || m.hid[schema.GroupResource{Group: of.Group}]
}

func (m *Mischief) lose() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lost++
}

// Counts is how often each kind of fault was done so far.
func (m *Mischief) Counts() map[Kind]int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.count)
}

// LostWrites is how many writes the server did and the client had no answer to.
func (m *Mischief) LostWrites() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.lost
}

// String says how much goes wrong.
func (m *Mischief) String() string {
	out := fmt.Sprintf("of 1000 reads %d and of 1000 writes %d go wrong", m.odds[get], m.odds[write])
	if m.bad != nil {
		out += fmt.Sprintf("; %s: %s, %s", m.bad.Kind, m.bad.resource, m.bad.as.kind)
	}
	return out
}

// noted remembers which code was answered.
type noted struct {
	http.ResponseWriter
	code int
}

func (n *noted) WriteHeader(code int) {
	n.code = code
	n.ResponseWriter.WriteHeader(code)
}

// Unwrap is for http.ResponseController.
func (n *noted) Unwrap() http.ResponseWriter { return n.ResponseWriter }
