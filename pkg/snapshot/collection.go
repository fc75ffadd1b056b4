package snapshot

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// Collection gathers objects by UID: an object served under several groups or
// versions is kept once, its further identities as aliases (gc-semantics 1.10).
// The zero value is ready. It is not safe for concurrent use.
type Collection struct {
	objects []*object.Object
	byUID   *Index
}

// Grow makes room for so many more objects, which spares that what is there is moved
// again and again.
func (c *Collection) Grow(more int) {
	if c.byUID == nil {
		c.byUID = NewIndex(more, func(place int) types.UID { return c.objects[place].UID })
	}
	c.objects = slices.Grow(c.objects, more)
}

// Add keeps the objects it has not seen yet, and changes none of them. Of two
// sights of one UID the smaller identity stays the object's own, so that the
// result does not depend on the order of arrival.
func (c *Collection) Add(objects ...*object.Object) {
	c.Grow(len(objects))
	for _, o := range objects {
		if i := c.byUID.Find(o.UID); i >= 0 {
			c.objects[i] = merged(c.objects[i], o)
			continue
		}
		c.objects = append(c.objects, o)
		c.byUID.Add(len(c.objects) - 1)
	}
}

// Object is what was seen of a UID, or nil.
func (c *Collection) Object(uid types.UID) *object.Object {
	if c.byUID == nil {
		return nil
	}
	if i := c.byUID.Find(uid); i >= 0 {
		return c.objects[i]
	}
	return nil
}

// Objects are all objects gathered so far, in no documented order. The slice is
// the collection's own.
func (c *Collection) Objects() []*object.Object { return c.objects }

// merged is a new object of two sights.
func merged(a, b *object.Object) *object.Object {
	known := slices.Concat(a.Aliases, b.Aliases, []object.Identity{a.Identity, b.Identity})
	out := *a
	if b.Identity.Compare(a.Identity) < 0 {
		out = *b
	}
	slices.SortFunc(known, object.Identity.Compare)
	out.Aliases = nil
	for _, i := range slices.Compact(known) {
		if i != out.Identity {
			out.Aliases = append(out.Aliases, i)
		}
	}
	return &out
}
