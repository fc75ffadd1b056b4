package snapshottest

import (
	"fmt"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Shape is how owners and dependents hang together in a large snapshot: it shows n
// objects, of which Nth(0) is the root, changed by the options.
type Shape func(n int, root ...Option) Part

// Shapes are those that garbage comes in. All references block.
var Shapes = map[string]Shape{"chain": Chain, "star": Star, "ring": Ring, "layers": Layers}

// Nth is the i-th object of a shape, without its owners.
func Nth(i int) object.Object { return ConfigMap(fmt.Sprintf("ns/o%07d", i)) }

// Linked shows n objects with those owners, the first of them changed by the options.
func Linked(n int, owners func(i int) []object.Reference, root ...Option) Part {
	return func(s *snapshot.Snapshot) {
		s.Objects = slices.Grow(s.Objects, n)
		for i := range n {
			o := Nth(i)
			o.Owners = owners(i)
			if i == 0 {
				for _, change := range root {
					change(&o)
				}
			}
			s.Objects = append(s.Objects, &o)
		}
	}
}

// Chain has each object owned by the one before.
func Chain(n int, root ...Option) Part {
	return Linked(n, func(i int) []object.Reference {
		if i == 0 {
			return nil
		}
		return []object.Reference{To(Nth(i-1), Blocking)}
	}, root...)
}

// Ring is a chain whose root is owned by its last.
func Ring(n int, root ...Option) Part {
	return Linked(n, func(i int) []object.Reference {
		return []object.Reference{To(Nth((i+n-1)%n), Blocking)}
	}, root...)
}

// Star has all owned by the root.
func Star(n int, root ...Option) Part {
	return Linked(n, func(i int) []object.Reference {
		if i == 0 {
			return nil
		}
		return []object.Reference{To(Nth(0), Blocking)}
	}, root...)
}

// Layers has ten objects owned by the root, and below them ten in each layer, owned
// by four of the layer above.
func Layers(n int, root ...Option) Part {
	const wide, shared = 10, 4
	return Linked(n, func(i int) []object.Reference {
		switch {
		case i == 0:
			return nil
		case i <= wide:
			return []object.Reference{To(Nth(0), Blocking)}
		}
		above := (i-1)/wide*wide - wide + 1
		out := make([]object.Reference, shared)
		for k := range out {
			out[k] = To(Nth(above+(i+k)%wide), Blocking)
		}
		return out
	}, root...)
}

// Without takes an object out of the lists again.
func Without(o object.Object) Part {
	return func(s *snapshot.Snapshot) {
		s.Objects = slices.DeleteFunc(s.Objects, func(have *object.Object) bool { return have.UID == o.UID })
	}
}
