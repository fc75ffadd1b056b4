package planrun_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/execute/planrun"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	. "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// The safety contract (design, section 4), a line at a time.

var forbidden = classified{snapshot.Forbidden}

func TestEveryWriteIsBoundToTheStateThatWasDecidedOn(t *testing.T) {
	stays := Secret("a/stays")
	s := on(
		stays, ConfigMap("a/unlinked", OwnedBy(gone, stays)),
		ConfigMap("a/parent", OwnedBy(gone)), Secret("a/child", OwnedBy(ConfigMap("a/parent"))),
		ConfigMap("a/going", Foreground()), Secret("a/blocker", Owned(To(ConfigMap("a/going"), Blocking))),
	)
	bound := true
	s.before = func(c call) error {
		if slices.Contains(writes, c.verb) {
			there := s.state(c.at.UID)
			bound = bound && there != nil && c.rv != "" && c.rv == there.ResourceVersion
		}
		return nil
	}
	report := s.run(t.Context())
	if !bound || report.Skipped+report.Failed > 0 || report.Deleted != 3 || report.Changed != 2 {
		t.Errorf("bound %v, %+v", bound, report)
	}
}

func TestADependentOfAWaitingOwnerThatBecameSolidIsKept(t *testing.T) {
	owner := ConfigMap("a/owner", Terminating(object.ForegroundFinalizer, "x/y"))
	s := on(owner, Secret("a/child", OwnedBy(owner)))
	s.edit(uid(owner), func(o *object.Object) { o.Finalizers = []string{"x/y"} })
	s.is(t, s.run(t.Context()),
		"delete child: skipped OwnerStillExists ConfigMap/owner",
		"remove-finalizer owner: skipped AlreadyDone")
	s.sends(t, writes)
}

func TestAReferenceToAWaitingOwnerThatBecameSolidIsKept(t *testing.T) {
	owner, stays := ConfigMap("a/owner", Terminating(object.ForegroundFinalizer, "x/y")), ConfigMap("a/stays")
	s := on(owner, stays, Secret("a/child", OwnedBy(owner, stays)))
	s.edit(uid(owner), func(o *object.Object) { o.Finalizers = []string{"x/y"} })
	report := s.run(t.Context())
	if r := report.Results[0]; r.Status != "skipped" || len(s.state(uid(Secret("a/child"))).Owners) != 2 {
		t.Errorf("%+v", r)
	}
}

func TestAWaitingOwnerIsReadAgainBeforeEveryAttempt(t *testing.T) {
	owner := ConfigMap("a/owner", Terminating(object.ForegroundFinalizer, "x/y"))
	child := Secret("a/child", OwnedBy(owner))
	s := on(owner, child)
	s.then("delete child", 1, func() {
		s.edit(uid(child), func(*object.Object) {})
		s.edit(uid(owner), func(o *object.Object) { o.Finalizers = []string{"x/y"} })
	})
	report := s.run(t.Context())
	if r := report.Results[0]; describeReason(r.Reason) != "ObjectChanged OwnerStillExists ConfigMap/owner" || s.state(uid(child)) == nil {
		t.Errorf("%+v", report.Results)
	}
}

// A waiting owner may get another owner itself, and that decides nothing: but it
// has to be understood.
func TestAWaitingOwnerWithOtherReferencesIsUnderstood(t *testing.T) {
	owner := ConfigMap("a/owner", Foreground())
	s := on(owner, ConfigMap("a/x"), Secret("a/child", Owned(To(owner, Blocking))))
	s.edit(uid(owner), func(o *object.Object) { o.Owners = []object.Reference{To(ConfigMap("a/x"))} })
	s.is(t, s.run(t.Context()), "delete child: done", "remove-finalizer owner: done")
	s.sends(t, []string{"read", "examine", "delete", "patch"}, "read owner", "examine owner", "delete child", "patch owner")
}

func TestAWaitingOwnerThatCannotBeReadKeepsItsDependents(t *testing.T) {
	owner := ConfigMap("a/owner", Foreground())
	s := on(owner, Secret("a/child", Owned(To(owner, Blocking))))
	s.always("read owner", forbidden)
	s.is(t, s.run(t.Context()),
		"delete child: failed DependencyReadFailed ConfigMap/owner forbidden refused: forbidden",
		"remove-finalizer owner: skipped DependentBlocks Secret/child")
	s.sends(t, writes)
}

func TestAnOwnerProvenAbsentIsNotAskedAgain(t *testing.T) {
	s := on(ConfigMap("a/parent", OwnedBy(gone)), Secret("a/child", OwnedBy(ConfigMap("a/parent"))))
	s.is(t, s.run(t.Context()), "delete parent: done", "delete child: done")
	s.sends(t, []string{"read", "examine", "census", "delete"}, "delete parent", "delete child")
}

func TestAnUnrelatedChangeDoesNotKeepAnObject(t *testing.T) {
	child := Secret("a/child", OwnedBy(gone))
	s := on(child)
	s.then("delete child", 1, func() { s.edit(uid(child), func(*object.Object) {}) })
	s.is(t, s.run(t.Context()), "delete child: done")
	s.sends(t, []string{"keep", "delete", "examine"}, "keep child", "delete child", "examine child", "keep child", "delete child")
}

func TestABusyObjectIsNotStarved(t *testing.T) {
	child := Secret("a/child", OwnedBy(gone))
	s := on(child)
	for i := range 19 {
		s.then("delete child", i+1, func() { s.edit(uid(child), func(*object.Object) {}) })
	}
	s.is(t, s.run(t.Context()), "delete child: done")
}

func TestAnObjectThatNeverRestsFailsInTheEnd(t *testing.T) {
	child, stays := Secret("a/child", OwnedBy(gone)), Secret("a/stays")
	other := Secret("a/other", OwnedBy(gone, stays))
	s := on(child, stays, other)
	s.before = func(c call) error {
		s.edit(c.at.UID, func(*object.Object) {})
		return nil
	}
	s.is(t, s.run(t.Context()),
		"unlink other: failed KeepsChanging 20",
		"delete child: failed KeepsChanging 20")
	if n := len(s.sent("patch")); n != 20 {
		t.Errorf("patched %d times", n)
	}
}

func TestAnObjectWhoseOwnersChangedIsDecidedAgain(t *testing.T) {
	stays, child := ConfigMap("a/stays"), Secret("a/child", OwnedBy(gone))
	for name, test := range map[string]struct {
		change func(*object.Object)
		want   string
	}{
		"adopted":            {func(o *object.Object) { o.Owners = []object.Reference{To(stays)} }, "skipped ObjectChanged OwnerStillExists ConfigMap/stays"},
		"one owner more":     {func(o *object.Object) { o.Owners = append(o.Owners, To(stays)) }, "skipped ObjectChanged OwnerStillExists ConfigMap/stays"},
		"orphaned":           {func(o *object.Object) { o.Owners = nil }, "skipped ObjectChanged NoOwnerReferences"},
		"an owner unknown":   {func(o *object.Object) { o.Owners = append(o.Owners, To(Pod("a/x"), As("v9", "What"))) }, "skipped ObjectChanged OwnerNotResolved What/x"},
		"deleted by others":  {func(o *object.Object) { o.Deleted, o.Finalizers = &now, []string{"x/y"} }, "skipped ObjectChanged AlreadyTerminating"},
		"held by a new hand": {func(o *object.Object) { o.Finalizers = []string{"x/y"} }, "done"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, when := range []string{"keep child", "delete child"} {
				s := on(stays, child)
				s.then(when, 1, func() { s.edit(uid(child), test.change) })
				s.is(t, s.run(t.Context()), "delete child: "+test.want)
			}
		})
	}
}

// The lost answer of a patch that was made: a second one finds nothing to do.
func TestAPatchThatWasMadeAlreadyIsNotMadeTwice(t *testing.T) {
	stays := ConfigMap("a/stays")
	child := Secret("a/child", OwnedBy(gone, stays))
	s := on(stays, child)
	s.then("patch child", 1, func() { s.edit(uid(child), func(o *object.Object) { o.Owners = o.Owners[1:] }) })
	s.is(t, s.run(t.Context()), "unlink child: skipped ObjectChanged AlreadyDone")
}

// Of two references with one UID only the one that is meant goes, wherever it
// stands by then.
func TestOnlyTheReferenceThatIsMeantGoes(t *testing.T) {
	stays := ConfigMap("a/stays")
	child := Secret("a/child", Owned(To(stays, Named("other")), To(stays)))
	s := on(stays, child)
	s.then("patch child", 1, func() {
		s.edit(uid(child), func(o *object.Object) { slices.Reverse(o.Owners) })
	})
	s.is(t, s.run(t.Context()), "unlink child: done")
	if left := s.state(uid(child)).Owners; len(left) != 1 || left[0].Name != "stays" {
		t.Errorf("left: %v", left)
	}
}

func TestWhatCannotBeReadAgainAfterAConflictIsLeft(t *testing.T) {
	child := Secret("a/child", OwnedBy(gone))
	s := on(child)
	s.then("delete child", 1, func() { s.edit(uid(child), func(*object.Object) {}) })
	s.always("examine child", forbidden)
	s.is(t, s.run(t.Context()), "delete child: failed RereadFailed forbidden refused: forbidden true")
}

func TestWhatOthersDidIsNotDoneAgain(t *testing.T) {
	child, stays := Secret("a/child", OwnedBy(gone)), ConfigMap("a/stays")
	other := Secret("a/other", OwnedBy(gone, stays))
	grandchild := Pod("a/grandchild", OwnedBy(child))
	s := on(child, stays, other, grandchild)
	s.then("delete child", 1, func() { s.edit(uid(child), nil) })
	s.then("patch other", 1, func() { s.edit(uid(other), nil) })
	s.is(t, s.run(t.Context()), "unlink other: skipped ObjectGone", "delete child: skipped AlreadyGone", "delete grandchild: done")
}

func TestWhatIsGoneWhenItIsSavedIsNotDeleted(t *testing.T) {
	child := Secret("a/child", OwnedBy(gone))
	s := on(child, Pod("a/grandchild", OwnedBy(child)))
	s.edit(uid(child), nil)
	s.is(t, s.run(t.Context()), "delete child: skipped AlreadyGone", "delete grandchild: done")
	s.sends(t, []string{"delete"}, "delete grandchild")
}

func TestNothingIsDeletedThatWasNotSaved(t *testing.T) {
	child := Secret("a/child", OwnedBy(gone))
	s := on(child, Pod("a/grandchild", OwnedBy(child)), Secret("a/other", OwnedBy(gone)))
	s.disk.fails = map[string]error{"child": errors.New("disk full")}
	s.is(t, s.run(t.Context()),
		"delete child: failed BackupFailed save child: disk full", "delete other: done",
		"delete grandchild: skipped OwnerStillExists Secret/child")
	s.sends(t, writes, "delete other")
}

func TestNothingIsDeletedWithoutABackup(t *testing.T) {
	stays := ConfigMap("a/stays")
	s := on(stays, Secret("a/child", OwnedBy(gone)), Secret("a/other", OwnedBy(gone, stays)))
	s.disk.err = errors.New("read-only file system")
	s.is(t, s.run(t.Context()), "unlink other: done", "delete child: failed BackupFailed read-only file system")
	s.sends(t, writes, "patch other")
}

func TestEverythingIsSavedBeforeAnythingIsDeleted(t *testing.T) {
	s := on(Secret("a/one", OwnedBy(gone)), Secret("a/two", OwnedBy(gone)), Pod("a/three", OwnedBy(Secret("a/one"))))
	s.run(t.Context())
	got := s.sent("keep", "delete")
	if len(got) != 6 || slices.ContainsFunc(got[:3], func(c string) bool { return strings.HasPrefix(c, "delete") }) {
		t.Error(got)
	}
}

// What was saved is what goes: a change in between is saved, too.
func TestAnObjectIsSavedAgainInTheStateInWhichItGoes(t *testing.T) {
	child := Secret("a/child", OwnedBy(gone))
	s := on(child)
	version := ""
	s.then("delete child", 1, func() { s.edit(uid(child), func(o *object.Object) { o.Finalizers = []string{"x/y"} }) })
	s.then("delete child", 2, func() { version = s.state(uid(child)).ResourceVersion })
	s.is(t, s.run(t.Context()), "delete child: done")
	if !slices.Contains(s.disk.kept[uid(child)], version) {
		t.Errorf("went as %s, saved as %v", version, s.disk.kept[uid(child)])
	}
}

func TestAnObjectThatCannotBeSavedAgainStays(t *testing.T) {
	child := Secret("a/child", OwnedBy(gone))
	s := on(child)
	s.then("delete child", 1, func() {
		s.edit(uid(child), func(*object.Object) {})
		s.disk.fails = map[string]error{"child": errors.New("disk full")}
	})
	s.is(t, s.run(t.Context()), "delete child: failed BackupFailed save child: disk full")
}

// The patch that breaks a circle is ours: it needs no second save.
func TestAnObjectThatOnlyThisRunChangedIsSavedOnce(t *testing.T) {
	one := ConfigMap("a/one", OwnedBy(Secret("a/two")), Terminating(object.ForegroundFinalizer, "x/y"))
	two := Secret("a/two", Owned(To(ConfigMap("a/one"), Blocking)))
	s := on(one, two)
	s.is(t, s.run(t.Context()), "unblock two: done", "delete two: done", "remove-finalizer one: done", "remove-finalizer two: done")
	s.sends(t, []string{"keep", "patch", "delete"}, "keep two", "patch two", "delete two", "patch one", "patch two")
}

func TestWhatFollowsFromAFailureIsNotDone(t *testing.T) {
	s := on(
		ConfigMap("a/parent", OwnedBy(gone)), Secret("a/child", OwnedBy(ConfigMap("a/parent"))),
		Pod("a/grandchild", OwnedBy(Secret("a/child"))),
	)
	s.always("delete parent", forbidden)
	report := s.run(t.Context())
	s.is(t, report,
		"delete parent: failed WriteFailed forbidden refused: forbidden",
		"delete child: skipped OwnerStillExists ConfigMap/parent",
		"delete grandchild: skipped OwnerStillExists Secret/child")
	if report.Failed != 1 || report.Skipped != 2 || report.Deleted != 0 {
		t.Errorf("%+v", report)
	}
}

// To what is still to go because it waits, it would be an owner like any other.
func TestAnOwnerThatIsHeldIsNotReleasedBeforeADependentThatCouldNotGo(t *testing.T) {
	one := ConfigMap("a/one", OwnedBy(Secret("a/two")), Terminating(object.ForegroundFinalizer, "x/y"))
	s := on(one, Secret("a/two", Owned(To(one, Blocking))))
	s.always("delete two", forbidden)
	s.is(t, s.run(t.Context()),
		"unblock two: done", "delete two: failed WriteFailed forbidden refused: forbidden",
		"remove-finalizer one: skipped PrecedingStepNotDone delete Secret/two",
		"remove-finalizer two: skipped DecidedOtherwise delete")
}

func TestAnAnswerThatIsNotUnderstoodIsAFailure(t *testing.T) {
	s := on(ConfigMap("a/parent", OwnedBy(gone)), Secret("a/child", OwnedBy(ConfigMap("a/parent"))))
	s.always("delete parent", errors.New("unexpected EOF"))
	s.is(t, s.run(t.Context()), "delete parent: failed WriteFailed unexpected EOF", "delete child: skipped OwnerStillExists ConfigMap/parent")
}

func TestAnOrphanedDependentThatCannotBeDetachedKeepsTheFinalizer(t *testing.T) {
	owner := ConfigMap("a/owner", Terminating(object.OrphanFinalizer))
	s := on(owner, Secret("a/child", OwnedBy(owner)), Secret("a/other", OwnedBy(owner)))
	s.always("patch child", forbidden)
	s.is(t, s.run(t.Context()),
		"unlink child: failed WriteFailed forbidden refused: forbidden", "unlink other: done",
		"remove-finalizer owner: skipped DependentExists Secret/child")
}

func TestAnAdmissionWebhookThatAddsAnOwnerIsNoticed(t *testing.T) {
	stays := ConfigMap("a/stays")
	one := ConfigMap("a/one", OwnedBy(Secret("a/two")), Terminating(object.ForegroundFinalizer, "x/y"))
	two := Secret("a/two", Owned(To(ConfigMap("a/one"), Blocking)))
	s := on(stays, one, two)
	s.webhook = func(o *object.Object) {
		if o.UID == uid(two) {
			o.Owners = append(o.Owners, To(stays))
		}
	}
	report := s.run(t.Context())
	if r := report.Results[1]; r.Status != "skipped" || s.state(uid(two)) == nil {
		t.Errorf("%+v", report.Results)
	}
}

func TestWhatAnAdmissionWebhookDidIsUnknownUntilItIsRead(t *testing.T) {
	one := ConfigMap("a/one", OwnedBy(Secret("a/two")), Terminating(object.ForegroundFinalizer, "x/y"))
	two := Secret("a/two", Owned(To(ConfigMap("a/one"), Blocking)))
	s := on(one, two)
	s.webhook = func(o *object.Object) {
		if o.UID == uid(two) {
			o.Owners = append(o.Owners, To(gone))
		}
	}
	s.always("examine two", forbidden)
	report := s.run(t.Context())
	if r := report.Results[1]; describeReason(r.Reason) != "OwnerNotResolved ConfigMap/one" {
		t.Errorf("%+v", report.Results)
	}
}

// An owner that is in no list and no lookup of the plan's can be known only
// through what depends on it, so that is read again.
func TestAWaitingOwnerThatThePlanDidNotKnowIsReadAgain(t *testing.T) {
	one := ConfigMap("a/one", OwnedBy(Secret("a/two")), Terminating(object.ForegroundFinalizer, "x/y"))
	two := Secret("a/two", Owned(To(ConfigMap("a/one"), Blocking)))
	late := ConfigMap("a/late", Foreground())
	for name, test := range map[string]struct {
		become []string // finalizers of the owner, once it was met
		want   string
	}{
		"still waiting": {[]string{object.ForegroundFinalizer}, "done"},
		"solid by then": {[]string{"x/y"}, "skipped OwnerStillExists ConfigMap/late"},
	} {
		t.Run(name, func(t *testing.T) {
			s := on(one, two)
			s.create(late)
			s.then("patch two", 1, func() { s.edit(uid(two), func(o *object.Object) { o.Owners = append(o.Owners, To(late)) }) })
			s.then("examine two", 2, func() { s.edit(uid(late), func(o *object.Object) { o.Finalizers = test.become }) })
			report := s.run(t.Context())
			if r := report.Results[1]; !strings.Contains(describeResult(r), strings.TrimPrefix(test.want, "skipped ")) {
				t.Errorf("%+v", report.Results)
			}
			s.sends(t, []string{"examine"}, "examine two", "examine two")
		})
	}
}

func TestAnInterruptStopsNewWorkAndWaitsForWhatIsInFlight(t *testing.T) {
	parent := ConfigMap("a/parent", OwnedBy(gone))
	s := on(parent, ConfigMap("a/two", OwnedBy(gone)), Secret("a/child", OwnedBy(parent)))
	s.options.Common.Concurrency = 1
	ctx, cancel := context.WithCancel(t.Context())
	s.then("delete parent", 1, cancel)
	report := s.run(ctx)
	s.is(t, report, "delete parent: done", "delete two: skipped Interrupted", "delete child: skipped Interrupted")
	if !report.Interrupted || report.Deleted != 1 || s.state(uid(parent)) != nil {
		t.Errorf("%+v", report)
	}
	again, g := planOf(s.look())
	if report := planrun.Run(t.Context(), again, g, s.fake, s.disk, planrun.Options{}); report.Deleted != 2 {
		t.Errorf("running again: %+v", report)
	}
}

func TestARunThatWasInterruptedBeforeItBeganDoesNothing(t *testing.T) {
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	late, release := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer release()
	for want, ctx := range map[string]context.Context{"Interrupted": interrupted, "TimedOut": late} {
		s := on(ConfigMap("a/parent", OwnedBy(gone)))
		report := s.run(ctx)
		s.is(t, report, "delete parent: skipped "+want)
		if !report.Interrupted {
			t.Error("not interrupted")
		}
		s.sends(t, writes)
	}
}

func TestAFrozenPlanRefusesWhatChanged(t *testing.T) {
	stays := ConfigMap("a/stays")
	child, other := Secret("a/child", OwnedBy(gone)), Secret("a/other", OwnedBy(gone, stays))
	third := Secret("a/third", OwnedBy(gone))
	s := on(stays, child, other, third)
	s.options.RequireUnchanged = true
	for _, o := range []object.Object{child, other} {
		s.edit(uid(o), func(*object.Object) {})
	}
	s.then("delete third", 1, func() { s.edit(uid(third), func(*object.Object) {}) })
	s.is(t, s.run(t.Context()),
		"unlink other: failed ChangedSincePlanned",
		"delete child: failed ChangedSincePlanned",
		"delete third: failed ChangedSincePlanned")
	s.sends(t, []string{"examine"})
}

// A step that fails makes the next one do more than was planned.
func TestAFrozenPlanDoesNoMoreThanItSays(t *testing.T) {
	parent, stays := ConfigMap("a/parent", OwnedBy(gone)), ConfigMap("a/stays")
	child := Secret("a/child", OwnedBy(gone, parent, stays))
	for frozen, last := range map[bool]string{false: "done", true: "failed ChangedSincePlanned"} {
		s := on(parent, stays, child)
		s.options.RequireUnchanged = frozen
		s.at("patch child", 1, func() error { return forbidden })
		s.is(t, s.run(t.Context()), "unlink child: failed WriteFailed forbidden refused: forbidden", "delete parent: done", "unlink child: "+last)
	}
}

// Each finalizer has a step of its own.
func TestAFinalizerIsNotReleasedInTheStepOfAnother(t *testing.T) {
	s := on(ConfigMap("a/owner", Terminating(object.OrphanFinalizer, object.ForegroundFinalizer)))
	s.at("patch owner", 1, func() error { return forbidden })
	s.is(t, s.run(t.Context()),
		"remove-finalizer owner: failed WriteFailed forbidden refused: forbidden",
		"remove-finalizer owner: skipped OtherFinalizerFirst orphan")
}

func TestAPlanThatWasNotRenewedIsRefused(t *testing.T) {
	s := on(Secret("a/child", OwnedBy(gone)))
	s.plan.Steps[0].Move = nil
	s.is(t, s.run(t.Context()), "delete child: failed PlanNotRevalidated")
	s.sends(t, []string{"keep", "delete"})
}
