package why_test

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
	"github.com/kubectl-gc/kubectl-gc/pkg/why"
)

// BenchmarkOf explains the last object, to which most leads.
func BenchmarkOf(b *testing.B) {
	st.Bench(b, func(s *snapshot.Snapshot) func() {
		g := graph.New(s)
		last := graph.Node(g.Listed() - 1)
		return func() { why.NewView(g).Of(last, why.Told{}) }
	})
}
