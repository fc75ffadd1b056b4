package scan

import (
	"context"
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// MaxLookupAge limits how long a Memo keeps the result of a request that no list can refute: of one
// that failed, and of one about a type without a list.
const MaxLookupAge = 30 * time.Second

// Memo keeps the results of requests for single objects from one scan to the next. What a scan of
// everything does not use, the next one forgets. It is safe for concurrent use, but not by two
// scans. A nil Memo keeps nothing.
type Memo struct {
	mu            sync.Mutex
	kept, earlier map[any]remembered // by lookupKey or objectState; earlier than the latest scan of everything
}

type remembered struct {
	value   any
	expires time.Time // zero: never
}

// lookupKey identifies a lookup. listed reports whether a list can refute it.
type lookupKey struct {
	snapshot.Coordinates
	listed bool
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

// NewMemo returns an empty Memo.
func NewMemo() *Memo { return &Memo{kept: map[any]remembered{}} }

// Clear forgets everything. The types may have changed.
func (m *Memo) Clear() {
	m.begin()
	m.begin()
}

// begin starts a scan of everything.
func (m *Memo) begin() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kept, m.earlier = map[any]remembered{}, m.kept
}

// Expired reports whether a request has to be repeated only because of the time.
func (m *Memo) Expired(now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.kept {
		if r.expired(now) {
			return true
		}
	}
	return false
}

func (r remembered) expired(now time.Time) bool { return !r.expires.IsZero() && !now.Before(r.expires) }

func (m *Memo) recall(key any, now time.Time) (value any, ok bool) {
	if m == nil {
		return nil, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.kept[key]
	if !ok {
		r, ok = m.earlier[key]
	}
	if !ok || r.expired(now) {
		return nil, false
	}
	m.kept[key] = r
	return r.value, true
}

// keep remembers a result, for MaxLookupAge if it is not lasting.
func (m *Memo) keep(key, value any, lasting bool, now time.Time) {
	if m == nil {
		return
	}
	r := remembered{value: value}
	if !lasting {
		r.expires = now.Add(MaxLookupAge)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kept[key] = r
}

// remember returns what read returns about an object in that state, which it requests whole. A nil
// result is not kept.
func remember[T any](sc *scanner, at objectState, read func() (result *T, lasting bool)) *T {
	if kept, ok := sc.memo.recall(at, sc.now()); ok {
		result, _ := kept.(*T)
		return result
	}
	result, lasting := read()
	if result != nil {
		sc.memo.keep(at, result, lasting, sc.now())
	}
	return result
}

// lookupAll looks up all coordinates that the memo does not know.
func (sc *scanner) lookupAll(ctx context.Context, at []snapshot.Coordinates, objects []*object.Object, known func(types.UID) *object.Object) ([]snapshot.Lookup, error) {
	view := sc.view()
	if sc.memo == nil { // most commands scan once
		return sc.reader.LookupAll(ctx, view, at, objects, known)
	}
	key := func(c snapshot.Coordinates) lookupKey {
		m, _ := view.Map(c.APIVersion, c.Kind)
		return lookupKey{c, view.Listed(m.Type.GroupResource(), c.Namespace)}
	}
	wanted := referredUIDs(view, at, objects, known)
	var out []snapshot.Lookup
	var unknown []snapshot.Coordinates
	for _, c := range at {
		kept, _ := sc.memo.recall(key(c), sc.now())
		l, ok := kept.(referredLookup)
		if ok && l.covers(wanted[c]) && sc.agrees(view, l.Lookup) {
			out = append(out, l.Lookup)
			continue
		}
		unknown = append(unknown, c)
		maps.Copy(wanted[c], l.uids)
	}
	answers, err := sc.reader.LookupAll(ctx, view, unknown, objects, known)
	if err != nil {
		return nil, err
	}
	for _, a := range answers {
		k := key(a.Coordinates)
		sc.memo.keep(k, referredLookup{a, wanted[a.Coordinates]}, k.listed && a.Outcome != snapshot.Failed, sc.now())
	}
	return append(out, answers...), nil
}

// referredLookup is a lookup, and the UIDs by which objects referred to its place before it was made. That one of
// them is not there is final. Of another UID it says nothing: an owner may have been created since, and the
// watch that would show it may be late.
type referredLookup struct {
	snapshot.Lookup
	uids map[types.UID]bool
}

func (l referredLookup) covers(uids map[types.UID]bool) bool {
	for uid := range uids {
		if !l.uids[uid] {
			return false
		}
	}
	return true
}

// referredUIDs returns by which UIDs the objects refer to places, other than those of the known objects there.
func referredUIDs(
	view *snapshot.View, places []snapshot.Coordinates, objects []*object.Object, known func(types.UID) *object.Object,
) map[snapshot.Coordinates]map[types.UID]bool {
	out := make(map[snapshot.Coordinates]map[types.UID]bool, len(places))
	for _, c := range places {
		out[c] = map[types.UID]bool{}
	}
	if len(places) == 0 {
		return out
	}
	for _, o := range objects {
		for _, r := range o.Owners {
			if owner := known(r.UID); owner != nil && owner.MatchesIdentity(r, o.Namespace) {
				continue
			}
			r, _ := view.WithServedVersion(r)
			if _, c, ok := view.CoordinatesOf(o.Namespace, r); ok && out[c] != nil {
				out[c][r.UID] = true
			}
		}
	}
	return out
}

// agrees reports whether the live lists have at the place of a lookup what it found. They agree with
// every lookup of a type without a list.
func (sc *scanner) agrees(view *snapshot.View, a snapshot.Lookup) bool {
	m, _ := view.Map(a.APIVersion, a.Kind)
	if !view.Listed(m.Type.GroupResource(), a.Namespace) {
		return true
	}
	for _, at := range listingsOf(m.Type, a.Namespace) {
		if o := sc.lists.Find(at, a.Namespace, a.Name); o != nil {
			return a.Object != nil && stateOf(a.Object) == stateOf(o)
		}
	}
	return a.Object == nil
}
