package snapshottest

import (
	"fmt"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Nth returns the i-th object of a Chain, Cycle, Star or Layers, without its owners.
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

// Chain lists n objects, each owned by the one before. As in all of these shapes, references block, and the options
// are for the root, Nth(0).
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

// Star lists n objects. The root owns all others.
func Star(n int, root ...Option) Part {
	return Linked(n, func(i int) []object.Reference {
		if i == 0 {
			return nil
		}
		return []object.Reference{To(Nth(0), Blocking)}
	}, root...)
}

// Layers lists n objects in layers of ten. The root owns the first layer; each object
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
