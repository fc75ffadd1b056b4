package snapshot

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// aPart is so many things that another goroutine costs nothing beside them.
const aPart = 8192

// Parallel has work done on consecutive parts, from..to-1, of so many things, on every
// processor there is. The answers are in the order of the parts, so that what is put
// together from them does not depend on how many processors those are. work must write
// nothing that another part reads.
func Parallel[T any](things int, work func(from, to int) T) []T {
	answers := make([]T, (things+aPart-1)/aPart)
	var next atomic.Int64
	worker := func() {
		for i := int(next.Add(1)) - 1; i < len(answers); i = int(next.Add(1)) - 1 {
			answers[i] = work(i*aPart, min(things, (i+1)*aPart))
		}
	}
	var others sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(answers)) - 1 {
		others.Go(worker)
	}
	worker()
	others.Wait()
	return answers
}
