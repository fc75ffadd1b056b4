package snapshot

import (
	"hash/maphash"

	"k8s.io/apimachinery/pkg/types"
)

// Index finds places in a list by UID. A map would do, for three times the memory: it
// would hold every UID a second time. It is not safe for concurrent use while
// something is added.
type Index struct {
	at    func(place int) types.UID
	seed  maphash.Seed
	slots []slot // each where its hash says, or as near behind it as was free
	taken int
}

// slot is a place by the hash of its UID, so that few UIDs are looked at in vain.
type slot struct {
	hash uint32
	next int32 // the place behind it, so that 0 is a free slot
}

// NewIndex is for about that many places; at answers the UID of each that was added.
func NewIndex(places int, at func(place int) types.UID) *Index {
	x := &Index{at: at, seed: maphash.MakeSeed()}
	x.resize(places)
	return x
}

// Find answers the place of a UID, or -1.
func (x *Index) Find(uid types.UID) int {
	_, place := x.find(uid, x.hash(uid))
	return place
}

// find answers the slot of a UID and its place, or the slot that is free for it and -1.
func (x *Index) find(uid types.UID, hash uint32) (at, place int) {
	for i := int(hash); ; i++ {
		i &= len(x.slots) - 1
		s := x.slots[i]
		if s.next == 0 || s.hash == hash && x.at(int(s.next-1)) == uid {
			return i, int(s.next) - 1
		}
	}
}

// Insert adds a UID that is to stand at place, and answers that. If the UID is there
// already it changes nothing, and answers where it stands.
func (x *Index) Insert(uid types.UID, place int) int {
	if 4*x.taken >= 3*len(x.slots) {
		x.resize(2 * x.taken)
	}
	hash := x.hash(uid)
	i, known := x.find(uid, hash)
	if known >= 0 {
		return known
	}
	x.slots[i] = slot{hash, int32(place + 1)}
	x.taken++
	return place
}

func (x *Index) hash(uid types.UID) uint32 { return uint32(maphash.String(x.seed, string(uid))) }

func (x *Index) put(s slot) {
	i := int(s.hash)
	for x.slots[i&(len(x.slots)-1)].next != 0 {
		i++
	}
	x.slots[i&(len(x.slots)-1)] = s
}

// resize makes room for that many places, two thirds full at most.
func (x *Index) resize(places int) {
	size := 16
	for 2*size < 3*places {
		size *= 2
	}
	before := x.slots
	x.slots = make([]slot, size)
	for _, s := range before {
		if s.next != 0 {
			x.put(s)
		}
	}
}
