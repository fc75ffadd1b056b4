package graph_test

import (
	"fmt"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

const benchObjects = 50_000

func BenchmarkNew(b *testing.B) {
	s := st.Replicated(benchObjects)
	b.ReportAllocs()
	for b.Loop() {
		graph.New(s)
	}
}

func BenchmarkCycles(b *testing.B) {
	g := graph.New(st.Replicated(benchObjects))
	b.ReportAllocs()
	for b.Loop() {
		g.Cycles(every)
	}
}

func BenchmarkShapes(b *testing.B) {
	b.Run("new", func(b *testing.B) {
		st.Bench(b, func(s *snapshot.Snapshot) func() { return func() { graph.New(s) } })
	})
	b.Run("cycles", func(b *testing.B) {
		st.Bench(b, func(s *snapshot.Snapshot) func() {
			g := graph.New(s)
			return func() { g.Cycles(every) }
		})
	})
}

func BenchmarkComponent(b *testing.B) {
	shapes := map[string]*snapshot.Snapshot{
		"of ten":             st.Replicated(benchObjects),
		"of the whole chain": chain(benchObjects),
	}
	for name, s := range shapes {
		b.Run(name, func(b *testing.B) {
			g := graph.New(s)
			b.ReportAllocs()
			for b.Loop() {
				st.Component(g, 0)
			}
		})
	}
}

func BenchmarkBelow(b *testing.B) {
	root := st.Node("root")
	s := &snapshot.Snapshot{}
	st.Listing(root)(s)
	for i := range benchObjects {
		st.Listing(st.Pod(fmt.Sprintf("shop/%d", i), st.OwnedBy(root)))(s)
	}
	g := graph.New(s)
	b.ReportAllocs()
	for b.Loop() {
		g.AddDescendants(graph.NewSet(g), graph.Unlimited, 0)
	}
}
