package plan_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

func BenchmarkCollect(b *testing.B) {
	st.Bench(b, func(s *snapshot.Snapshot) func() {
		g := graph.New(s)
		return func() { plan.New(collector.NewJudge(g), plan.CollectPurpose(nil)) }
	})
}

func BenchmarkDelete(b *testing.B) {
	for name, hand := range map[string]simulate.Predictor{"ours": simulate.Own, "theirs": simulate.Cluster} {
		for _, policy := range []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan} {
			b.Run(name+"/"+string(policy), func(b *testing.B) {
				st.Bench(b, func(s *snapshot.Snapshot) func() {
					g := graph.New(s)
					o := plan.DeletePurpose(hand, simulate.DeleteRequest{Node: 0, Policy: policy})
					return func() { plan.New(collector.NewJudge(g), o) }
				})
			})
		}
	}
}

func BenchmarkRepair(b *testing.B) {
	st.Bench(b, func(s *snapshot.Snapshot) func() {
		g := graph.New(s)
		return func() { plan.NewRepair(collector.NewJudge(g), plan.RepairOptions{}) }
	})
}
