package snapshot

import (
	"hash/maphash"

	"k8s.io/apimachinery/pkg/types"
)

// Index finds the position of a UID in a list. It takes a third of the memory of a map,
// which would hold every UID a second time. It is not safe for concurrent use while a UID
// is inserted.
type Index struct {
	uidAt func(position int) types.UID
	seed  maphash.Seed
	slots []slot // a hash table with linear probing
	used  int
}

// slot holds the hash too, so that few UIDs are compared in vain.
type slot struct {
	hash uint32
	next int32 // position + 1; 0 is a free slot
}

// NewIndex returns an index for about that many UIDs. uidAt returns the UID at each position
// that was inserted.
func NewIndex(capacity int, uidAt func(position int) types.UID) *Index {
	x := &Index{uidAt: uidAt, seed: maphash.MakeSeed()}
	x.resize(capacity)
	return x
}

// Find returns the position of a UID and reports whether it is present.
func (x *Index) Find(uid types.UID) (position int, ok bool) {
	s := x.slots[x.find(uid, x.hash(uid))]
	return int(s.next) - 1, s.next != 0
}

// find returns the slot of a UID, or the slot that is free for it.
func (x *Index) find(uid types.UID, hash uint32) int {
	for i := int(hash); ; i++ {
		i &= len(x.slots) - 1
		s := x.slots[i]
		if s.next == 0 || s.hash == hash && x.uidAt(int(s.next-1)) == uid {
			return i
		}
	}
}

// Insert inserts a UID and returns its position: the given one, or its own if it is present
// already.
func (x *Index) Insert(uid types.UID, position int) int {
	if 4*x.used >= 3*len(x.slots) {
		x.resize(2 * x.used)
	}
	hash := x.hash(uid)
	i := x.find(uid, hash)
	if present := x.slots[i].next; present != 0 {
		return int(present) - 1
	}
	x.slots[i] = slot{hash, int32(position + 1)}
	x.used++
	return position
}

func (x *Index) hash(uid types.UID) uint32 { return uint32(maphash.String(x.seed, string(uid))) }

// resize makes room for that many UIDs, with two thirds of the slots used at most.
func (x *Index) resize(capacity int) {
	size := 16
	for 2*size < 3*capacity {
		size *= 2
	}
	before := x.slots
	x.slots = make([]slot, size)
	for _, s := range before {
		if s.next == 0 {
			continue
		}
		i := int(s.hash)
		for x.slots[i&(size-1)].next != 0 {
			i++
		}
		x.slots[i&(size-1)] = s
	}
}
