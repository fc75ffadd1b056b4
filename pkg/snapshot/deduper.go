package snapshot

import (
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
	// duplicates are merged into their objects only on request, as there may be any number
	// of them in any order. The key is a position in objects.
	duplicates map[int]duplicates
}

type duplicates struct {
	identities []object.Identity // of all, including the kept object
	contested  bool
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
		d.duplicates = map[int]duplicates{}
	}
	kept := d.objects[i]
	all, ok := d.duplicates[i]
	if !ok {
		all.identities = append([]object.Identity{kept.Identity}, kept.Aliases...)
	}
	all.identities = append(append(all.identities, o.Identity), o.Aliases...)
	all.contested = all.contested || kept.Contested || o.Contested || !o.Same(kept)
	d.duplicates[i] = all
	first, other := kept, o
	if order := o.Identity.Compare(kept.Identity); order < 0 || order == 0 && o.Created.Before(kept.Created) {
		first, other = o, kept
	}
	if newer, err := resourceversion.CompareResourceVersion(other.ResourceVersion, first.ResourceVersion); err == nil && newer > 0 && o.Same(kept) {
		newest := *other
		newest.Identity = first.Identity
		first = &newest
	}
	d.objects[i] = first
}

// merge replaces the i-th object by a copy with the aliases of its duplicates.
func (d *Deduper) merge(i int) {
	all, ok := d.duplicates[i]
	if !ok {
		return
	}
	delete(d.duplicates, i)
	merged := *d.objects[i]
	merged.Contested = all.contested
	merged.Aliases = aliases(merged.Identity, all.identities)
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
