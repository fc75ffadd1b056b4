package snapshot_test

import (
	"runtime"
	"slices"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

func TestParallelCoversAllItemsInOrder(t *testing.T) {
	for name, processors := range map[string]int{"one processor": 1, "more than there are parts": 16} {
		t.Run(name, func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
			for _, things := range []int{0, 1, 8191, 8192, 8193, 50_000} {
				at := 0
				for _, part := range snapshot.Parallel(things, func(from, to int) [2]int { return [2]int{from, to} }) {
					if part[0] != at || part[1] <= at {
						t.Fatalf("of %d: a part from %d to %d where %d is next", things, part[0], part[1], at)
					}
					at = part[1]
				}
				if at != things {
					t.Errorf("of %d only %d are in a part", things, at)
				}
			}
		})
	}
}

func TestParallelRunsConcurrently(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	met := make(chan bool)
	got := snapshot.Parallel(10_000, func(from, _ int) int {
		if from == 0 {
			met <- true
		} else {
			<-met
		}
		return from
	})
	if !slices.Equal(got, []int{0, 8192}) {
		t.Errorf("the parts begin at %v", got)
	}
}
