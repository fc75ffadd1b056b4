package planrun_test

import (
	"errors"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute/planrun"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	. "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// deletionScenario returns a scenario in which somebody deletes the first object.
func deletionScenario(predictor simulate.Predictor, policy metav1.DeletionPropagation, objects ...object.Object) *scenario {
	s := New(Serving(TypesWithContents()...), Listing(objects...))
	f := newFakeServer(s)
	g := graph.New(s)
	p := plan.New(collector.NewJudge(g), plan.DeletePurpose(predictor, simulate.DeleteRequest{Node: g.Find(objects[0].UID), Policy: policy}))
	return &scenario{server: f, plan: p, graph: g, backup: &fakeBackup{server: f}, options: planrun.RunOptions{Common: execute.Tuning{Concurrency: 4}}}
}

func TestRequestedStepNeedsNoDecisionOfTheCollector(t *testing.T) {
	owner, backup := Secret("a/owner"), Secret("a/backup")
	s := deletionScenario(simulate.Own, metav1.DeletePropagationForeground, Secret("a/owner", OwnedBy(backup)), backup, ConfigMap("a/x", Owned(To(owner, Blocking))))
	s.checkResults(t, s.run(t.Context()), "delete owner: done", "delete x: done", "remove-finalizer owner: done")
	s.checkRequests(t, writes, "delete owner", "delete x", "patch owner")
}

func TestRequestedOnlyLeavesOtherStepsToTheCluster(t *testing.T) {
	owner := Secret("a/owner")
	s := deletionScenario(simulate.Cluster, metav1.DeletePropagationBackground, owner, ConfigMap("a/x", OwnedBy(owner)), Pod("a/p", OwnedBy(ConfigMap("a/x"))))
	s.options.RequestedOnly = true
	r := s.run(t.Context())
	s.checkResults(t, r, "delete owner: done", "delete x:", "delete p:")
	s.checkRequests(t, writes, "delete owner")
	if got := tallyOf(s.plan, r); got != (tally{deleted: 1}) {
		t.Errorf("counted %+v", got)
	}
	got := s.server.sent("backup")
	slices.Sort(got)
	if want := []string{"backup owner", "backup p", "backup x"}; !slices.Equal(got, want) {
		t.Errorf("backed up %q, want %q", got, want)
	}
}

func TestOnlyRequestedDeletionsHaveTheRequestedGracePeriod(t *testing.T) {
	for _, dryRun := range []bool{false, true} {
		owner := Pod("a/owner", Running())
		objects := []object.Object{owner, Pod("a/below", OwnedBy(owner), Running())}
		s := deletionScenario(simulate.Own, metav1.DeletePropagationBackground, objects...)
		s.plan = plan.New(collector.NewJudge(s.graph), plan.DeletePurpose(simulate.Own, simulate.DeleteRequest{
			Node: s.graph.Find(owner.UID), Policy: metav1.DeletePropagationBackground, GraceSeconds: new(int64),
		}))
		s.options.Common.DryRun = dryRun
		s.checkResults(t, s.run(t.Context()), "delete owner: done", "delete below: done")
		for _, c := range s.server.calls {
			if requested := c.at.Name == "owner"; c.verb == "delete" && (c.grace != nil) != requested {
				t.Errorf("%s, dry run %t: the grace period is %v", c, dryRun, c.grace)
			}
		}
	}
}

func TestRequestedOnlyDoesNotWaitForDeletion(t *testing.T) {
	s := deletionScenario(simulate.Cluster, metav1.DeletePropagationBackground, Pod("a/p", Running()))
	s.options.RequestedOnly, s.server.prompt = true, false
	s.checkResults(t, s.run(t.Context()), "delete p: done")
	s.checkRequests(t, []string{"wait"})
}

func TestRequestedStepIsSkippedOnAChangedObject(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*object.Object)
		status event.Status
		reason string
	}{
		"nothing that matters changed": {func(o *object.Object) { o.Labels = map[string]string{"a": "b"} }, event.Done, ""},
		"it has another owner":         {OwnedBy(Secret("a/backup")), event.Skipped, "ObjectChanged OwnersChanged"},
		"it has another finalizer":     {WithFinalizers("x/y"), event.Skipped, "ObjectChanged FinalizersChanged"},
		"somebody was faster":          {Terminating(), event.Skipped, "ObjectChanged AlreadyTerminating"},
		"it is gone":                   {nil, event.Skipped, "AlreadyGone"},
	} {
		t.Run(name, func(t *testing.T) {
			s := deletionScenario(simulate.Cluster, metav1.DeletePropagationBackground, Secret("a/owner"), Secret("a/backup"))
			s.onRequest("delete owner", 1, func() { s.server.edit(uid(Secret("a/owner")), c.change) })
			r := s.run(t.Context())
			if got := r.Results[0]; got.Status != c.status || describeReason(got.Reason) != c.reason {
				t.Error(describeResult(got))
			}
		})
	}
}

func TestRequestedStepFailsIfADependentIsNotBackedUp(t *testing.T) {
	owner := Secret("a/owner")
	s := deletionScenario(simulate.Cluster, metav1.DeletePropagationBackground, owner, ConfigMap("a/x", OwnedBy(owner)))
	s.options.RequestedOnly = true
	s.backup.fails = map[string]error{"x": errors.New("disk full")}
	s.checkResults(t, s.run(t.Context()), "delete owner: failed BackupFailed save x: disk full", "delete x:")
	s.checkRequests(t, writes)
}

func TestRequestedStepFailsIfContentsAreNotBackedUp(t *testing.T) {
	s := deletionScenario(simulate.Own, metav1.DeletePropagationBackground, Namespace("a"), Secret("a/x"))
	s.backup.fails = map[string]error{"x": errors.New("disk full")}
	s.checkResults(t, s.run(t.Context()), "delete a: failed BackupFailed save x: disk full")
	s.checkRequests(t, writes)
}

func TestRequestedStepDeletesATerminatingObjectAgain(t *testing.T) {
	s := deletionScenario(simulate.Cluster, metav1.DeletePropagationForeground, Secret("a/owner", Terminating("x/y")))
	s.options.RequestedOnly = true
	s.checkResults(t, s.run(t.Context()), "delete owner: done", "remove-finalizer owner:")
	s.checkRequests(t, writes, "delete owner")
}
