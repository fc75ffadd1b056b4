package scan

import (
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
	statuses map[objectState]rememberedStatus
	earlier  map[objectState]rememberedStatus // of the scan before
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

// objectState is a state of an object that a list showed, or else the name of an object that no
// list showed.
type objectState struct {
	uid             types.UID
	resourceVersion string
	unlisted        string
}

func stateOf(o *object.Object) objectState {
	return objectState{uid: o.UID, resourceVersion: o.ResourceVersion}
}

// rememberedStatus is what only the whole object shows.
type rememberedStatus struct {
	value   any
	expires time.Time // zero: with the state
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
	m.statuses, m.earlier = map[objectState]rememberedStatus{}, nil
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

// Expired reports whether a request has to be repeated although no event refuted its result.
func (m *Memo) Expired(now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range m.statuses {
		if !fresh(s.expires, now) {
			return true
		}
	}
	for _, l := range m.lookups {
		if l.complete && !fresh(l.expires, now) {
			return true
		}
	}
	return false
}

func fresh(expires, now time.Time) bool { return expires.IsZero() || now.Before(expires) }

// begin starts a scan. The function that it returns ends it and forgets what the scan did not use.
func (m *Memo) begin(now func() time.Time) (end func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now = now
	m.statuses, m.earlier = map[objectState]rememberedStatus{}, m.statuses
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
	if l := m.lookups[c]; l != nil && l.complete && fresh(l.expires, m.now()) {
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

// remember returns what read returns about an object in that state, which it requests whole. A nil
// result is not kept, and one that is not lasting for MaxLookupAge.
func remember[T any](m *Memo, at objectState, read func() (result *T, lasting bool)) *T {
	if m == nil {
		result, _ := read()
		return result
	}
	m.mu.Lock()
	kept, ok := m.statuses[at]
	if !ok {
		kept, ok = m.earlier[at]
	}
	now := m.now()
	m.mu.Unlock()
	if !ok || !fresh(kept.expires, now) {
		result, lasting := read()
		if result == nil {
			return nil
		}
		kept = rememberedStatus{value: result}
		if !lasting {
			kept.expires = now.Add(MaxLookupAge)
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.statuses[at] = kept
	result, _ := kept.value.(*T)
	return result
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
