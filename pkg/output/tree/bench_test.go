package tree_test

import (
	"io"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/color"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/tree"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

func BenchmarkWrite(b *testing.B) {
	st.Bench(b, func(s *snapshot.Snapshot) func() {
		g := graph.New(s)
		judge := collector.NewJudge(g)
		family := tree.Family{Members: st.Component(g, 0), Targets: graph.NewSet(g)}
		view := tree.RowView{Graph: g, Judge: judge, Palette: color.New(color.Never, false, false)}
		return func() {
			if err := view.Write(io.Discard, tree.Layout(g, judge, family, st.Taken)); err != nil {
				b.Fatal(err)
			}
		}
	})
}
