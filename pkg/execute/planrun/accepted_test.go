package planrun_test

import (
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

var noMetrics = Undiscovered("metrics.k8s.io", snapshot.Unavailable)

// scenarioAcceptingGap returns a scenario in which a gap of the metrics API was accepted.
func scenarioAcceptingGap(o plan.Purpose, objects ...object.Object) *scenario {
	s := New(Serving(TypesWithContents()...), Listing(objects...), noMetrics)
	f := newFakeServer(s)
	o.Predictor.Accepted = snapshot.AcceptedGaps{"metrics.k8s.io"}
	g := graph.New(s)
	if len(o.Bounds.Deletes) > 0 {
		o.Bounds.Deletes[0].Node = g.Find(objects[0].UID)
	}
	return &scenario{server: f, plan: plan.New(collector.NewJudge(g), o), graph: g, backup: &fakeBackup{server: f}, options: planrun.RunOptions{Common: execute.Tuning{Concurrency: 4}}}
}

func anotherGap(s *scenario) func() {
	return func() {
		s.server.base.Gaps = append([]snapshot.Gap{{Group: "apps", Resource: "deployments", Reason: snapshot.Forbidden}}, s.server.base.Gaps...)
	}
}

func TestRelistToleratesOnlyTheAcceptedGap(t *testing.T) {
	s := scenarioAcceptingGap(plan.CollectPurpose(nil), ConfigMap("a/owner", Foreground()))
	s.checkResults(t, s.run(t.Context()), "remove-finalizer owner: done")

	s = scenarioAcceptingGap(plan.CollectPurpose(nil), ConfigMap("a/owner", Foreground()))
	s.onRequest("relist ", 1, anotherGap(s))
	s.checkResults(t, s.run(t.Context()), "remove-finalizer owner: skipped DependentsIncomplete deployments.apps (forbidden)")
	s.checkRequests(t, writes)
}

func TestCheckContentsToleratesOnlyTheAcceptedGap(t *testing.T) {
	deletion := func() plan.Purpose {
		return plan.DeletePurpose(simulate.Own, simulate.DeleteRequest{Policy: metav1.DeletePropagationBackground})
	}
	s := scenarioAcceptingGap(deletion(), Namespace("a"), Secret("a/x"))
	s.checkResults(t, s.run(t.Context()), "delete a: done")

	s = scenarioAcceptingGap(deletion(), Namespace("a"), Secret("a/x"))
	s.onRequest("contents a", 1, func() {
		anotherGap(s)()
		Unlisted("deployments.apps")(s.server.base)
	})
	s.checkResults(t, s.run(t.Context()), "delete a: failed ContentsIncomplete deployments.apps (forbidden)")
	s.checkRequests(t, writes)
}
