package proxy

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Facts about the cluster let a Liar tell lies that a client can detect with other requests.
type Facts struct {
	// Objects are existing objects. A lie may replace one with another.
	Objects []Object
	// Owners may be left out of lists, because an object in all lists refers to them, so that a
	// client requests them with a GET.
	Owners map[types.UID]bool
	// CustomGroup has a CustomResourceDefinition for each of its types.
	CustomGroup string
	// OldResourceVersion is the resourceVersion of a state older than all of these.
	OldResourceVersion string
	// Requests are the expected requests of the client.
	Requests Requests
}

// Requests are distinct requests of a client.
type Requests []requestDetails

// Watch and Tables are requests that a client may send but that were not recorded.
var (
	Watch  = Requests{{requestInfo: requestInfo{class: watch, resource: "pods"}, method: http.MethodGet, root: "api", shape: metadata}}
	Tables = Requests{{requestInfo: requestInfo{class: list, resource: "pods"}, method: http.MethodGet, root: "api", shape: table}}
)

// Recorder records requests.
type Recorder struct {
	mu    sync.Mutex
	asked map[string]requestDetails
}

// Wrap returns a handler that records and forwards requests.
func (c *Recorder) Wrap(through http.Handler) http.Handler {
	c.asked = map[string]requestDetails{}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := requestDetailsOf(r)
		c.mu.Lock()
		c.asked[q.key()] = q
		c.mu.Unlock()
		through.ServeHTTP(w, r)
	})
}

// Requests returns the requests so far, sorted.
func (c *Recorder) Requests() Requests {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out Requests
	for _, key := range slices.Sorted(maps.Keys(c.asked)) {
		out = append(out, c.asked[key])
	}
	return out
}

// Object is an object of the cluster.
type Object struct {
	UID             types.UID
	Group, Resource string
}

// frequency is how often a Liar lies, and with which kinds of lies.
type frequency string

// The frequencies.
const (
	once    frequency = "one lie in the whole run"
	aKind   frequency = "one kind of lie wherever it fits"
	aType   frequency = "one kind of lie about one type"
	at30    frequency = "30 of 1000 answers"
	at100   frequency = "100 of 1000 answers"
	atThird frequency = "every third answer"
)

var frequencies = []frequency{once, once, once, once, aKind, aKind, aType, at30, at100, atThird}

// of1000 is the number of lies per 1000 responses.
var of1000 = map[frequency]int{at30: 30, at100: 100, atThird: 333}

// Liar is a handler that changes the meaning of responses, by a seed. The lie for a request
// depends on the seed, on what it requests and on how often that was requested before. A
// single lie, and kinds with a limit per run, are told to the first requests to which they
// apply.
type Liar struct {
	upstream  http.Handler
	seed      uint64
	facts     Facts
	frequency frequency
	kind      *lie         // if the frequency allows only one kind
	to        requestClass // with aKind: the class of requests
	about     string       // with aType: the resource
	every     uint64       // with once: tell the lie to one request in this many
	binary    bool         // responds in protobuf if the client accepts it
	legacy    bool         // serves discovery in one document per group

	mu       sync.Mutex
	attempts map[string]int // by request
	honest   map[string]int // truthful responses, by request
	count    map[Kind]int
	paging   map[string]*endless
	hidden   map[schema.GroupResource]bool
	created  map[string]int // created objects, by path and name
}

// NewLiar returns a Liar whose lies and their frequency are drawn from the seed.
func NewLiar(seed uint64, facts Facts) *Liar {
	random := rand.New(rand.NewPCG(seed, 3))
	l := &Liar{
		seed: seed, facts: facts, frequency: frequencies[random.IntN(len(frequencies))], binary: random.IntN(2) == 0, legacy: random.IntN(4) == 0,
		attempts: map[string]int{}, honest: map[string]int{}, count: map[Kind]int{}, paging: map[string]*endless{},
		hidden: map[schema.GroupResource]bool{}, created: map[string]int{},
	}
	of := func(k *lie) (out Requests) {
		return slices.DeleteFunc(slices.Clone(facts.Requests), func(q requestDetails) bool { return !k.applies(&q) })
	}
	expected := slices.DeleteFunc(slices.Clone(lieKinds), func(k *lie) bool { return len(of(k)) == 0 })
	switch l.frequency {
	case once:
		l.kind = drawLie(expected, random)
		for l.every = 1; l.every < 16 && int(l.every)*2 < len(of(l.kind)) && random.IntN(2) == 0; {
			l.every *= 2
		}
	case aKind:
		l.kind = drawLie(expected, random)
		fitting := of(l.kind)
		others := slices.DeleteFunc(slices.Clone(fitting), func(q requestDetails) bool { return q.class == discovery })
		if len(others) > 0 { // a run without discovery tests nothing else
			fitting = others
		}
		l.to = fitting[random.IntN(len(fitting))].class
	case aType:
		typed := slices.DeleteFunc(slices.Clone(facts.Requests), func(q requestDetails) bool { return !facts.has(q.group, q.resource) })
		if len(typed) == 0 {
			l.frequency = at30
			break
		}
		l.about = typed[random.IntN(len(typed))].resource
		l.kind = drawLie(slices.DeleteFunc(expected, func(k *lie) bool {
			return !slices.ContainsFunc(of(k), func(q requestDetails) bool { return q.resource == l.about })
		}), random)
	case at30, at100, atThird:
	}
	return l
}

func (f *Facts) has(group, resource string) bool {
	return slices.ContainsFunc(f.Objects, func(o Object) bool { return o.Group == group && o.Resource == resource })
}

func drawLie(from []*lie, random *rand.Rand) *lie {
	sum := 0
	for _, k := range from {
		sum += k.weight
	}
	n := random.IntN(sum)
	for _, k := range from {
		if n -= k.weight; n < 0 {
			return k
		}
	}
	panic("unreachable: n is less than the sum of all shares")
}

// Wrap returns the handler, which forwards requests to through.
func (l *Liar) Wrap(through http.Handler) http.Handler {
	l.upstream = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := requestDetailsOf(r)
		noting := &statusRecorder{ResponseWriter: w}
		through.ServeHTTP(noting, r)
		if creates(&q) && noting.code == http.StatusCreated {
			l.mu.Lock()
			l.created[fmt.Sprint(q.path, " ", r.Context().Value(createdNameKey{}))]++
			l.mu.Unlock()
		}
	})
	return l
}

// createdNameKey is the context key for the name of an object to be created.
type createdNameKey struct{}

// withCreatedName adds the name of the object to be created to the context of a request.
func withCreatedName(r *http.Request) *http.Request {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	r = r.WithContext(context.WithValue(r.Context(), createdNameKey{}, textOf(metaOf(any(document(body))), "name")))
	r.Body = io.NopCloser(bytes.NewReader(body))
	return r
}

// falseResponse is a request and the state for telling a lie in response.
type falseResponse struct {
	*Liar
	requestDetails
	r       *http.Request
	dice    *rand.Rand
	attempt int // how often it was requested, including this time
	fetched *response
}

// ServeHTTP implements http.Handler.
func (l *Liar) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := requestDetailsOf(r)
	if l.legacy {
		withoutAggregated(r)
	}
	if creates(&q) {
		r = withCreatedName(r)
	}
	if out := l.continueEndless(&q, r); out != nil {
		out.send(w, r)
		return
	}
	t := &falseResponse{Liar: l, requestDetails: q, r: r}
	kind := l.choose(t)
	if kind == nil || !l.withinLimit(kind, 0) {
		l.truth(t, w)
		return
	}
	out := kind.tell(t)
	if out == nil || !l.withinLimit(kind, 1) { // the lie does not fit this response, or others have reached the limit
		l.truth(t, w)
		return
	}
	l.recordHidden(&q)
	out.send(w, r)
}

// truth sends the server's response.
func (l *Liar) truth(t *falseResponse, w http.ResponseWriter) {
	l.mu.Lock()
	l.honest[t.key()]++
	l.mu.Unlock()
	if t.fetched != nil {
		t.fetched.send(w, t.r)
		return
	}
	if !l.binary {
		withoutProtobuf(t.r)
	}
	l.upstream.ServeHTTP(w, t.r)
}

// choose returns the kind of lie for a request, or nil for the truth.
func (l *Liar) choose(t *falseResponse) *lie {
	key := t.key()
	l.mu.Lock()
	l.attempts[key]++
	t.attempt = l.attempts[key]
	l.mu.Unlock()
	hash := fnv.New64a()
	fmt.Fprint(hash, key, t.attempt)
	sum := hash.Sum64()
	t.dice = rand.New(rand.NewPCG(l.seed, sum))
	switch l.frequency {
	case once:
		if l.kind.applies(&t.requestDetails) && (sum^l.seed)%l.every == 0 {
			return l.kind
		}
	case aKind:
		if l.kind.applies(&t.requestDetails) && t.class == l.to {
			return l.kind
		}
	case aType:
		if l.kind.applies(&t.requestDetails) && t.resource == l.about {
			return l.kind
		}
	default:
		odds := of1000[l.frequency]
		switch t.class {
		case discovery: // a run without discovery ends at once and tests nothing
			odds /= 8
		case list:
			odds /= 3
		case get, watch, write:
		}
		if t.dice.IntN(1000) >= odds {
			return nil
		}
		fitting := slices.DeleteFunc(slices.Clone(lieKinds), func(k *lie) bool { return !k.applies(&t.requestDetails) })
		if len(fitting) > 0 {
			return drawLie(fitting, t.dice)
		}
	}
	return nil
}

// key identifies repeated requests.
func (q *requestDetails) key() string {
	return fmt.Sprint(q.method, " ", q.path, " ", q.class, " ", q.continued, " ", q.shape)
}

// withinLimit reports whether the run may tell another lie of a kind, and counts n of them.
func (l *Liar) withinLimit(k *lie, n int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	most := k.most
	if l.frequency == once {
		most = 1
	}
	if most > 0 && l.count[k.kind] >= most {
		return false
	}
	l.count[k.kind] += n
	return true
}

// recordHidden records the type that a lie may hide from the client.
func (l *Liar) recordHidden(q *requestDetails) {
	if q.class != list && q.class != discovery {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hidden[schema.GroupResource{Group: q.group, Resource: q.resource}] = true
}

// MayHaveHidden reports whether a lie was told in a list of a type, or in the discovery of its
// group, so that the client may not have read its objects.
func (l *Liar) MayHaveHidden(of schema.GroupResource) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.hidden[of] || l.hidden[schema.GroupResource{Group: of.Group}] || l.hidden[schema.GroupResource{}]
}

// Counts returns the number of lies so far, by kind.
func (l *Liar) Counts() map[Kind]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := maps.Clone(l.count)
	maps.DeleteFunc(out, func(_ Kind, n int) bool { return n == 0 })
	return out
}

// CreatedTwice returns the objects that the server created more than once.
func (l *Liar) CreatedTwice() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []string
	for object, n := range l.created {
		if n > 1 {
			out = append(out, object)
		}
	}
	slices.Sort(out)
	return out
}

// String describes the lies and their frequency.
func (l *Liar) String() string {
	out := string(l.frequency)
	switch l.frequency {
	case once:
		out += fmt.Sprintf(": %s, to one of %d", l.kind.kind, l.every)
	case aKind:
		out += fmt.Sprintf(": %s, to each %s", l.kind.kind, l.to)
	case aType:
		out += fmt.Sprintf(": %s, about %s", l.kind.kind, l.about)
	case at30, at100, atThird:
	}
	encodings := []string{"in JSON"}
	if l.binary {
		encodings[0] = "in protobuf where accepted"
	}
	if l.legacy {
		encodings = append(encodings, "discovery document by document")
	}
	return out + " (" + strings.Join(encodings, ", ") + ")"
}

// ask returns the server's response, in JSON. The first call forwards the request.
func (t *falseResponse) ask() *response {
	if t.fetched == nil {
		t.fetched = fetchJSON(t.upstream, t.r)
	}
	return t.fetched
}

// askFor returns the server's response to a GET of another path, with the same headers.
func (t *falseResponse) askFor(path, query string) *response {
	r := t.r.Clone(t.r.Context())
	r.Method, r.Body, r.ContentLength = http.MethodGet, http.NoBody, 0
	r.URL.Path, r.URL.RawPath, r.URL.RawQuery = path, "", query
	return fetchJSON(t.upstream, r)
}

// answer returns a document as a response, in the encoding of this client.
func (t *falseResponse) answer(doc map[string]any) *response {
	if t.binary && acceptsProtobuf(t.r) {
		if raw, ok := inProtobuf(doc); ok {
			return &response{code: http.StatusOK, contentType: "application/vnd.kubernetes.protobuf", body: raw}
		}
	}
	return t.inJSON(doc)
}

// inJSON returns a document as a response in JSON. Some documents cannot be expressed in
// protobuf.
func (t *falseResponse) inJSON(doc any) *response {
	return &response{code: http.StatusOK, contentType: contentJSON, body: encoded(doc)}
}

// other returns the UID of another object, and a different one each time: a client cannot detect
// a lie that never changes.
func (t *falseResponse) other(uid string) types.UID {
	others := slices.DeleteFunc(slices.Clone(t.facts.Objects), func(o Object) bool { return string(o.UID) == uid })
	if len(others) < 2 {
		return types.UID(t.unknownUID())
	}
	if t.class != get {
		return others[t.dice.IntN(len(others))].UID
	}
	hash := fnv.New32a()
	fmt.Fprint(hash, t.seed, t.path)
	return others[(int(hash.Sum32()%1000)+t.attempt)%len(others)].UID
}
