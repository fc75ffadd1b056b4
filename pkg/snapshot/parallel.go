package snapshot

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// chunkSize is large enough to make the cost of a goroutine negligible.
const chunkSize = 8192

// Parallel calls work for consecutive ranges, from to to-1, of count items, on all
// processors. It returns the results in the order of the ranges, whatever the number of
// processors. Ranges must not write anything that others read.
func Parallel[T any](count int, work func(from, to int) T) []T {
	results := make([]T, (count+chunkSize-1)/chunkSize)
	var next atomic.Int64
	worker := func() {
		for i := int(next.Add(1)) - 1; i < len(results); i = int(next.Add(1)) - 1 {
			results[i] = work(i*chunkSize, min(count, (i+1)*chunkSize))
		}
	}
	var others sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(results)) - 1 {
		others.Go(worker)
	}
	worker()
	others.Wait()
	return results
}
