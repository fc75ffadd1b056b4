package simulation

import (
	"hash/fnv"
	"math/rand/v2"
	"time"
)

// chanceOf returns numbers that depend on the seed and on what they are drawn for, and on nothing else: not on
// the order in which things are drawn, so that leaving out a step changes little of the rest.
func chanceOf(seed uint64, what string) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write([]byte(what)) // never fails
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}

// between returns a duration. No two of them are equal, so nothing happens at the same time as anything else.
func between(r *rand.Rand, from, to time.Duration) time.Duration {
	return from + time.Duration(r.Int64N(int64(to-from)))
}

// latency returns how long a message is under way: mostly a few milliseconds, sometimes much longer.
func latency(r *rand.Rand) time.Duration {
	switch r.IntN(50) {
	case 0:
		return between(r, 0, 2*time.Second)
	case 1, 2, 3:
		return between(r, 0, 100*time.Millisecond)
	}
	return between(r, 20*time.Microsecond, 5*time.Millisecond)
}
