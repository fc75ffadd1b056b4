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
	objects []object.Object
	byUID   map[types.UID]int
}

// Add keeps the objects it has not seen yet. Of two sights of one UID the
// smaller identity stays the object's own, so that the result does not depend
// on the order of arrival.
func (c *Collection) Add(objects ...object.Object) {
	if c.byUID == nil {
		c.byUID = make(map[types.UID]int, len(objects))
	}
	for _, o := range objects {
		i, seen := c.byUID[o.UID]
		if !seen {
			c.byUID[o.UID] = len(c.objects)
			c.objects = append(c.objects, o)
			continue
		}
		merge(&c.objects[i], o)
	}
}

// Object is what was seen of a UID, or nil. It is valid until the next Add.
func (c *Collection) Object(uid types.UID) *object.Object {
	if i, ok := c.byUID[uid]; ok {
		return &c.objects[i]
	}
	return nil
}

// Objects are all objects gathered so far, in no documented order. The slice is
// the collection's own.
func (c *Collection) Objects() []object.Object { return c.objects }

func merge(into *object.Object, o object.Object) {
	known := slices.Concat(into.Aliases, o.Aliases, []object.Identity{into.Identity, o.Identity})
	if o.Identity.Compare(into.Identity) < 0 {
		*into = o
	}
	slices.SortFunc(known, object.Identity.Compare)
	into.Aliases = nil
	for _, i := range slices.Compact(known) {
		if i != into.Identity {
			into.Aliases = append(into.Aliases, i)
		}
	}
}
