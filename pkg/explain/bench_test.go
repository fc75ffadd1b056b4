package explain_test

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/explain"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// BenchmarkOf explains the last object, which has the most owners above it.
func BenchmarkOf(b *testing.B) {
	st.Bench(b, func(s *snapshot.Snapshot) func() {
		g := graph.New(s)
		last := graph.Node(g.Listed() - 1)
		return func() { explain.NewExplainer(collector.NewJudge(g)).Object(last, explain.EventHistory{}) }
	})
}
