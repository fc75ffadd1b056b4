package snapshot

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// Deduper gathers objects by UID: an object served under several groups or
// versions is kept once, its further identities as aliases
// (docs/gc-semantics.md#one-object-in-several-groups). Where namespace, name or
// creation time differ, those are not one object: the one that is kept is
// marked as contested. The zero value is ready. It is not safe for concurrent
// use.
type Deduper struct {
	objects []*object.Object
	byUID   *Index
	// twins are the identities of objects that came several times, by their place, as
	// long as those objects lack them: there may be any number, in any order.
	twins map[int]twins
}

type twins struct {
	identities []object.Identity
	contested  bool
}

// Grow makes room for so many more objects, which spares that what is there is moved
// again and again.
func (c *Deduper) Grow(more int) {
	if c.byUID == nil {
		c.byUID = NewIndex(more, func(place int) types.UID { return c.objects[place].UID })
	}
	c.objects = slices.Grow(c.objects, more)
}

// Add keeps the objects it has not seen yet, and changes none of them. Of two
// sights of one UID the smaller identity stays the object's own, so that the
// result does not depend on the order of arrival.
func (c *Deduper) Add(objects ...*object.Object) {
	c.Grow(len(objects))
	for _, o := range objects {
		if i := c.byUID.Insert(o.UID, len(c.objects)); i < len(c.objects) {
			c.merge(i, o)
			continue
		}
		c.objects = append(c.objects, o)
	}
}

// Object is what was seen of a UID, or nil.
func (c *Deduper) Object(uid types.UID) *object.Object {
	if c.byUID == nil {
		return nil
	}
	if i := c.byUID.Find(uid); i >= 0 {
		c.settle(i)
		return c.objects[i]
	}
	return nil
}

// Objects are all objects gathered so far, in no documented order. The slice is
// the collection's own.
func (c *Deduper) Objects() []*object.Object {
	for i := range c.twins {
		c.settle(i)
	}
	return c.objects
}

// merge takes note of another sight of an object.
func (c *Deduper) merge(i int, o *object.Object) {
	if c.twins == nil {
		c.twins = map[int]twins{}
	}
	kept := c.objects[i]
	known, seen := c.twins[i]
	if !seen {
		known.identities = append([]object.Identity{kept.Identity}, kept.Aliases...)
	}
	known.identities = append(append(known.identities, o.Identity), o.Aliases...)
	known.contested = known.contested || kept.Contested || o.Contested || !o.Same(kept)
	c.twins[i] = known
	if by := o.Identity.Compare(kept.Identity); by < 0 || by == 0 && o.Created.Before(kept.Created) {
		c.objects[i] = o
	}
}

// settle puts a new object with all its aliases in the place of one that was seen
// several times.
func (c *Deduper) settle(i int) {
	known, ok := c.twins[i]
	if !ok {
		return
	}
	delete(c.twins, i)
	out := *c.objects[i]
	out.Contested = known.contested
	out.Aliases = aliases(out.Identity, known.identities)
	c.objects[i] = &out
}

// aliases returns the identities other than own, sorted, each once.
func aliases(own object.Identity, all []object.Identity) []object.Identity {
	all = slices.Clone(all)
	slices.SortFunc(all, object.Identity.Compare)
	all = slices.DeleteFunc(slices.Compact(all), func(i object.Identity) bool { return i == own })
	if len(all) == 0 {
		return nil
	}
	return all
}
