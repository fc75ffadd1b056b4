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

// stopping is a scene with a Pod that takes its time, and what follows from its
// end.
func stopping() (*scene, object.Object) {
	pod := Pod("a/pod", OwnedBy(gone), Running())
	s := on(pod, Secret("a/child", OwnedBy(pod)))
	s.prompt = false
	return s, pod
}

func TestAPodIsWaitedFor(t *testing.T) {
	s, pod := stopping()
	s.await = func(context.Context, object.Identity) error {
		if s.state(uid(pod)) == nil || s.state(uid(Secret("a/child"))) == nil {
			t.Error("something went too early")
		}
		s.edit(uid(pod), nil)
		return nil
	}
	s.is(t, s.run(t.Context()), "delete pod: done", "delete child: done")
	if !slices.ContainsFunc(s.events, func(e event.Event) bool { return e.Event == "waiting" && e.Step == "1" }) {
		t.Errorf("nobody was told: %v", s.events)
	}
}

func TestAPodThatDoesNotStopInTimeKeepsWhatFollows(t *testing.T) {
	s, _ := stopping()
	ctx, cancel := context.WithCancel(t.Context())
	s.await = func(ctx context.Context, _ object.Identity) error {
		cancel()
		<-ctx.Done()
		return ctx.Err()
	}
	report := s.run(ctx)
	s.is(t, report, "delete pod: done DeletionIncomplete WaitsForKubelet", "delete child: skipped Interrupted")
	if !report.Interrupted || report.Deleted != 1 {
		t.Errorf("%+v", report)
	}
}

func TestARunThatDidNotWaitToTheEndWasInterrupted(t *testing.T) {
	s := on(Pod("a/pod", OwnedBy(gone), Running()))
	s.prompt = false
	ctx, cancel := context.WithCancel(t.Context())
	s.await = func(ctx context.Context, _ object.Identity) error {
		cancel()
		return ctx.Err()
	}
	report := s.run(ctx)
	s.is(t, report, "delete pod: done DeletionIncomplete")
	if !report.Interrupted {
		t.Error("not interrupted")
	}
}

func TestAPodThatCannotBeWatchedKeepsWhatFollows(t *testing.T) {
	s, _ := stopping()
	s.await = func(context.Context, object.Identity) error { return errors.New("too many requests") }
	s.is(t, s.run(t.Context()),
		"delete pod: done DeletionIncomplete WaitsForKubelet too many requests",
		"delete child: skipped OwnerStillExists Pod/pod")
}

func TestPodsThatStopTakeNobodysPlace(t *testing.T) {
	var objects []object.Object
	for i := range 20 {
		objects = append(objects, Pod(fmt.Sprintf("a/pod%02d", i), OwnedBy(gone), Running()))
	}
	s := on(append(objects, Secret("a/secret", OwnedBy(gone)))...)
	s.prompt, s.options.Common.Concurrency = false, 1
	all := make(chan struct{})
	s.then("delete secret", 1, func() { close(all) })
	s.await = func(_ context.Context, at object.Identity) error {
		<-all
		s.edit(at.UID, nil)
		return nil
	}
	if report := s.run(t.Context()); report.Deleted != 21 {
		t.Errorf("%+v", report)
	}
}

// A Pod that others hold does not go with its grace period, as was foretold.
func TestAPodThatIsHeldIsNotWaitedFor(t *testing.T) {
	pod := Pod("a/pod", OwnedBy(gone), Running(), Held("x/y"))
	s := on(pod)
	s.is(t, s.run(t.Context()), "delete pod: done")
	s.sends(t, []string{"await"})
}

func TestANamespaceIsWaitedFor(t *testing.T) {
	ns := Namespace("a", Owned(To(Node("gone"))))
	s := on(ns, ConfigMap("a/inside"), Node("child", Owned(To(ns))))
	s.plan, s.graph = planOf(New(Serving(Containers()...), seeing(s.base), Absent("v1", "Node", "gone")))
	s.prompt = false
	s.await = func(context.Context, object.Identity) error {
		for s.others() {
		}
		return nil
	}
	s.is(t, s.run(t.Context()), "delete a: done", "delete child: done")
	s.sends(t, []string{"delete", "await"}, "delete a", "await a", "delete child")
}

func TestANamespaceThatSomethingHoldsIsNotWaitedFor(t *testing.T) {
	s := on(Namespace("a", Owned(To(Node("gone")))), ConfigMap("a/inside", Held("x/y")))
	s.plan, s.graph = planOf(New(Serving(Containers()...), seeing(s.base), Absent("v1", "Node", "gone")))
	s.is(t, s.run(t.Context()), "delete a: done")
	s.sends(t, []string{"await"})
}

func TestADefinitionIsNotWaitedForBeforeItsInstancesAreReleased(t *testing.T) {
	s := on(
		Definition("widgets.example.com", Owned(To(Node("gone"))), Held(object.OrphanFinalizer)),
		Object("example.com/v1", "Widget", "a/widget", Held(object.OrphanFinalizer)),
	)
	s.plan, s.graph = planOf(New(Serving(Containers()...), seeing(s.base), Absent("v1", "Node", "gone")))
	s.is(t, s.run(t.Context()), "delete widgets.example.com: done", "remove-finalizer widgets.example.com: done", "remove-finalizer widget: done")
	s.sends(t, []string{"await"})
}

// What the end of a definition takes along is not known here, so it is asked for.
func TestDependentsOfWhatWentWithItsDefinitionGo(t *testing.T) {
	crd := Definition("widgets.example.com", Owned(To(Node("gone"))))
	widget := Object("example.com/v1", "Widget", "a/widget", OwnedBy(Secret("a/owner")))
	held := Object("example.com/v1", "Widget", "a/held", Held("x/y"))
	released := Object("example.com/v1", "Widget", "a/released", Foreground())
	child := Secret("a/child", OwnedBy(widget))
	for _, frozen := range []bool{false, true} {
		s := on(crd, Secret("a/owner"), widget, held, released, child, Secret("a/blocks", Owned(To(released, Blocking))))
		s.plan, s.graph = planOf(New(Serving(Containers()...), seeing(s.base), Absent("v1", "Node", "gone")))
		s.options.RequireUnchanged = frozen
		report := s.run(t.Context())
		if report.Failed+report.Skipped > 0 || s.state(uid(child)) != nil || s.state(uid(released)) != nil {
			t.Errorf("%+v", report.Results)
		}
		s.sends(t, []string{"await"}) // another's finalizer holds an instance
	}
}

// seeing shows what another snapshot shows, in objects of its own.
func seeing(other *snapshot.Snapshot) Part {
	return func(s *snapshot.Snapshot) {
		for _, o := range other.Objects {
			Listing(*o)(s)
		}
	}
}
