package planrun_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute/planrun"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	. "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

var forbidden = classified{snapshot.Forbidden}

func TestWritesHaveTheDecidedStateAsPrecondition(t *testing.T) {
	stays := Secret("a/stays")
	s := newScenario(
		stays, ConfigMap("a/unlinked", OwnedBy(gone, stays)),
		ConfigMap("a/parent", OwnedBy(gone)), Secret("a/child", OwnedBy(ConfigMap("a/parent"))),
		ConfigMap("a/going", Foreground()), Secret("a/blocker", Owned(To(ConfigMap("a/going"), Blocking))),
	)
	var unbound atomic.Int32
	s.server.before = func(c call) error {
		if slices.Contains(writes, c.verb) {
			if there := s.server.state(c.at.UID); there == nil || c.rv == "" || c.rv != there.ResourceVersion {
				unbound.Add(1)
			}
		}
		return nil
	}
	report := s.run(t.Context())
	if unbound.Load() > 0 || tallyOf(s.plan, report) != (tally{deleted: 3, changed: 2}) {
		t.Errorf("%d writes without the decided state, %+v", unbound.Load(), report)
	}
}

func TestKeepsADependentWhoseWaitingOwnerBecameSolid(t *testing.T) {
	owner := ConfigMap("a/owner", Terminating(object.ForegroundFinalizer, "x/y"))
	s := newScenario(owner, Secret("a/child", OwnedBy(owner)))
	s.server.edit(uid(owner), func(o *object.Object) { o.Finalizers = []string{"x/y"} })
	s.checkResults(t, s.run(t.Context()),
		"delete child: skipped OwnerStillExists ConfigMap/owner",
		"remove-finalizer owner: skipped AlreadyDone")
	s.checkRequests(t, writes)
}

func TestKeepsAReferenceToAWaitingOwnerThatBecameSolid(t *testing.T) {
	owner, stays := ConfigMap("a/owner", Terminating(object.ForegroundFinalizer, "x/y")), ConfigMap("a/stays")
	s := newScenario(owner, stays, Secret("a/child", OwnedBy(owner, stays)))
	s.server.edit(uid(owner), func(o *object.Object) { o.Finalizers = []string{"x/y"} })
	report := s.run(t.Context())
	if r := report.Results[0]; r.Status != "skipped" || len(s.server.state(uid(Secret("a/child"))).Owners) != 2 {
		t.Errorf("%+v", r)
	}
}

func TestReadsAWaitingOwnerBeforeEveryAttempt(t *testing.T) {
	owner := ConfigMap("a/owner", Terminating(object.ForegroundFinalizer, "x/y"))
	child := Secret("a/child", OwnedBy(owner))
	s := newScenario(owner, child)
	s.onRequest("delete child", 1, func() {
		s.server.edit(uid(child), func(*object.Object) {})
		s.server.edit(uid(owner), func(o *object.Object) { o.Finalizers = []string{"x/y"} })
	})
	report := s.run(t.Context())
	if r := report.Results[0]; describeReason(r.Reason) != "ObjectChanged OwnerStillExists ConfigMap/owner" || s.server.state(uid(child)) == nil {
		t.Errorf("%+v", report.Results)
	}
}

func TestAcceptsAWaitingOwnerWhoseReferencesChanged(t *testing.T) {
	owner := ConfigMap("a/owner", Foreground())
	s := newScenario(owner, ConfigMap("a/x"), Secret("a/child", Owned(To(owner, Blocking))))
	s.server.edit(uid(owner), func(o *object.Object) { o.Owners = []object.Reference{To(ConfigMap("a/x"))} })
	s.checkResults(t, s.run(t.Context()), "delete child: done", "remove-finalizer owner: done")
	s.checkRequests(t, []string{"read", "verify", "delete", "patch"}, "read owner", "verify owner", "delete child", "patch owner")
}

func TestKeepsDependentsOfAWaitingOwnerThatCannotBeRead(t *testing.T) {
	owner := ConfigMap("a/owner", Foreground())
	s := newScenario(owner, Secret("a/child", Owned(To(owner, Blocking))))
	s.failAll("read owner", forbidden)
	s.checkResults(t, s.run(t.Context()),
		"delete child: failed DependencyReadFailed ConfigMap/owner forbidden refused: forbidden",
		"remove-finalizer owner: skipped DependentBlocks Secret/child")
	s.checkRequests(t, writes)
}

func TestDoesNotReadAnAbsentOwnerAgain(t *testing.T) {
	s := newScenario(ConfigMap("a/parent", OwnedBy(gone)), Secret("a/child", OwnedBy(ConfigMap("a/parent"))))
	s.checkResults(t, s.run(t.Context()), "delete parent: done", "delete child: done")
	s.checkRequests(t, []string{"read", "verify", "relist", "delete"}, "delete parent", "delete child")
}

func TestDeletesAnObjectAfterAnUnrelatedChange(t *testing.T) {
	child := Secret("a/child", OwnedBy(gone))
	s := newScenario(child)
	s.onRequest("delete child", 1, func() { s.server.edit(uid(child), func(*object.Object) {}) })
	s.checkResults(t, s.run(t.Context()), "delete child: done")
	s.checkRequests(t, []string{"backup", "delete", "verify"}, "backup child", "delete child", "verify child", "backup child", "delete child")
}

func TestDeletesABusyObject(t *testing.T) {
	child := Secret("a/child", OwnedBy(gone))
	s := newScenario(child)
	for i := range 19 {
		s.onRequest("delete child", i+1, func() { s.server.edit(uid(child), func(*object.Object) {}) })
	}
	s.checkResults(t, s.run(t.Context()), "delete child: done")
}

func TestABusyObjectDoesNotHoldUpARunThatIsRepeated(t *testing.T) {
	s := newScenario(Secret("a/child", OwnedBy(gone)))
	s.options.NoWait = true
	s.server.before = func(c call) error {
		s.server.edit(c.at.UID, func(*object.Object) {})
		return nil
	}
	s.checkResults(t, s.run(t.Context()), "delete child: failed KeepsChanging 2")
}

func TestGivesUpOnAnObjectThatKeepsChanging(t *testing.T) {
	child, stays := Secret("a/child", OwnedBy(gone)), Secret("a/stays")
	other := Secret("a/other", OwnedBy(gone, stays))
	s := newScenario(child, stays, other)
	s.server.before = func(c call) error {
		s.server.edit(c.at.UID, func(*object.Object) {})
		return nil
	}
	s.checkResults(t, s.run(t.Context()),
		"unlink other: failed KeepsChanging 20",
		"delete child: failed KeepsChanging 20")
	if n := len(s.server.sent("patch")); n != 20 {
		t.Errorf("patched %d times", n)
	}
}

func TestDecidesAgainOnAChangedObject(t *testing.T) {
	stays, child := ConfigMap("a/stays"), Secret("a/child", OwnedBy(gone))
	for name, test := range map[string]struct {
		change func(*object.Object)
		want   string
	}{
		"adopted":           {func(o *object.Object) { o.Owners = []object.Reference{To(stays)} }, "skipped ObjectChanged OwnerStillExists ConfigMap/stays"},
		"one owner more":    {func(o *object.Object) { o.Owners = append(o.Owners, To(stays)) }, "skipped ObjectChanged OwnerStillExists ConfigMap/stays"},
		"orphaned":          {func(o *object.Object) { o.Owners = nil }, "skipped ObjectChanged NoOwnerReferences"},
		"an owner unknown":  {func(o *object.Object) { o.Owners = append(o.Owners, To(Pod("a/x"), As("v9", "What"))) }, "skipped ObjectChanged OwnerNotResolved What/x"},
		"deleted by others": {func(o *object.Object) { o.Deleted, o.Finalizers = &now, []string{"x/y"} }, "skipped ObjectChanged AlreadyTerminating"},
		"a new finalizer":   {func(o *object.Object) { o.Finalizers = []string{"x/y"} }, "done"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, when := range []string{"backup child", "delete child"} {
				s := newScenario(stays, child)
				s.onRequest(when, 1, func() { s.server.edit(uid(child), test.change) })
				s.checkResults(t, s.run(t.Context()), "delete child: "+test.want)
			}
		})
	}
}

// The response to a patch may be lost.
func TestSkipsAPatchThatWasMadeAlready(t *testing.T) {
	stays := ConfigMap("a/stays")
	child := Secret("a/child", OwnedBy(gone, stays))
	s := newScenario(stays, child)
	s.onRequest("patch child", 1, func() { s.server.edit(uid(child), func(o *object.Object) { o.Owners = o.Owners[1:] }) })
	s.checkResults(t, s.run(t.Context()), "unlink child: skipped ObjectChanged AlreadyDone")
}

// Two references may have the same UID, and their order may change.
func TestRemovesOnlyThePlannedReference(t *testing.T) {
	stays := ConfigMap("a/stays")
	child := Secret("a/child", Owned(To(stays, Named("other")), To(stays)))
	s := newScenario(stays, child)
	s.onRequest("patch child", 1, func() {
		s.server.edit(uid(child), func(o *object.Object) { slices.Reverse(o.Owners) })
	})
	s.checkResults(t, s.run(t.Context()), "unlink child: done")
	if left := s.server.state(uid(child)).Owners; len(left) != 1 || left[0].Name != "stays" {
		t.Errorf("left: %v", left)
	}
}

func TestFailsIfAnObjectCannotBeReadAfterAConflict(t *testing.T) {
	child := Secret("a/child", OwnedBy(gone))
	s := newScenario(child)
	s.onRequest("delete child", 1, func() { s.server.edit(uid(child), func(*object.Object) {}) })
	s.failAll("verify child", forbidden)
	s.checkResults(t, s.run(t.Context()), "delete child: failed RereadFailed forbidden refused: forbidden true")
}

func TestSkipsWhatOthersHaveDone(t *testing.T) {
	child, stays := Secret("a/child", OwnedBy(gone)), ConfigMap("a/stays")
	other := Secret("a/other", OwnedBy(gone, stays))
	grandchild := Pod("a/grandchild", OwnedBy(child))
	s := newScenario(child, stays, other, grandchild)
	s.onRequest("delete child", 1, func() { s.server.edit(uid(child), nil) })
	s.onRequest("patch other", 1, func() { s.server.edit(uid(other), nil) })
	s.checkResults(t, s.run(t.Context()), "unlink other: skipped ObjectGone", "delete child: skipped AlreadyGone", "delete grandchild: done")
}

func TestSkipsAnObjectThatIsGoneBeforeTheBackup(t *testing.T) {
	child := Secret("a/child", OwnedBy(gone))
	s := newScenario(child, Pod("a/grandchild", OwnedBy(child)))
	s.server.edit(uid(child), nil)
	s.checkResults(t, s.run(t.Context()), "delete child: skipped AlreadyGone", "delete grandchild: done")
	s.checkRequests(t, []string{"delete"}, "delete grandchild")
}

func TestFailsIfAnObjectIsNotBackedUp(t *testing.T) {
	child := Secret("a/child", OwnedBy(gone))
	s := newScenario(child, Pod("a/grandchild", OwnedBy(child)), Secret("a/other", OwnedBy(gone)))
	s.backup.fails = map[string]error{"child": errors.New("disk full")}
	s.checkResults(t, s.run(t.Context()),
		"delete child: failed BackupFailed save child: disk full", "delete other: done",
		"delete grandchild: skipped OwnerStillExists Secret/child")
	s.checkRequests(t, writes, "delete other")
}

func TestFailsDeletionsWithoutABackup(t *testing.T) {
	stays := ConfigMap("a/stays")
	s := newScenario(stays, Secret("a/child", OwnedBy(gone)), Secret("a/other", OwnedBy(gone, stays)))
	s.backup.err = errors.New("read-only file system")
	s.checkResults(t, s.run(t.Context()), "unlink other: done", "delete child: failed BackupFailed read-only file system")
	s.checkRequests(t, writes, "patch other")
}

func TestBacksUpEverythingBeforeTheFirstDeletion(t *testing.T) {
	s := newScenario(Secret("a/one", OwnedBy(gone)), Secret("a/two", OwnedBy(gone)), Pod("a/three", OwnedBy(Secret("a/one"))))
	s.run(t.Context())
	got := s.server.sent("backup", "delete")
	if len(got) != 6 || slices.ContainsFunc(got[:3], func(c string) bool { return strings.HasPrefix(c, "delete") }) {
		t.Error(got)
	}
}

func TestBacksUpAChangedObjectAgain(t *testing.T) {
	child := Secret("a/child", OwnedBy(gone))
	s := newScenario(child)
	version := ""
	s.onRequest("delete child", 1, func() { s.server.edit(uid(child), func(o *object.Object) { o.Finalizers = []string{"x/y"} }) })
	s.onRequest("delete child", 2, func() { version = s.server.state(uid(child)).ResourceVersion })
	s.checkResults(t, s.run(t.Context()), "delete child: done")
	if !slices.Contains(s.backup.versions[uid(child)], version) {
		t.Errorf("deleted as %s, backed up as %v", version, s.backup.versions[uid(child)])
	}
}

func TestFailsIfAChangedObjectIsNotBackedUpAgain(t *testing.T) {
	child := Secret("a/child", OwnedBy(gone))
	s := newScenario(child)
	s.onRequest("delete child", 1, func() {
		s.server.edit(uid(child), func(*object.Object) {})
		s.backup.fails = map[string]error{"child": errors.New("disk full")}
	})
	s.checkResults(t, s.run(t.Context()), "delete child: failed BackupFailed save child: disk full")
}

// A patch of the run that breaks a cycle needs no second backup.
func TestBacksUpAnObjectThatOnlyTheRunChangedOnce(t *testing.T) {
	one := ConfigMap("a/one", OwnedBy(Secret("a/two")), Terminating(object.ForegroundFinalizer, "x/y"))
	two := Secret("a/two", Owned(To(ConfigMap("a/one"), Blocking)))
	s := newScenario(one, two)
	s.checkResults(t, s.run(t.Context()), "unblock two: done", "delete two: done", "remove-finalizer one: done", "remove-finalizer two: done")
	s.checkRequests(t, []string{"backup", "patch", "delete"}, "backup two", "patch two", "delete two", "patch one", "patch two")
}

func TestSkipsTheConsequencesOfAFailedStep(t *testing.T) {
	s := newScenario(
		ConfigMap("a/parent", OwnedBy(gone)), Secret("a/child", OwnedBy(ConfigMap("a/parent"))),
		Pod("a/grandchild", OwnedBy(Secret("a/child"))),
	)
	s.failAll("delete parent", forbidden)
	report := s.run(t.Context())
	s.checkResults(t, report,
		"delete parent: failed WriteFailed forbidden refused: forbidden",
		"delete child: skipped OwnerStillExists ConfigMap/parent",
		"delete grandchild: skipped OwnerStillExists Secret/child")
	if tallyOf(s.plan, report) != (tally{failed: 1, skipped: 2}) {
		t.Errorf("%+v", report)
	}
}

// Without the finalizer the owner would be solid, and the dependent would stay.
func TestKeepsTheForegroundFinalizerForAnUnfinishedDependent(t *testing.T) {
	one := ConfigMap("a/one", OwnedBy(Secret("a/two")), Terminating(object.ForegroundFinalizer, "x/y"))
	s := newScenario(one, Secret("a/two", Owned(To(one, Blocking))))
	s.failAll("delete two", forbidden)
	s.checkResults(t, s.run(t.Context()),
		"unblock two: done", "delete two: failed WriteFailed forbidden refused: forbidden",
		"remove-finalizer one: skipped PrecedingStepNotDone delete Secret/two",
		"remove-finalizer two: skipped DecidedOtherwise delete")
}

func TestFailsOnAnUnclassifiedError(t *testing.T) {
	s := newScenario(ConfigMap("a/parent", OwnedBy(gone)), Secret("a/child", OwnedBy(ConfigMap("a/parent"))))
	s.failAll("delete parent", errors.New("unexpected EOF"))
	s.checkResults(t, s.run(t.Context()), "delete parent: failed WriteFailed unexpected EOF", "delete child: skipped OwnerStillExists ConfigMap/parent")
}

func TestKeepsTheOrphanFinalizerIfADependentCannotBeUnlinked(t *testing.T) {
	owner := ConfigMap("a/owner", Terminating(object.OrphanFinalizer))
	s := newScenario(owner, Secret("a/child", OwnedBy(owner)), Secret("a/other", OwnedBy(owner)))
	s.failAll("patch child", forbidden)
	s.checkResults(t, s.run(t.Context()),
		"unlink child: failed WriteFailed forbidden refused: forbidden", "unlink other: done",
		"remove-finalizer owner: skipped DependentExists Secret/child")
}

func TestNoticesAnOwnerAddedByAWebhook(t *testing.T) {
	stays := ConfigMap("a/stays")
	one := ConfigMap("a/one", OwnedBy(Secret("a/two")), Terminating(object.ForegroundFinalizer, "x/y"))
	two := Secret("a/two", Owned(To(ConfigMap("a/one"), Blocking)))
	s := newScenario(stays, one, two)
	s.server.webhook = func(o *object.Object) {
		if o.UID == uid(two) {
			o.Owners = append(o.Owners, To(stays))
		}
	}
	report := s.run(t.Context())
	if r := report.Results[1]; r.Status != "skipped" || s.server.state(uid(two)) == nil {
		t.Errorf("%+v", report.Results)
	}
}

func TestReferencesChangedByAWebhookAreUnknownUntilRead(t *testing.T) {
	one := ConfigMap("a/one", OwnedBy(Secret("a/two")), Terminating(object.ForegroundFinalizer, "x/y"))
	two := Secret("a/two", Owned(To(ConfigMap("a/one"), Blocking)))
	s := newScenario(one, two)
	s.server.webhook = func(o *object.Object) {
		if o.UID == uid(two) {
			o.Owners = append(o.Owners, To(gone))
		}
	}
	s.failAll("verify two", forbidden)
	report := s.run(t.Context())
	if r := report.Results[1]; describeReason(r.Reason) != "OwnerNotResolved ConfigMap/one" {
		t.Errorf("%+v", report.Results)
	}
}

// An owner that the scan has not seen is only known through its dependents.
func TestVerifiesAnObjectWithAnUnknownWaitingOwner(t *testing.T) {
	one := ConfigMap("a/one", OwnedBy(Secret("a/two")), Terminating(object.ForegroundFinalizer, "x/y"))
	two := Secret("a/two", Owned(To(ConfigMap("a/one"), Blocking)))
	late := ConfigMap("a/late", Foreground())
	for name, test := range map[string]struct {
		become []string // finalizers that the owner gets
		want   string
	}{
		"still waiting": {[]string{object.ForegroundFinalizer}, "done"},
		"solid by then": {[]string{"x/y"}, "skipped OwnerStillExists ConfigMap/late"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScenario(one, two)
			s.server.create(late)
			s.onRequest("patch two", 1, func() { s.server.edit(uid(two), func(o *object.Object) { o.Owners = append(o.Owners, To(late)) }) })
			s.onRequest("verify two", 2, func() { s.server.edit(uid(late), func(o *object.Object) { o.Finalizers = test.become }) })
			report := s.run(t.Context())
			if r := report.Results[1]; !strings.Contains(describeResult(r), strings.TrimPrefix(test.want, "skipped ")) {
				t.Errorf("%+v", report.Results)
			}
			s.checkRequests(t, []string{"verify"}, "verify two", "verify two")
		})
	}
}

func TestInterruptCompletesStepsInFlight(t *testing.T) {
	parent := ConfigMap("a/parent", OwnedBy(gone))
	s := newScenario(parent, ConfigMap("a/two", OwnedBy(gone)), Secret("a/child", OwnedBy(parent)))
	s.options.Common.Concurrency = 1
	ctx, cancel := context.WithCancel(t.Context())
	s.onRequest("delete parent", 1, cancel)
	report := s.run(ctx)
	s.checkResults(t, report, "delete parent: done", "delete two: skipped Interrupted", "delete child: skipped Interrupted")
	if !report.Interrupted || tallyOf(s.plan, report).deleted != 1 || s.server.state(uid(parent)) != nil {
		t.Errorf("%+v", report)
	}
	again, g := newCollectPlan(s.server.scan())
	if report := planrun.Run(t.Context(), again, collector.NewJudge(g), s.server, s.backup, planrun.RunOptions{}); tallyOf(again, report).deleted != 2 {
		t.Errorf("running again: %+v", report)
	}
}

func TestInterruptBeforeTheStartSkipsEverything(t *testing.T) {
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	late, release := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer release()
	for want, ctx := range map[string]context.Context{"Interrupted": interrupted, "TimedOut": late} {
		s := newScenario(ConfigMap("a/parent", OwnedBy(gone)))
		report := s.run(ctx)
		s.checkResults(t, report, "delete parent: skipped "+want)
		if !report.Interrupted {
			t.Error("not interrupted")
		}
		s.checkRequests(t, writes)
	}
}

func TestRemovesOneFinalizerPerStep(t *testing.T) {
	s := newScenario(ConfigMap("a/owner", Terminating(object.OrphanFinalizer, object.ForegroundFinalizer)))
	s.onRequestErr("patch owner", 1, func() error { return forbidden })
	s.checkResults(t, s.run(t.Context()),
		"remove-finalizer owner: failed WriteFailed forbidden refused: forbidden",
		"remove-finalizer owner: skipped OtherFinalizerFirst orphan")
}
