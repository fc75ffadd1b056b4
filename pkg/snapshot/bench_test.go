package snapshot_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

func BenchmarkAdd(b *testing.B) {
	s := st.Replicated(50_000)
	b.ReportAllocs()
	for b.Loop() {
		var d snapshot.Deduper
		d.Add(s.Objects...)
	}
}

func BenchmarkSort(b *testing.B) {
	s := st.Replicated(50_000)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(s.Objects), func(i, k int) { s.Objects[i], s.Objects[k] = s.Objects[k], s.Objects[i] })
	shuffled := s.Objects
	b.ReportAllocs()
	for b.Loop() {
		s.Objects = slices.Clone(shuffled)
		s.Normalize()
	}
}

func BenchmarkNewMapper(b *testing.B) {
	served := st.Types()
	b.ReportAllocs()
	for b.Loop() {
		snapshot.NewMapper(served)
	}
	b.ReportMetric(float64(len(served)), "types")
}
