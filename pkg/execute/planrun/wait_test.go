package planrun_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	. "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// runningPodScenario returns a scenario with a Pod that does not stop at once and has a
// dependent.
func runningPodScenario() (*scenario, object.Object) {
	pod := Pod("a/pod", OwnedBy(gone), Running())
	s := newScenario(pod, Secret("a/child", OwnedBy(pod)))
	s.server.prompt = false
	return s, pod
}

func TestWaitsForAPod(t *testing.T) {
	s, pod := runningPodScenario()
	s.server.wait = func(context.Context, object.Identity) error {
		if s.server.state(uid(pod)) == nil || s.server.state(uid(Secret("a/child"))) == nil {
			t.Error("something was deleted too early")
		}
		s.server.edit(uid(pod), nil)
		return nil
	}
	s.checkResults(t, s.run(t.Context()), "delete pod: done", "delete child: done")
	if !slices.ContainsFunc(s.events, func(e event.Event) bool { return e.Event == "waiting" && e.Step == "1" }) {
		t.Errorf("no waiting event: %v", s.events)
	}
}

func TestSkipsDependentsOfAPodThatDoesNotStopInTime(t *testing.T) {
	s, _ := runningPodScenario()
	ctx, cancel := context.WithCancel(t.Context())
	s.server.wait = func(ctx context.Context, _ object.Identity) error {
		cancel()
		<-ctx.Done()
		return ctx.Err()
	}
	report := s.run(ctx)
	s.checkResults(t, report, "delete pod: done DeletionIncomplete WaitsForKubelet", "delete child: skipped Interrupted")
	if !report.Interrupted || tallyOf(s.plan, report).deleted != 1 {
		t.Errorf("%+v", report)
	}
}

func TestReportsAnInterruptedWait(t *testing.T) {
	s := newScenario(Pod("a/pod", OwnedBy(gone), Running()))
	s.server.prompt = false
	ctx, cancel := context.WithCancel(t.Context())
	s.server.wait = func(ctx context.Context, _ object.Identity) error {
		cancel()
		return ctx.Err()
	}
	report := s.run(ctx)
	s.checkResults(t, report, "delete pod: done DeletionIncomplete")
	if !report.Interrupted {
		t.Error("not interrupted")
	}
}

func TestKeepsDependentsOfAPodThatCannotBeWatched(t *testing.T) {
	s, _ := runningPodScenario()
	s.server.wait = func(context.Context, object.Identity) error { return errors.New("too many requests") }
	s.checkResults(t, s.run(t.Context()),
		"delete pod: done DeletionIncomplete WaitsForKubelet too many requests",
		"delete child: skipped OwnerStillExists Pod/pod")
}

func TestStoppingPodsDoNotCountForConcurrency(t *testing.T) {
	var objects []object.Object
	for i := range 20 {
		objects = append(objects, Pod(fmt.Sprintf("a/pod%02d", i), OwnedBy(gone), Running()))
	}
	s := newScenario(append(objects, Secret("a/secret", OwnedBy(gone)))...)
	s.server.prompt, s.options.Common.Concurrency = false, 1
	all := make(chan struct{})
	s.onRequest("delete secret", 1, func() { close(all) })
	s.server.wait = func(_ context.Context, at object.Identity) error {
		<-all
		s.server.edit(at.UID, nil)
		return nil
	}
	if report := s.run(t.Context()); tallyOf(s.plan, report).deleted != 21 {
		t.Errorf("%+v", report)
	}
}

func TestDoesNotWaitForAPodWithAFinalizer(t *testing.T) {
	pod := Pod("a/pod", OwnedBy(gone), Running(), WithFinalizers("x/y"))
	s := newScenario(pod)
	s.checkResults(t, s.run(t.Context()), "delete pod: done")
	s.checkRequests(t, []string{"wait"})
}

func TestWaitsForANamespace(t *testing.T) {
	ns := Namespace("a", Owned(To(Node("gone"))))
	s := newScenario(ns, ConfigMap("a/inside"), Node("child", Owned(To(ns))))
	s.plan, s.graph = newCollectPlan(New(Serving(TypesWithContents()...), showing(s.server.base), Absent("v1", "Node", "gone")))
	s.server.prompt = false
	s.server.wait = func(context.Context, object.Identity) error {
		for s.server.actAsController() {
		}
		return nil
	}
	s.checkResults(t, s.run(t.Context()), "delete a: done", "delete child: done")
	s.checkRequests(t, []string{"delete", "wait"}, "delete a", "wait a", "delete child")
}

func TestDoesNotWaitForABlockedNamespace(t *testing.T) {
	s := newScenario(Namespace("a", Owned(To(Node("gone")))), ConfigMap("a/inside", WithFinalizers("x/y")))
	s.plan, s.graph = newCollectPlan(New(Serving(TypesWithContents()...), showing(s.server.base), Absent("v1", "Node", "gone")))
	s.checkResults(t, s.run(t.Context()), "delete a: done")
	s.checkRequests(t, []string{"wait"})
}

func TestDoesNotWaitForADefinitionBeforeItsInstancesLoseTheirFinalizers(t *testing.T) {
	s := newScenario(
		CRD("widgets.example.com", Owned(To(Node("gone"))), WithFinalizers(object.OrphanFinalizer)),
		Object("example.com/v1", "Widget", "a/widget", WithFinalizers(object.OrphanFinalizer)),
	)
	s.plan, s.graph = newCollectPlan(New(Serving(TypesWithContents()...), showing(s.server.base), Absent("v1", "Node", "gone")))
	s.checkResults(t, s.run(t.Context()), "delete widgets.example.com: done", "remove-finalizer widgets.example.com: done", "remove-finalizer widget: done")
	s.checkRequests(t, []string{"wait"})
}

func TestDeletesDependentsOfInstancesOfADeletedDefinition(t *testing.T) {
	crd := CRD("widgets.example.com", Owned(To(Node("gone"))))
	widget := Object("example.com/v1", "Widget", "a/widget", OwnedBy(Secret("a/owner")))
	held := Object("example.com/v1", "Widget", "a/held", WithFinalizers("x/y"))
	released := Object("example.com/v1", "Widget", "a/released", Foreground())
	child := Secret("a/child", OwnedBy(widget))
	s := newScenario(crd, Secret("a/owner"), widget, held, released, child, Secret("a/blocks", Owned(To(released, Blocking))))
	s.plan, s.graph = newCollectPlan(New(Serving(TypesWithContents()...), showing(s.server.base), Absent("v1", "Node", "gone")))
	report := s.run(t.Context())
	if n := tallyOf(s.plan, report); n.failed+n.skipped > 0 || s.server.state(uid(child)) != nil || s.server.state(uid(released)) != nil {
		t.Errorf("%+v", report.Results)
	}
	s.checkRequests(t, []string{"wait"}) // a finalizer blocks an instance
}

// showing lists copies of the objects in another snapshot.
func showing(other *snapshot.Snapshot) Part {
	return func(s *snapshot.Snapshot) {
		for _, o := range other.Objects {
			Listing(*o)(s)
		}
	}
}
