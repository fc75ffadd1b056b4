package planrun_test

import (
	"context"
	"errors"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/execute/planrun"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	. "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// fakeWatcher is a Watcher of the events that a test sends.
type fakeWatcher chan watchEvent

type watchEvent struct {
	uid types.UID
	now *object.Object // nil: gone
}

func (f fakeWatcher) Watch(ctx context.Context, _ []object.Identity, observe func(types.UID, *object.Object)) {
	for {
		select {
		case <-ctx.Done():
			return
		case s := <-f:
			observe(s.uid, s.now)
		}
	}
}

// watchedDeletion returns a scenario in which somebody deletes the first object, and the
// cluster's own collector does the rest.
func watchedDeletion(policy metav1.DeletionPropagation, objects ...object.Object) (*scenario, fakeWatcher) {
	s, f := deletionScenario(simulate.Cluster, policy, objects...), make(fakeWatcher)
	s.options.RequestedOnly, s.options.Watcher = true, f
	return s, f
}

func TestWatchesTheClusterCompleteADeletion(t *testing.T) {
	web, pod := ConfigMap("a/web"), Pod("a/pod", OwnedBy(ConfigMap("a/web")))
	s, f := watchedDeletion(metav1.DeletePropagationBackground, web, pod)
	s.onEvent = func(kind string) {
		if kind == "waiting" {
			stopping := pod
			now := metav1.Now().Time
			stopping.Deleted = &now
			go func() { // terminating is not gone
				f <- watchEvent{uid(pod), &stopping}
				f <- watchEvent{uid(pod), nil}
			}()
		}
	}
	r := s.run(t.Context())
	s.checkResults(t, r, "delete web: done", "delete pod: done")
	s.checkRequests(t, writes, "delete web")
}

func TestDoesNotWatchForTheConsequencesOfAFailedStep(t *testing.T) {
	web, pod := ConfigMap("a/web"), Pod("a/pod", OwnedBy(ConfigMap("a/web")))
	s, _ := watchedDeletion(metav1.DeletePropagationBackground, web, pod)
	s.failAll("delete web", errors.New("not today"))
	r := s.run(t.Context())
	s.checkResults(t, r, "delete web: failed WriteFailed not today", "delete pod: skipped CausingStepNotDone")
}

func TestReportsWhatTheClusterDidNotDoInTime(t *testing.T) {
	web, pod := ConfigMap("a/web"), Pod("a/pod", OwnedBy(ConfigMap("a/web")))
	s, _ := watchedDeletion(metav1.DeletePropagationBackground, web, pod)
	ctx, cancel := context.WithCancel(t.Context())
	s.onEvent = func(kind string) {
		if kind == "waiting" {
			cancel()
		}
	}
	r := s.run(ctx)
	s.checkResults(t, r, "delete web: done", "delete pod: skipped NotCollectedInTime")
	if !r.Interrupted {
		t.Error("not interrupted")
	}
}

func TestContentsAreGoneWithTheirNamespace(t *testing.T) {
	space, outside := Namespace("a"), ConfigMap("b/outside", OwnedBy(Namespace("a")))
	inside := ConfigMap("a/inside", OwnedBy(space))
	s, f := watchedDeletion(metav1.DeletePropagationBackground, space, inside, outside)
	s.onEvent = func(kind string) {
		if kind == "waiting" { // for the dependent of the namespace
			go func() { f <- watchEvent{uid(outside), nil} }()
		}
	}
	s.onRequest("delete a", 1, func() { f <- watchEvent{uid(space), nil} }) // a watch may be faster than the response
	r := s.run(t.Context())
	s.checkResults(t, r, "delete a: done", "delete outside: done")
}

func TestWatchesDependentsOfAnObjectThatOthersDeleted(t *testing.T) {
	web, pod := ConfigMap("a/web"), Pod("a/pod", OwnedBy(ConfigMap("a/web")))
	s, f := watchedDeletion(metav1.DeletePropagationBackground, web, pod)
	s.server.edit(uid(web), nil)
	s.onEvent = func(kind string) {
		if kind == "waiting" {
			go func() { f <- watchEvent{uid(pod), nil} }()
		}
	}
	s.checkResults(t, s.run(t.Context()), "delete web: skipped AlreadyGone", "delete pod: done")
}

var _ planrun.Watcher = fakeWatcher(nil)
