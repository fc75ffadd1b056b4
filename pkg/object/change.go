package object

import "slices"

// Change is a patch of an object's metadata. It identifies references by their index in
// Owners, since several may have one UID, and therefore applies to one resourceVersion only.
type Change struct {
	Rewrite         []Rewrite   // references that get another owner, ascending
	Drop            []int       // references to remove, ascending
	Unblock         []int       // references that no longer block their owner's deletion, ascending
	RemoveFinalizer string      // the finalizer to remove, or empty
	Add             []Reference // references to append
}

// Rewrite replaces the owner of one reference by that of Reference. Its flags stay unchanged.
type Rewrite struct {
	Index     int
	Reference Reference
}

// Empty reports whether the change has no effect.
func (c Change) Empty() bool {
	return len(c.Rewrite) == 0 && len(c.Drop) == 0 && len(c.Unblock) == 0 && c.RemoveFinalizer == "" && len(c.Add) == 0
}

// Drops reports whether the change removes the reference at an index.
func (c Change) Drops(index int) bool {
	_, ok := slices.BinarySearch(c.Drop, index)
	return ok
}

// Unblocks reports whether the reference at an index no longer blocks.
func (c Change) Unblocks(index int) bool {
	_, ok := slices.BinarySearch(c.Unblock, index)
	return ok
}

// Touched returns the indexes of the references that the change rewrites, drops or unblocks,
// ascending.
func (c Change) Touched() []int {
	touched := slices.Concat(c.Drop, c.Unblock)
	for _, w := range c.Rewrite {
		touched = append(touched, w.Index)
	}
	slices.Sort(touched)
	return slices.Compact(touched)
}

// Apply returns the object after the change, without modifying o.
func (c Change) Apply(o Object) Object {
	if len(c.Rewrite) > 0 || len(c.Drop) > 0 || len(c.Unblock) > 0 {
		rewrite, drop, unblock := c.Rewrite, c.Drop, c.Unblock
		owners := make([]Reference, 0, len(o.Owners))
		for i, r := range o.Owners {
			if len(rewrite) > 0 && rewrite[0].Index == i {
				r = r.WithOwner(rewrite[0].Reference)
				rewrite = rewrite[1:]
			}
			if len(unblock) > 0 && unblock[0] == i {
				r.BlockOwnerDeletion, unblock = &no, unblock[1:]
			}
			if len(drop) > 0 && drop[0] == i {
				drop = drop[1:]
				continue
			}
			owners = append(owners, r)
		}
		o.Owners = owners
	}
	if len(c.Add) > 0 {
		o.Owners = slices.Concat(o.Owners, c.Add)
	}
	if c.RemoveFinalizer != "" {
		o.Finalizers = slices.DeleteFunc(slices.Clone(o.Finalizers), func(f string) bool { return f == c.RemoveFinalizer })
	}
	return o
}
