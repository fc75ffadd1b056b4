package planrun_test

import (
	"context"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	. "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// paced makes a run wait for the turn of each write, and records that among the requests.
func (s *scenario) paced(wait func(context.Context) error) {
	s.options.Common.Concurrency = 1
	s.options.Common.Pace = func(ctx context.Context) error {
		s.server.mu.Lock()
		s.server.calls = append(s.server.calls, call{verb: "turn"})
		s.server.mu.Unlock()
		return wait(ctx)
	}
}

func atOnce(context.Context) error { return nil }

func TestEveryWriteWaitsForItsTurn(t *testing.T) {
	owner := ConfigMap("a/owner", Foreground())
	s := newScenario(owner, Secret("a/child", Owned(To(owner, Blocking))))
	s.paced(atOnce)
	s.checkResults(t, s.run(t.Context()), "delete child: done", "remove-finalizer owner: done")
	s.checkRequests(t, []string{"turn", "relist", "delete", "patch"}, "turn ", "delete child", "relist ", "turn ", "patch owner")
}

func TestARepeatedWriteWaitsForAnotherTurn(t *testing.T) {
	child := Secret("a/child", OwnedBy(gone))
	s := newScenario(child)
	s.paced(atOnce)
	s.onRequest("delete child", 1, func() { s.server.edit(uid(child), func(*object.Object) {}) })
	s.checkResults(t, s.run(t.Context()), "delete child: done")
	s.checkRequests(t, []string{"turn", "delete"}, "turn ", "delete child", "turn ", "delete child")
}

func TestAStepThatIsNotNeededTakesNoTurn(t *testing.T) {
	s := newScenario(ConfigMap("a/parent", OwnedBy(gone)), Secret("a/child", OwnedBy(ConfigMap("a/parent"))))
	s.failAll("delete parent", forbidden)
	s.paced(atOnce)
	s.checkResults(t, s.run(t.Context()), "delete parent: failed", "delete child: skipped")
	s.checkRequests(t, []string{"turn", "delete"}, "turn ", "delete parent")
}

func TestAWaitingOwnerIsReadAgainAfterTheTurn(t *testing.T) {
	owner := ConfigMap("a/owner", Foreground())
	child := Secret("a/child", Owned(To(owner, Blocking)))
	s := newScenario(owner, child)
	turns := 0
	s.paced(func(context.Context) error {
		if turns++; turns == 1 { // somebody takes the deletion of the owner back to the background, and holds it
			s.server.edit(uid(owner), func(o *object.Object) { o.Finalizers = []string{"x/y"} })
		}
		return nil
	})
	report := s.run(t.Context())
	if s.server.state(uid(child)) == nil {
		t.Errorf("the child was deleted, though its owner became solid: %+v", report.Results)
	}
	s.checkRequests(t, []string{"delete"})
}

func TestInterruptEndsTheWaitForATurn(t *testing.T) {
	s := newScenario(ConfigMap("a/one", OwnedBy(gone)), ConfigMap("a/two", OwnedBy(gone)))
	ctx, cancel := context.WithCancel(t.Context())
	s.paced(func(ctx context.Context) error {
		cancel()
		<-ctx.Done()
		return ctx.Err()
	})
	report := s.run(ctx)
	s.checkResults(t, report, "delete one: skipped Interrupted", "delete two: skipped Interrupted")
	if !report.Interrupted {
		t.Error("not interrupted")
	}
	s.checkRequests(t, writes)
}

func TestDryRunWaitsForItsTurn(t *testing.T) {
	s := deletionScenario(simulate.Own, metav1.DeletePropagationBackground, Secret("a/owner"))
	s.options.Common.DryRun = true
	s.paced(atOnce)
	s.checkResults(t, s.run(t.Context()), "delete owner: done")
	s.checkRequests(t, []string{"turn", "delete"}, "turn ", "delete owner")
}
