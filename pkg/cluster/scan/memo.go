package scan

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// MaxLookupAge limits how long a Memo keeps a lookup that no event can refute: one that failed,
// and one of a type that the source does not list.
const MaxLookupAge = 30 * time.Second

// Memo keeps the results of requests from one scan to the next, as long as the source reports
// every change of the objects in question. It is safe for concurrent use, but not by two scans.
// A nil Memo keeps nothing.
type Memo struct {
	mu       sync.Mutex
	now      func() time.Time
	lookups  map[snapshot.Coordinates]*rememberedLookup
	byPlace  map[place][]snapshot.Coordinates
	statuses map[namespaceState]*object.NamespaceStatus
	earlier  map[namespaceState]*object.NamespaceStatus // of the scan before
}

// place is where an event may refute a lookup: at an object's name, or wherever its UID is.
type place struct {
	schema.GroupResource
	namespace, name string
	uid             types.UID
}

type rememberedLookup struct {
	result   snapshot.Lookup
	complete bool      // not under way
	expires  time.Time // zero: once an event refutes it
	used     bool      // by the current scan
}

type namespaceState struct {
	uid             types.UID
	resourceVersion string
}

// NewMemo returns an empty Memo.
func NewMemo() *Memo {
	m := &Memo{}
	m.Clear()
	return m
}

// Clear forgets everything. The types may have changed.
func (m *Memo) Clear() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lookups, m.byPlace = map[snapshot.Coordinates]*rememberedLookup{}, map[place][]snapshot.Coordinates{}
	m.statuses, m.earlier = map[namespaceState]*object.NamespaceStatus{}, nil
}

// Forget forgets the lookups that a change of the object may refute. of is its type.
func (m *Memo) Forget(of schema.GroupResource, o object.Identity) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.lookups) == 0 {
		return
	}
	for _, at := range []place{{GroupResource: of, namespace: o.Namespace, name: o.Name}, {uid: o.UID}} {
		for _, c := range m.byPlace[at] {
			delete(m.lookups, c)
		}
		delete(m.byPlace, at)
	}
}

// ForgetType forgets all lookups of a type: events of it may be missing.
func (m *Memo) ForgetType(of schema.GroupResource) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for at, coordinates := range m.byPlace {
		if at.GroupResource != of {
			continue
		}
		for _, c := range coordinates {
			delete(m.lookups, c)
		}
		delete(m.byPlace, at)
	}
}

// Expired reports whether a lookup has to be repeated although no event refuted it.
func (m *Memo) Expired(now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, l := range m.lookups {
		if l.complete && !l.fresh(now) {
			return true
		}
	}
	return false
}

func (l *rememberedLookup) fresh(now time.Time) bool {
	return l.expires.IsZero() || now.Before(l.expires)
}

// begin starts a scan. The function that it returns ends it and forgets what the scan did not use.
func (m *Memo) begin(now func() time.Time) (end func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now = now
	m.statuses, m.earlier = map[namespaceState]*object.NamespaceStatus{}, m.statuses
	for _, l := range m.lookups {
		l.used = false
	}
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		for c, l := range m.lookups {
			if !l.used || !l.complete {
				delete(m.lookups, c)
			}
		}
		for at, coordinates := range m.byPlace {
			coordinates = slices.DeleteFunc(coordinates, func(c snapshot.Coordinates) bool { return m.lookups[c] == nil })
			if m.byPlace[at] = coordinates; len(coordinates) == 0 {
				delete(m.byPlace, at)
			}
		}
	}
}

// setNow starts a scan that forgets nothing.
func (m *Memo) setNow(now func() time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now = now
}

// recall returns the known result of a lookup. If there is none, the caller makes the lookup and
// passes its result to keep.
func (m *Memo) recall(c snapshot.Coordinates, at place) (snapshot.Lookup, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if l := m.lookups[c]; l != nil && l.complete && l.fresh(m.now()) {
		l.used = true
		return l.result, true
	}
	// registered before the request, so that a change during it is not missed
	m.lookups[c] = &rememberedLookup{used: true}
	m.index(at, c)
	return snapshot.Lookup{}, false
}

// keep remembers a lookup unless an event refuted it while it was under way.
func (m *Memo) keep(result snapshot.Lookup, lasting bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.lookups[result.Coordinates]
	if l == nil {
		return
	}
	l.result, l.complete = result, true
	if !lasting || result.Outcome == snapshot.Failed {
		l.expires = m.now().Add(MaxLookupAge)
	}
	if result.Object != nil {
		m.index(place{uid: result.Object.UID}, result.Coordinates)
	}
}

func (m *Memo) index(at place, c snapshot.Coordinates) {
	if !slices.Contains(m.byPlace[at], c) {
		m.byPlace[at] = append(m.byPlace[at], c)
	}
}

// namespaceStatus returns the status of a Namespace in its present state. read returns nil if it
// cannot be read.
func (m *Memo) namespaceStatus(o *object.Object, read func() *object.NamespaceStatus) *object.NamespaceStatus {
	if m == nil {
		return read()
	}
	state := namespaceState{o.UID, o.ResourceVersion}
	m.mu.Lock()
	status := cmp.Or(m.statuses[state], m.earlier[state])
	m.mu.Unlock()
	if status == nil {
		status = read()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if status != nil {
		m.statuses[state] = status
	}
	return status
}

// lookupAll looks up all coordinates that the memo does not know.
func (sc *scanner) lookupAll(ctx context.Context, at []snapshot.Coordinates, objects []*object.Object, known func(types.UID) *object.Object) ([]snapshot.Lookup, error) {
	view := sc.view()
	if sc.memo == nil {
		return sc.reader.LookupAll(ctx, view, at, objects, known)
	}
	var remembered []snapshot.Lookup
	var fresh []snapshot.Coordinates
	for _, c := range at {
		m, _ := view.Map(c.APIVersion, c.Kind)
		if l, ok := sc.memo.recall(c, place{GroupResource: m.Type.GroupResource(), namespace: c.Namespace, name: c.Name}); ok {
			remembered = append(remembered, l)
		} else {
			fresh = append(fresh, c)
		}
	}
	answers, err := sc.reader.LookupAll(ctx, view, fresh, objects, known)
	if err != nil {
		return nil, err
	}
	for _, a := range answers {
		m, _ := view.Map(a.APIVersion, a.Kind)
		sc.memo.keep(a, view.Listed(m.Type.GroupResource(), a.Namespace))
	}
	return append(remembered, answers...), nil
}
