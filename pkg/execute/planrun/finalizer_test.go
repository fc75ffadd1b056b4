package planrun_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	. "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

func (f *fakeServer) create(o object.Object) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.listed[o.UID] = true
	f.store(o.UID, &o)
}

func TestRelistFindsANewBlockingDependent(t *testing.T) {
	owner := ConfigMap("a/owner", Foreground())
	for name, test := range map[string]struct {
		dependent object.Object
		want      string
	}{
		"one that blocks":      {Secret("a/new", Owned(To(owner, Blocking))), "skipped DependentBlocks Secret/new"},
		"one that does not":    {Secret("a/new", OwnedBy(owner)), "done"},
		"one of wrong aspects": {Secret("b/new", Owned(To(owner, Named("other"), Blocking))), "skipped DependentBlocks Secret/new"},
		"one that is not new":  {Secret("a/new"), "done"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScenario(owner)
			s.server.create(test.dependent)
			s.checkResults(t, s.run(t.Context()), "remove-finalizer owner: "+test.want)
		})
	}
}

func TestRelistKeepsTheOrphanFinalizerForANewDependent(t *testing.T) {
	owner := ConfigMap("a/owner", Terminating(object.OrphanFinalizer))
	s := newScenario(owner)
	s.server.create(Secret("a/new", OwnedBy(owner)))
	s.checkResults(t, s.run(t.Context()), "remove-finalizer owner: skipped DependentExists Secret/new")
	s.checkRequests(t, writes)
}

func TestIncompleteRelistKeepsTheFinalizer(t *testing.T) {
	owner := ConfigMap("a/owner", Foreground())
	s := newScenario(owner)
	s.failAll("relist ", errors.New("no route to host"))
	s.checkResults(t, s.run(t.Context()), "remove-finalizer owner: skipped DependentsNotListed no route to host")
	s.checkRequests(t, writes)

	s = newScenario(owner)
	s.onRequest("relist ", 1, func() {
		s.server.base.Gaps = []snapshot.Gap{{Group: "apps", Resource: "deployments", Reason: snapshot.Forbidden}}
	})
	s.checkResults(t, s.run(t.Context()), "remove-finalizer owner: skipped DependentsIncomplete deployments.apps (forbidden)")
	s.checkRequests(t, writes)
}

// A replacement of the same name must not lose its finalizer
// (docs/gc-semantics.md#removing-a-finalizer).
func TestReplacementObjectKeepsItsFinalizer(t *testing.T) {
	owner := ConfigMap("a/owner", Foreground())
	for _, when := range []string{"relist ", "patch owner"} {
		s := newScenario(owner)
		s.onRequest(when, 1, func() {
			s.server.edit(uid(owner), nil)
			s.server.create(ConfigMap("a/owner", Foreground(), UID("successor")))
		})
		s.checkResults(t, s.run(t.Context()), "remove-finalizer owner: skipped ObjectGone")
		if s.server.state("successor") == nil {
			t.Error("the replacement lost its finalizer")
		}
	}
}

func TestChangeFoundByTheRelistIsNotReadAgain(t *testing.T) {
	owner := ConfigMap("a/owner", Foreground())
	s := newScenario(owner)
	s.onRequest("relist ", 1, func() {
		s.server.edit(uid(owner), func(o *object.Object) { o.Finalizers = append(o.Finalizers, "x/y") })
	})
	s.checkResults(t, s.run(t.Context()), "remove-finalizer owner: done")
	s.checkRequests(t, []string{"verify", "patch"}, "patch owner")
}

func TestFinalizerOfABusyObjectNeedsTwoRelists(t *testing.T) {
	owner := ConfigMap("a/owner", Foreground())
	s := newScenario(owner)
	for i := range 5 {
		s.onRequest("patch owner", i+1, func() { s.server.edit(uid(owner), func(*object.Object) {}) })
	}
	s.checkResults(t, s.run(t.Context()), "remove-finalizer owner: done")
	s.checkRequests(t, []string{"relist"}, "relist ", "relist ")
}

// A dependent that is created while the server takes its time would be deleted later instead of orphaned.
func TestRelistIsRepeatedAfterAConflict(t *testing.T) {
	owner := ConfigMap("a/owner", Terminating(object.OrphanFinalizer))
	s := newScenario(owner)
	s.onRequest("patch owner", 1, func() {
		s.server.create(Secret("a/new", OwnedBy(owner)))
		s.server.edit(uid(owner), func(*object.Object) {})
	})
	s.checkResults(t, s.run(t.Context()), "remove-finalizer owner: skipped DependentExists Secret/new")
}

// A relist is expensive, so steps share one that begins after they were ready.
func TestFinalizersShareRelists(t *testing.T) {
	var owners []object.Object
	for i := range 50 {
		owners = append(owners, ConfigMap(fmt.Sprintf("a/owner%d", i), Foreground()))
	}
	s := newScenario(owners...)
	s.options.Common.Concurrency = 2
	running := make(chan struct{})
	s.onRequest("relist ", 1, func() { <-running })
	started := 0
	s.onEvent = func(kind string) {
		if kind == "started" {
			if started++; started == len(owners) {
				close(running) // all others wait for the next relist, without a slot
			}
		}
	}
	if report := s.run(t.Context()); tallyOf(s.plan, report).changed != len(owners) {
		t.Errorf("%+v", report)
	}
	if n := len(s.server.sent("relist")); n > 3 {
		t.Errorf("%d relists for %d finalizers", n, len(owners))
	}
}
