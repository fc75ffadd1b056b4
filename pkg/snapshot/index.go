package snapshot

import (
	"hash/maphash"

	"k8s.io/apimachinery/pkg/types"
)

// Index finds places in a list by UID. A map would do, for six times the memory: it
// would hold every UID a second time. It is not safe for concurrent use while
// something is added.
type Index struct {
	at    func(place int) types.UID
	seed  maphash.Seed
	slots []int32 // place + 1, where the UID's hash says or as near behind it as was free; 0: free
	taken int
}

// NewIndex is for about that many places; at answers the UID of each that was added.
func NewIndex(places int, at func(place int) types.UID) *Index {
	x := &Index{at: at, seed: maphash.MakeSeed()}
	x.resize(places)
	return x
}

// Find answers the place of a UID, or -1.
func (x *Index) Find(uid types.UID) int {
	return int(x.slots[x.slot(uid)]) - 1
}

// Add enters a place whose UID is not in the index yet.
func (x *Index) Add(place int) {
	if 4*x.taken >= 3*len(x.slots) {
		x.resize(2 * x.taken)
	}
	x.slots[x.slot(x.at(place))] = int32(place + 1)
	x.taken++
}

// slot is where a UID stands, or where it would.
func (x *Index) slot(uid types.UID) int {
	last := len(x.slots) - 1
	for i := int(maphash.String(x.seed, string(uid))) & last; ; i = (i + 1) & last {
		if held := x.slots[i]; held == 0 || x.at(int(held-1)) == uid {
			return i
		}
	}
}

// resize makes room for that many places, two thirds full at most.
func (x *Index) resize(places int) {
	size := 16
	for 2*size < 3*places {
		size *= 2
	}
	before := x.slots
	x.slots = make([]int32, size)
	for _, held := range before {
		if held != 0 {
			x.slots[x.slot(x.at(int(held-1)))] = held
		}
	}
}
