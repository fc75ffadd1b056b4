package snapshottest

import (
	"fmt"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Shape lists n objects with a pattern of owner references, with options for the root, Nth(0).
type Shape func(n int, root ...Option) Part

// Shapes are the available shapes. All references block.
var Shapes = map[string]Shape{"chain": Chain, "star": Star, "ring": Cycle, "layers": Layers}

// Nth returns the i-th object of a shape, without its owners.
func Nth(i int) object.Object { return ConfigMap(fmt.Sprintf("ns/o%07d", i)) }

// Linked lists n objects with the given owners, with options for the first one.
func Linked(n int, owners func(i int) []object.Reference, root ...Option) Part {
	return func(s *snapshot.Snapshot) {
		s.Objects = slices.Grow(s.Objects, n)
		for i := range n {
			o := Nth(i)
			o.Owners = owners(i)
			if i == 0 {
				for _, option := range root {
					option(&o)
				}
			}
			s.Objects = append(s.Objects, &o)
		}
	}
}

// Chain is a Shape in which each object is owned by the one before.
func Chain(n int, root ...Option) Part {
	return Linked(n, func(i int) []object.Reference {
		if i == 0 {
			return nil
		}
		return []object.Reference{To(Nth(i-1), Blocking)}
	}, root...)
}

// Cycle is a Chain whose root is owned by the last object.
func Cycle(n int, root ...Option) Part {
	return Linked(n, func(i int) []object.Reference {
		return []object.Reference{To(Nth((i+n-1)%n), Blocking)}
	}, root...)
}

// Star is a Shape in which the root owns all other objects.
func Star(n int, root ...Option) Part {
	return Linked(n, func(i int) []object.Reference {
		if i == 0 {
			return nil
		}
		return []object.Reference{To(Nth(0), Blocking)}
	}, root...)
}

// Layers is a Shape with layers of ten objects. The root owns the first layer; each object
// below is owned by four objects of the layer above.
func Layers(n int, root ...Option) Part {
	const width, owners = 10, 4
	return Linked(n, func(i int) []object.Reference {
		switch {
		case i == 0:
			return nil
		case i <= width:
			return []object.Reference{To(Nth(0), Blocking)}
		}
		layerAbove := (i-1)/width*width - width + 1
		out := make([]object.Reference, owners)
		for k := range out {
			out[k] = To(Nth(layerAbove+(i+k)%width), Blocking)
		}
		return out
	}, root...)
}

// Without removes an object from the lists.
func Without(o object.Object) Part {
	return func(s *snapshot.Snapshot) {
		s.Objects = slices.DeleteFunc(s.Objects, func(other *object.Object) bool { return other.UID == o.UID })
	}
}

// Replicated returns a large snapshot without findings, of at least count objects:
// Deployments with one ReplicaSet of eight Pods each.
func Replicated(count int) *snapshot.Snapshot {
	s := New()
	for i := 0; len(s.Objects) < count; i++ {
		deployment := Deployment(fmt.Sprintf("shop/web-%d", i))
		set := Object("apps/v1", "ReplicaSet", fmt.Sprintf("shop/web-%d-a", i), OwnedBy(deployment))
		Listing(deployment, set)(s)
		for k := range 8 {
			Listing(Pod(fmt.Sprintf("shop/web-%d-a-%d", i, k), OwnedBy(set)))(s)
		}
	}
	return s
}
