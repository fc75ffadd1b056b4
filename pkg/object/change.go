package object

import "slices"

// Change is what one patch does to an object's metadata. References are named
// by their place in Owners, since several may carry one UID, and only the one
// that is meant may be touched: so a Change belongs to one resourceVersion.
type Change struct {
	Rewrite []Rewrite // references that lead elsewhere from now on, ascending
	Drop    []int     // references that are taken away, ascending
	Unblock []int     // references that no longer block their owner's deletion, ascending
	Release string    // a finalizer that is taken away; empty: none

	Add []Reference // references that are added behind the others
}

// Rewrite is where one reference leads from now on: to the apiVersion, kind, name
// and UID of Reference. Its flags stay as they are, whatever those of Reference say.
type Rewrite struct {
	Index     int
	Reference Reference
}

// Empty says whether the change changes nothing.
func (c Change) Empty() bool {
	return len(c.Rewrite) == 0 && len(c.Drop) == 0 && len(c.Unblock) == 0 && c.Release == "" && len(c.Add) == 0
}

// Drops says whether the change takes the reference at a place away.
func (c Change) Drops(place int) bool {
	_, drops := slices.BinarySearch(c.Drop, place)
	return drops
}

// Unblocks says whether the reference at a place no longer blocks.
func (c Change) Unblocks(place int) bool {
	_, unblocks := slices.BinarySearch(c.Unblock, place)
	return unblocks
}

// Touched are the places of the references that the change rewrites, drops or
// unblocks, ascending.
func (c Change) Touched() []int {
	touched := slices.Concat(c.Drop, c.Unblock)
	for _, w := range c.Rewrite {
		touched = append(touched, w.Index)
	}
	slices.Sort(touched)
	return slices.Compact(touched)
}

// Apply is the object after the change; o stays as it is.
func (c Change) Apply(o Object) Object {
	if len(c.Rewrite) > 0 || len(c.Drop) > 0 || len(c.Unblock) > 0 {
		rewrite, drop, unblock := c.Rewrite, c.Drop, c.Unblock
		owners := make([]Reference, 0, len(o.Owners))
		for i, r := range o.Owners {
			if len(rewrite) > 0 && rewrite[0].Index == i {
				r = r.LeadingTo(rewrite[0].Reference)
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
	if c.Release != "" {
		o.Finalizers = slices.DeleteFunc(slices.Clone(o.Finalizers), func(f string) bool { return f == c.Release })
	}
	return o
}
