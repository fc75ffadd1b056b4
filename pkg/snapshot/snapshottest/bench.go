package snapshottest

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// sizes are the numbers of objects between which the cost of each must not grow.
var sizes = []int{5_000, 50_000, 500_000}

// states are what the shapes are found in.
var states = map[string]func(Shape, int) *snapshot.Snapshot{
	"all there":    func(s Shape, n int) *snapshot.Snapshot { return New(s(n)) },
	"root gone":    func(s Shape, n int) *snapshot.Snapshot { return New(s(n), Without(Nth(0))) },
	"root waiting": func(s Shape, n int) *snapshot.Snapshot { return New(s(n, Foreground())) },
	"view with a gap": func(s Shape, n int) *snapshot.Snapshot {
		return New(s(n, Foreground()), Unreadable("secrets", snapshot.Forbidden))
	},
}

// Bench measures something for Shapes of three sizes, each in four states, and
// reports what it costs per object: what grows faster than the objects shows there.
// prepare is not measured, what it answers is.
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
