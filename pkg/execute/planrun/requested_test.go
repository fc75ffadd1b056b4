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

// asking is a scene in which somebody deletes the first of the objects.
func asking(hand collector.Actor, policy metav1.DeletionPropagation, objects ...object.Object) *scene {
	s := New(Serving(Containers()...), Listing(objects...))
	f := newFake(s)
	g := graph.New(s)
	p := plan.New(g, plan.Deletion(hand, simulate.Deletion{Node: g.Find(objects[0].UID), Policy: policy}))
	return &scene{fake: f, plan: p, graph: g, disk: &disk{fake: f}, options: planrun.Options{Common: execute.Options{Concurrency: 4}}}
}

func TestWhatIsAskedForIsDoneThoughNoCollectorWould(t *testing.T) {
	owner, keeper := Secret("a/owner"), Secret("a/keeper")
	s := asking(collector.ActorClient, metav1.DeletePropagationForeground, Secret("a/owner", OwnedBy(keeper)), keeper, ConfigMap("a/x", Owned(To(owner, Blocking))))
	s.is(t, s.run(t.Context()), "delete owner: done", "delete x: done", "remove-finalizer owner: done")
	s.sends(t, writes, "delete owner", "delete x", "patch owner")
}

func TestOnlyWhatIsAskedForIsDoneWhereTheClusterDoesTheRest(t *testing.T) {
	owner := Secret("a/owner")
	s := asking(collector.ActorControllerManager, metav1.DeletePropagationBackground, owner, ConfigMap("a/x", OwnedBy(owner)), Pod("a/p", OwnedBy(ConfigMap("a/x"))))
	s.options.RequestedOnly = true
	r := s.run(t.Context())
	s.is(t, r, "delete owner: done", "delete x:", "delete p:")
	s.sends(t, writes, "delete owner")
	if r.Deleted != 1 || r.Skipped != 0 || r.Failed != 0 {
		t.Errorf("counted %+v", r)
	}
	saved := s.sent("keep")
	slices.Sort(saved)
	if want := []string{"keep owner", "keep p", "keep x"}; !slices.Equal(saved, want) {
		t.Errorf("saved %q, want %q", saved, want)
	}
}

func TestNothingIsWaitedForWhereTheClusterDoesTheRest(t *testing.T) {
	s := asking(collector.ActorControllerManager, metav1.DeletePropagationBackground, Pod("a/p", Running()))
	s.options.RequestedOnly, s.prompt = true, false
	s.is(t, s.run(t.Context()), "delete p: done")
	s.sends(t, []string{"await"})
}

func TestWhatIsAskedForIsNotDoneOnWhatWasNotShown(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*object.Object)
		status event.Status
		says   string
	}{
		"nothing that matters changed": {func(o *object.Object) { o.Labels = map[string]string{"a": "b"} }, event.Done, ""},
		"it has another owner":         {OwnedBy(Secret("a/keeper")), event.Skipped, "ObjectChanged OwnersChanged"},
		"it has another finalizer":     {Held("x/y"), event.Skipped, "ObjectChanged FinalizersChanged"},
		"somebody was faster":          {Terminating(), event.Skipped, "ObjectChanged AlreadyTerminating"},
		"it is gone":                   {nil, event.Skipped, "AlreadyGone"},
	} {
		t.Run(name, func(t *testing.T) {
			s := asking(collector.ActorControllerManager, metav1.DeletePropagationBackground, Secret("a/owner"), Secret("a/keeper"))
			s.then("delete owner", 1, func() { s.edit(uid(Secret("a/owner")), c.change) })
			r := s.run(t.Context())
			if got := r.Results[0]; got.Status != c.status || describeReason(got.Reason) != c.says {
				t.Error(describeResult(got))
			}
		})
	}
}

// What cannot be saved is not set in motion either.
func TestWhatWouldGoUnsavedIsNotAskedFor(t *testing.T) {
	owner := Secret("a/owner")
	s := asking(collector.ActorControllerManager, metav1.DeletePropagationBackground, owner, ConfigMap("a/x", OwnedBy(owner)))
	s.options.RequestedOnly = true
	s.disk.fails = map[string]error{"x": errors.New("disk full")}
	s.is(t, s.run(t.Context()), "delete owner: failed BackupFailed save x: disk full", "delete x:")
	s.sends(t, writes)
}

func TestWhatWouldBeTakenAlongUnsavedKeepsItsNamespace(t *testing.T) {
	s := asking(collector.ActorClient, metav1.DeletePropagationBackground, Namespace("a"), Secret("a/x"))
	s.disk.fails = map[string]error{"x": errors.New("disk full")}
	s.is(t, s.run(t.Context()), "delete a: failed BackupFailed save x: disk full")
	s.sends(t, writes)
}

func TestASecondPolicyIsAskedFor(t *testing.T) {
	s := asking(collector.ActorControllerManager, metav1.DeletePropagationForeground, Secret("a/owner", Terminating("x/y")))
	s.options.RequestedOnly = true
	s.is(t, s.run(t.Context()), "delete owner: done", "remove-finalizer owner:")
	s.sends(t, writes, "delete owner")
}
