package planrun_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute/planrun"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	. "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// removalScenario returns a scenario in which somebody removes the finalizer x/y of the first object.
func removalScenario(objects ...object.Object) *scenario {
	s := New(Serving(TypesWithContents()...), Listing(objects...))
	f := newFakeServer(s)
	g := graph.New(s)
	p := plan.New(collector.NewJudge(g), plan.FinalizerPurpose(g.Find(objects[0].UID), "x/y", nil))
	return &scenario{server: f, plan: p, graph: g, backup: &fakeBackup{server: f}, options: planrun.RunOptions{Common: execute.Tuning{Concurrency: 4}, RequestedOnly: true}}
}

func TestRequestedRemovalOfAFinalizerIsOneWriteAfterTheBackup(t *testing.T) {
	stuck := Secret("a/stuck", Terminating("x/y"))
	s := removalScenario(stuck, ConfigMap("a/d", OwnedBy(stuck)))
	s.checkResults(t, s.run(t.Context()), "remove-finalizer stuck: done", "delete d:")
	s.checkRequests(t, writes, "patch stuck")
	got := s.server.sent("backup")
	slices.Sort(got)
	if want := []string{"backup d", "backup stuck"}; !slices.Equal(got, want) {
		t.Errorf("backed up %q, want %q", got, want)
	}
}

func TestRequestedRemovalOfAFinalizerIsDecidedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*object.Object)
		status event.Status
		reason string
	}{
		"nothing that matters changed":     {func(o *object.Object) { o.Labels = map[string]string{"a": "b"} }, event.Done, ""},
		"its controller removed it":        {func(o *object.Object) { o.Finalizers = []string{"z/other"} }, event.Skipped, "ObjectChanged AlreadyDone"},
		"its controller removed another":   {func(o *object.Object) { o.Finalizers = []string{"x/y"} }, event.Skipped, "ObjectChanged FinalizersChanged"},
		"it has another owner":             {OwnedBy(Secret("a/other")), event.Skipped, "ObjectChanged OwnersChanged"},
		"its deletion was completed by it": {nil, event.Skipped, "AlreadyGone"},
	} {
		t.Run(name, func(t *testing.T) {
			s := removalScenario(Secret("a/stuck", Terminating("x/y", "z/other")), Secret("a/other"))
			s.onRequest("patch stuck", 1, func() { s.server.edit(uid(Secret("a/stuck")), c.change) })
			r := s.run(t.Context())
			if got := r.Results[0]; got.Status != c.status || describeReason(got.Reason) != c.reason {
				t.Error(describeResult(got))
			}
		})
	}
}

func TestRequestedRemovalOfAFinalizerFailsIfADependentIsNotBackedUp(t *testing.T) {
	stuck := Secret("a/stuck", Terminating("x/y"))
	s := removalScenario(stuck, ConfigMap("a/d", OwnedBy(stuck)))
	s.backup.fails = map[string]error{"d": errors.New("disk full")}
	s.checkResults(t, s.run(t.Context()), "remove-finalizer stuck: failed BackupFailed save d: disk full", "delete d:")
	s.checkRequests(t, writes)
}

func TestRequestedRemovalOfAFinalizerFailsIfContentsOfItsNamespaceAreNotBackedUp(t *testing.T) {
	s := removalScenario(Pod("a/stuck", Terminating("x/y")), Namespace("a", Terminating()), ConfigMap("a/later"))
	s.backup.fails = map[string]error{"later": errors.New("disk full")}
	s.checkResults(t, s.run(t.Context()), "remove-finalizer stuck: failed BackupFailed save later: disk full")
	s.checkRequests(t, writes)
}
