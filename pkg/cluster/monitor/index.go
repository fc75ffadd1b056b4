package monitor

import (
	"context"
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// index finds the objects of all monitors by their UID and by those of their owners, and notes which have
// changed. It is safe for concurrent use. A nil index does nothing.
type index struct {
	mu         sync.Mutex
	holders    map[types.UID][]holder
	dependents map[types.UID]uidSet // by owner
	changed    map[types.UID]bool   // UIDs of changed objects, and of terminating owners that may have waited for the change
	everything bool                 // changes are not only those of single objects
}

// holder is a monitor that has an object. Usually an object has one; more if it is served under
// several names, or is a running Pod.
type holder struct {
	monitor *typeMonitor
	object  *object.Object
}

// uidSet is a set of UIDs. Most owners have one dependent, and one is held without a map: an object may
// name 10,000 owners that have no other. The zero value is empty.
type uidSet struct {
	one  types.UID          // of a set of one; empty otherwise
	many map[types.UID]bool // of two or more; nil otherwise
}

func (s uidSet) with(uid types.UID) uidSet {
	switch {
	case s.many != nil:
		s.many[uid] = true
		return s
	case s.one == "" || s.one == uid:
		return uidSet{one: uid}
	}
	return uidSet{many: map[types.UID]bool{s.one: true, uid: true}}
}

func (s uidSet) without(uid types.UID) uidSet {
	if s.one == uid {
		return uidSet{}
	}
	delete(s.many, uid)
	if len(s.many) == 1 {
		for last := range s.many {
			return uidSet{one: last}
		}
	}
	return s
}

func (s uidSet) empty() bool { return s.one == "" && s.many == nil }

func (s uidSet) appendTo(uids []types.UID) []types.UID {
	if s.one != "" {
		return append(uids, s.one)
	}
	for uid := range s.many {
		uids = append(uids, uid)
	}
	return uids
}

func newIndex() *index {
	return &index{
		holders: map[types.UID][]holder{}, dependents: map[types.UID]uidSet{}, changed: map[types.UID]bool{}, everything: true,
	}
}

// replace records that a monitor has these objects in place of old ones.
func (x *index) replace(t *typeMonitor, old, objects []*object.Object) {
	if x == nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, o := range old {
		x.remove(t, o)
	}
	for _, o := range objects {
		x.holders[o.UID] = append(x.holders[o.UID], holder{t, o})
		for _, r := range o.Owners {
			x.dependents[r.UID] = x.dependents[r.UID].with(o.UID)
		}
	}
}

func (x *index) remove(t *typeMonitor, old *object.Object) {
	left := slices.DeleteFunc(x.holders[old.UID], func(h holder) bool {
		return h.monitor == t && h.object.Name == old.Name && h.object.Namespace == old.Namespace
	})
	if len(left) == 0 {
		delete(x.holders, old.UID)
	} else {
		x.holders[old.UID] = left
	}
	for _, r := range old.Owners {
		if slices.ContainsFunc(left, func(h holder) bool {
			return slices.ContainsFunc(h.object.Owners, func(other object.Reference) bool { return other.UID == r.UID })
		}) {
			continue
		}
		if rest := x.dependents[r.UID].without(old.UID); rest.empty() {
			delete(x.dependents, r.UID)
		} else {
			x.dependents[r.UID] = rest
		}
	}
}

// mark notes that an object has changed, by its states before and after.
func (x *index) mark(states ...*object.Object) {
	if x == nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, o := range states {
		x.changed[o.UID] = true
		for _, r := range o.Owners {
			if slices.ContainsFunc(x.holders[r.UID], func(h holder) bool { return h.object.Terminating() && h.object.HasCollectorFinalizer() }) {
				x.changed[r.UID] = true
			}
		}
	}
}

// markEverything notes that types, gaps or whole lists have changed.
func (x *index) markEverything() {
	if x == nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.everything = true
}

// take returns what has changed since the call before. everything reports that a part of the
// objects is not enough.
func (x *index) take() (changed []types.UID, everything bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	changed, everything = slices.Collect(maps.Keys(x.changed)), x.everything
	x.everything = false
	clear(x.changed)
	return changed, everything
}

// part selects the objects with these UIDs, all that depends on them, and all owners of these. whole are
// those whose dependents are all selected. Both are nil if that is too many of all objects, or
// if one of these UIDs is that of a namespace or a definition, whose contents have no reference to it.
func (x *index) part(uids []types.UID) (selected map[*typeMonitor][]*object.Object, whole map[types.UID]bool) {
	selected, whole = map[*typeMonitor][]*object.Object{}, map[types.UID]bool{}
	x.mu.Lock()
	defer x.mu.Unlock()
	most := max(len(x.holders)/maxPart, alwaysPart)
	added := map[types.UID]bool{}
	var owners []types.UID
	add := func(uid types.UID) bool {
		if added[uid] {
			return true
		}
		added[uid] = true
		for _, h := range x.holders[uid] {
			selected[h.monitor] = append(selected[h.monitor], h.object)
			for _, r := range h.object.Owners {
				owners = append(owners, r.UID)
			}
		}
		return len(added) <= most
	}
	for next := slices.Clone(uids); len(next) > 0; {
		uid := next[len(next)-1]
		next = next[:len(next)-1]
		if whole[uid] {
			continue
		}
		whole[uid] = true
		if !add(uid) || slices.ContainsFunc(x.holders[uid], func(h holder) bool { return h.object.IsNamespace() || h.object.IsCRD() }) {
			return nil, nil
		}
		next = x.dependents[uid].appendTo(next)
	}
	for len(owners) > 0 {
		uid := owners[len(owners)-1]
		owners = owners[:len(owners)-1]
		if !add(uid) {
			return nil, nil
		}
	}
	return selected, whole
}

// Changes is the snapshot on which the decisions after a change are based.
type Changes struct {
	*snapshot.Snapshot
	Mapper *snapshot.Mapper // of the snapshot's types
	// Decidable reports whether the snapshot has all that a decision on the object with that UID depends
	// on. It is nil if the snapshot has all objects.
	Decidable func(types.UID) bool
}

// A part holds at most one in maxPart of all objects, but may always hold alwaysPart.
const (
	maxPart    = 4
	alwaysPart = 100
)

// SnapshotOfChanges returns a snapshot of the objects that have changed since the last call and of the
// objects in more, with everything that depends on them and all owners. It returns a snapshot of
// everything, which equals what scan.Run would return now, if that part would be too large, if the scope has namespaces, or
// if more than single objects has changed.
//
// If the latest discovery failed, it returns that error; if no list is usable, a *scan.NothingReadableError. The call
// after an error returns everything. After a *client.MemoryError and after Stop, every call returns the same error.
func (m *Monitor) SnapshotOfChanges(ctx context.Context, more ...types.UID) (Changes, error) {
	if m.index == nil {
		return m.snapshotOf(ctx, nil)
	}
	changed, everything := m.index.take()
	var selected map[*typeMonitor][]*object.Object
	var whole map[types.UID]bool
	if !everything {
		selected, whole = m.index.part(append(changed, more...))
	}
	out, err := m.snapshotOf(ctx, selected)
	if whole != nil {
		out.Decidable = func(uid types.UID) bool { return whole[uid] }
	}
	if err != nil {
		m.index.markEverything()
	}
	return out, err
}

// ForceEverything makes the next SnapshotOfChanges return all objects.
func (m *Monitor) ForceEverything() { m.index.markEverything() }
