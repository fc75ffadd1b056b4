package snapshottest

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// The cost per object must not grow with the size.
var sizes = []int{5_000, 50_000, 500_000}

var states = map[string]func(Shape, int) *snapshot.Snapshot{
	"all there":    func(s Shape, n int) *snapshot.Snapshot { return New(s(n)) },
	"root gone":    func(s Shape, n int) *snapshot.Snapshot { return New(s(n), Without(Nth(0))) },
	"root waiting": func(s Shape, n int) *snapshot.Snapshot { return New(s(n, Foreground())) },
	"scan with a gap": func(s Shape, n int) *snapshot.Snapshot {
		return New(s(n, Foreground()), Unreadable("secrets", snapshot.Forbidden))
	},
}

// Bench runs a benchmark for Shapes in three sizes and four states, and reports the cost per
// object, which shows anything worse than linear. It measures the function that prepare
// returns, but not prepare itself.
func Bench(b *testing.B, prepare func(*snapshot.Snapshot) (measured func())) {
	b.Helper()
	for _, shape := range slices.Sorted(maps.Keys(Shapes)) {
		for _, state := range slices.Sorted(maps.Keys(states)) {
			for _, n := range sizes {
				b.Run(fmt.Sprintf("%s/%s/%d", shape, state, n), func(b *testing.B) {
					measured := prepare(states[state](Shapes[shape], n))
					b.ReportAllocs()
					for b.Loop() {
						measured()
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/object")
				})
			}
		}
	}
}

// Allocated returns the number of bytes that f allocates in total, freed or not. Unlike the
// bytes in use, it is the same each time.
func Allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
