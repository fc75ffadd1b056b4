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

// accepting is a scene in which a dead metrics API was accepted.
func accepting(o plan.Options, objects ...object.Object) *scene {
	s := New(Serving(Containers()...), Listing(objects...), noMetrics)
	f := newFake(s)
	o.Accepted = snapshot.AcceptedGaps{"metrics.k8s.io"}
	g := graph.New(s)
	if len(o.Bounds.Deletes) > 0 {
		o.Bounds.Deletes[0].Node = g.Find(objects[0].UID)
	}
	return &scene{fake: f, plan: plan.New(g, o), graph: g, disk: &disk{fake: f}, options: planrun.Options{Common: execute.Options{Concurrency: 4}}}
}

func anotherGap(s *scene) func() {
	return func() {
		s.base.Gaps = append([]snapshot.Gap{{Group: "apps", Resource: "deployments", Reason: snapshot.Forbidden}}, s.base.Gaps...)
	}
}

func TestARelistMayHaveTheAcceptedGapAndNoOther(t *testing.T) {
	s := accepting(plan.Options{Mode: plan.Collect}, ConfigMap("a/owner", Foreground()))
	s.is(t, s.run(t.Context()), "remove-finalizer owner: done")

	s = accepting(plan.Options{Mode: plan.Collect}, ConfigMap("a/owner", Foreground()))
	s.then("census ", 1, anotherGap(s))
	s.is(t, s.run(t.Context()), "remove-finalizer owner: skipped DependentsIncomplete deployments.apps (forbidden)")
	s.sends(t, writes)
}

func TestContentsListedAgainMayHaveTheAcceptedGapAndNoOther(t *testing.T) {
	deletion := func() plan.Options {
		return plan.Deletion(collector.ActorClient, simulate.Deletion{Policy: metav1.DeletePropagationBackground})
	}
	s := accepting(deletion(), Namespace("a"), Secret("a/x"))
	s.is(t, s.run(t.Context()), "delete a: done")

	s = accepting(deletion(), Namespace("a"), Secret("a/x"))
	s.then("contents a", 1, func() {
		anotherGap(s)()
		Unlisted("deployments.apps")(s.base)
	})
	s.is(t, s.run(t.Context()), "delete a: failed ContentsIncomplete deployments.apps (forbidden)")
	s.sends(t, writes)
}
