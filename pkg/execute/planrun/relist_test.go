package planrun_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	. "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

func (f *fake) create(o object.Object) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.listed[o.UID] = true
	f.store(o.UID, &o)
}

func TestANewBlockerKeepsTheFinalizer(t *testing.T) {
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
			s := on(owner)
			s.create(test.dependent)
			s.is(t, s.run(t.Context()), "remove-finalizer owner: "+test.want)
		})
	}
}

func TestAnyNewDependentKeepsTheOrphanFinalizer(t *testing.T) {
	owner := ConfigMap("a/owner", Terminating(object.OrphanFinalizer))
	s := on(owner)
	s.create(Secret("a/new", OwnedBy(owner)))
	s.is(t, s.run(t.Context()), "remove-finalizer owner: skipped DependentExists Secret/new")
	s.sends(t, writes)
}

func TestNothingIsConcludedFromALookThatIsNotWhole(t *testing.T) {
	owner := ConfigMap("a/owner", Foreground())
	s := on(owner)
	s.always("census ", errors.New("no route to host"))
	s.is(t, s.run(t.Context()), "remove-finalizer owner: skipped DependentsNotListed no route to host")
	s.sends(t, writes)

	s = on(owner)
	s.then("census ", 1, func() {
		s.base.Gaps = []snapshot.Gap{{Group: "apps", Resource: "deployments", Reason: snapshot.Forbidden}}
	})
	s.is(t, s.run(t.Context()), "remove-finalizer owner: skipped DependentsIncomplete deployments.apps (forbidden)")
	s.sends(t, writes)
}

// An object of the same name must not lose its finalizer
// (docs/gc-semantics.md#removing-a-finalizer).
func TestASuccessorKeepsItsFinalizer(t *testing.T) {
	owner := ConfigMap("a/owner", Foreground())
	for _, when := range []string{"census ", "patch owner"} {
		s := on(owner)
		s.then(when, 1, func() {
			s.edit(uid(owner), nil)
			s.create(ConfigMap("a/owner", Foreground(), UID("successor")))
		})
		s.is(t, s.run(t.Context()), "remove-finalizer owner: skipped ObjectGone")
		if s.state("successor") == nil {
			t.Error("the successor was released")
		}
	}
}

func TestAChangeThatTheCensusShowsNeedsNoSecondRead(t *testing.T) {
	owner := ConfigMap("a/owner", Foreground())
	s := on(owner)
	s.then("census ", 1, func() { s.edit(uid(owner), func(o *object.Object) { o.Finalizers = append(o.Finalizers, "x/y") }) })
	s.is(t, s.run(t.Context()), "remove-finalizer owner: done")
	s.sends(t, []string{"examine", "patch"}, "patch owner")
}

func TestTheFinalizerIsReleasedOfABusyObjectWithOneLook(t *testing.T) {
	owner := ConfigMap("a/owner", Foreground())
	s := on(owner)
	for i := range 5 {
		s.then("patch owner", i+1, func() { s.edit(uid(owner), func(*object.Object) {}) })
	}
	s.is(t, s.run(t.Context()), "remove-finalizer owner: done")
	s.sends(t, []string{"census"}, "census ")
}

// A look is dear: all that are ready share one that begins after they were.
func TestManyFinalizersShareALook(t *testing.T) {
	var owners []object.Object
	for i := range 50 {
		owners = append(owners, ConfigMap(fmt.Sprintf("a/owner%d", i), Foreground()))
	}
	s := on(owners...)
	s.options.Common.Concurrency = 2
	running := make(chan struct{})
	s.then("census ", 1, func() { <-running })
	started := 0
	s.listen = func(kind string) {
		if kind == "started" {
			if started++; started == len(owners) {
				close(running) // all others wait for the next look, and hold no slot
			}
		}
	}
	if report := s.run(t.Context()); report.Changed != len(owners) {
		t.Errorf("%+v", report)
	}
	if n := len(s.sent("census")); n > 3 {
		t.Errorf("%d looks for %d finalizers", n, len(owners))
	}
}
