package snapshot

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// Deduper collects objects by UID. An object served under several groups or versions is
// kept once, with its other identities as aliases
// (docs/gc-semantics.md#one-object-in-several-groups). If namespace, name or creation time
// differ, the UID belongs to different objects, and the one that is kept is marked as
// contested. The zero value is ready for use. It is not safe for concurrent use.
type Deduper struct {
	objects []*object.Object
	byUID   map[types.UID]int32 // positions in objects
	// duplicates has all objects that were read with the UID of the one at a position, where there are
	// several. They are merged only on request, as there may be any number of them in any order.
	duplicates map[int][]*object.Object
}

// Grow reserves capacity for more objects.
func (d *Deduper) Grow(more int) {
	if d.byUID == nil {
		d.byUID = make(map[types.UID]int32, more)
	}
	d.objects = slices.Grow(d.objects, more)
}

// Add adds objects without changing them. If one object is read twice, its newer state is kept,
// under the smaller identity. The result does not depend on the order of arrival.
func (d *Deduper) Add(objects ...*object.Object) {
	d.Grow(len(objects))
	for _, o := range objects {
		if i, ok := d.byUID[o.UID]; ok {
			d.addDuplicate(int(i), o)
			continue
		}
		d.byUID[o.UID] = int32(len(d.objects))
		d.objects = append(d.objects, o)
	}
}

// Object returns the object with a UID, or nil.
func (d *Deduper) Object(uid types.UID) *object.Object {
	i, ok := d.byUID[uid]
	if !ok {
		return nil
	}
	d.merge(int(i))
	return d.objects[i]
}

// Objects returns all objects added so far, in no documented order. The Deduper keeps the
// slice.
func (d *Deduper) Objects() []*object.Object {
	for i := range d.duplicates {
		d.merge(i)
	}
	return d.objects
}

// addDuplicate records o as another object with the UID of the i-th.
func (d *Deduper) addDuplicate(i int, o *object.Object) {
	if d.duplicates == nil {
		d.duplicates = map[int][]*object.Object{}
	}
	if d.duplicates[i] == nil {
		d.duplicates[i] = []*object.Object{d.objects[i]}
	}
	d.duplicates[i] = append(d.duplicates[i], o)
}

// merge replaces the i-th object by a copy that stands for its duplicates, too.
func (d *Deduper) merge(i int) {
	all, ok := d.duplicates[i]
	if !ok {
		return
	}
	delete(d.duplicates, i)
	first := slices.MinFunc(all, func(a, b *object.Object) int {
		return cmp.Or(a.Identity.Compare(b.Identity), a.Created.Compare(b.Created))
	})
	newest, contested := first, false
	var identities []object.Identity
	for _, o := range all {
		identities = append(append(identities, o.Identity), o.Aliases...)
		if contested = contested || o.Contested || !o.Same(first); !o.Same(first) {
			continue
		}
		if newer, err := resourceversion.CompareResourceVersion(o.ResourceVersion, newest.ResourceVersion); err == nil && newer > 0 {
			newest = o
		}
	}
	merged := *newest
	merged.Identity, merged.Contested, merged.Aliases = first.Identity, contested, aliases(first.Identity, identities)
	d.objects[i] = &merged
}

// aliases returns the identities other than own, sorted and without duplicates.
func aliases(own object.Identity, all []object.Identity) []object.Identity {
	all = slices.Clone(all)
	slices.SortFunc(all, object.Identity.Compare)
	all = slices.DeleteFunc(slices.Compact(all), func(i object.Identity) bool { return i == own })
	if len(all) == 0 {
		return nil
	}
	return all
}
