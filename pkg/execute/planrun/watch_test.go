package planrun_test

import (
	"context"
	"errors"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute/planrun"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	. "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// feed is a Watcher that sees what a test says.
type feed chan sighting

type sighting struct {
	uid types.UID
	now *object.Object // nil: gone
}

func (f feed) Follow(ctx context.Context, _ []object.Identity, tell func(types.UID, *object.Object)) {
	for {
		select {
		case <-ctx.Done():
			return
		case s := <-f:
			tell(s.uid, s.now)
		}
	}
}

// followed is a scene in which somebody deletes the first of the objects, and the
// cluster's own collector is to do the rest.
func followed(policy metav1.DeletionPropagation, objects ...object.Object) (*scene, feed) {
	s, f := asking(collector.ActorControllerManager, policy, objects...), make(feed)
	s.options.RequestedOnly, s.options.Watcher = true, f
	return s, f
}

func TestWhatTheClusterDoesIsSeenToItsEnd(t *testing.T) {
	web, pod := ConfigMap("a/web"), Pod("a/pod", OwnedBy(ConfigMap("a/web")))
	s, f := followed(metav1.DeletePropagationBackground, web, pod)
	s.listen = func(kind string) {
		if kind == "waiting" {
			stopping := pod
			now := metav1.Now().Time
			stopping.Deleted = &now
			go func() { // first it is terminating, which is not its end
				f <- sighting{uid(pod), &stopping}
				f <- sighting{uid(pod), nil}
			}()
		}
	}
	r := s.run(t.Context())
	s.is(t, r, "delete web: done", "delete pod: done")
	s.sends(t, writes, "delete web")
}

func TestNothingIsWaitedForThatDoesNotFollow(t *testing.T) {
	web, pod := ConfigMap("a/web"), Pod("a/pod", OwnedBy(ConfigMap("a/web")))
	s, _ := followed(metav1.DeletePropagationBackground, web, pod)
	s.always("delete web", errors.New("not today"))
	r := s.run(t.Context())
	s.is(t, r, "delete web: failed WriteFailed not today", "delete pod: skipped CausingStepNotDone")
}

func TestARunThatEndsBeforeTheClusterDidItsPartSaysSo(t *testing.T) {
	web, pod := ConfigMap("a/web"), Pod("a/pod", OwnedBy(ConfigMap("a/web")))
	s, _ := followed(metav1.DeletePropagationBackground, web, pod)
	ctx, cancel := context.WithCancel(t.Context())
	s.listen = func(kind string) {
		if kind == "waiting" {
			cancel()
		}
	}
	r := s.run(ctx)
	s.is(t, r, "delete web: done", "delete pod: skipped NotCollectedInTime")
	if !r.Interrupted {
		t.Error("it is called complete")
	}
}

func TestWhatIsInANamespaceIsGoneWithIt(t *testing.T) {
	space, outside := Namespace("a"), ConfigMap("b/outside", OwnedBy(Namespace("a")))
	inside := ConfigMap("a/inside", OwnedBy(space))
	s, f := followed(metav1.DeletePropagationBackground, space, inside, outside)
	s.listen = func(kind string) {
		if kind == "waiting" { // for what follows the namespace
			go func() { f <- sighting{uid(outside), nil} }()
		}
	}
	s.then("delete a", 1, func() { f <- sighting{uid(space), nil} }) // a watch may be faster than the answer
	r := s.run(t.Context())
	s.is(t, r, "delete a: done", "delete outside: done")
}

func TestWhatWentOfItselfIsFollowedAllTheSame(t *testing.T) {
	web, pod := ConfigMap("a/web"), Pod("a/pod", OwnedBy(ConfigMap("a/web")))
	s, f := followed(metav1.DeletePropagationBackground, web, pod)
	s.edit(uid(web), nil)
	s.listen = func(kind string) {
		if kind == "waiting" {
			go func() { f <- sighting{uid(pod), nil} }()
		}
	}
	s.is(t, s.run(t.Context()), "delete web: skipped AlreadyGone", "delete pod: done")
}

var _ planrun.Watcher = feed(nil)
