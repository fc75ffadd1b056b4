package planrun_test

import (
	"context"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute/planrun"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	. "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// instantServer does what it is asked to at once. What remains is the cost of the run.
type instantServer struct{ s *snapshot.Snapshot }

func (instantServer) Delete(_ context.Context, o *object.Object, policy metav1.DeletionPropagation, _ *int64) (*object.Object, error) {
	return simulate.StateAfterDelete(o, policy, nil, Taken), nil
}

func (instantServer) Patch(_ context.Context, o *object.Object, c object.Change) (*object.Object, error) {
	return simulate.StateAfterPatch(o, c), nil
}

func (instantServer) Read(context.Context, object.Identity) (*object.Object, error) { return nil, nil }

func (instantServer) Verify(context.Context, object.Identity) (*snapshot.Snapshot, error) {
	return &snapshot.Snapshot{}, nil
}

func (i instantServer) Relist(context.Context) (*snapshot.Snapshot, error) { return i.s, nil }

func (i instantServer) Contents(context.Context, object.Identity) (*snapshot.Snapshot, error) {
	return i.s, nil
}

func (instantServer) WaitForGone(context.Context, object.Identity) error { return nil }

// BenchmarkRun carries out the plan of one collection pass. Owners that wait for their
// dependents are gone when they are read again.
func BenchmarkRun(b *testing.B) {
	Bench(b, func(s *snapshot.Snapshot) func() {
		g := graph.New(s)
		p := plan.New(collector.NewJudge(g), plan.CollectPurpose(nil))
		return func() {
			planrun.Run(context.Background(), p, collector.NewJudge(g), instantServer{s}, nil, planrun.RunOptions{Common: execute.Tuning{Concurrency: 20}})
		}
	})
}
