package audit_test

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

func BenchmarkRun(b *testing.B) {
	g := graph.New(st.Replicated(50_000))
	b.ReportAllocs()
	for b.Loop() {
		report, err := audit.Run(collector.NewJudge(g), audit.Filter{})
		if err != nil || len(report.Findings) > 0 {
			b.Fatal(report, err)
		}
	}
}

// A single deletion under way makes the audit simulate the whole graph.
func BenchmarkRunWithADeletion(b *testing.B) {
	s := st.Replicated(50_000)
	st.Foreground()(s.Objects[0])
	g := graph.New(s)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := audit.Run(collector.NewJudge(g), audit.Filter{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkShapes(b *testing.B) {
	st.Bench(b, func(s *snapshot.Snapshot) func() {
		g := graph.New(s)
		return func() {
			if _, err := audit.Run(collector.NewJudge(g), audit.Filter{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
