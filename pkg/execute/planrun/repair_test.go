package planrun_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute/planrun"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/repair"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	. "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

var (
	web   = Deployment("a/web")
	stale = To(Deployment("a/web", UID("before")), Controlling)
)

// repairScenario returns a scenario in which every reference is repaired.
func repairScenario(objects ...object.Object) *scenario {
	s := newScenario(objects...)
	s.plan = plan.NewRepair(collector.NewJudge(s.graph), plan.RepairOptions{})
	return s
}

func references(o *object.Object) []string {
	out := []string{}
	for _, r := range o.Owners {
		out = append(out, fmt.Sprintf("%s %s %s %v", r.APIVersion, r.Name, r.UID, r.Controls()))
	}
	return out
}

func (s *scenario) checkReferences(t *testing.T, o object.Object, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, references(s.server.state(o.UID)), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("references of %s (-want +got):\n%s", o, diff)
	}
}

func TestRepairChangesOnlyThePlannedReferences(t *testing.T) {
	stays := ConfigMap("a/stays")
	x := Secret("a/x", Owned(To(stays, Named("gone")), stale, To(stays), To(Role("a/r"), As("rbac.authorization.k8s.io/v1alpha1", "Role"))))
	s := repairScenario(web, stays, Role("a/r"), x)
	s.checkResults(t, s.run(t.Context()), "relink x: done", "update-version x: done", "unlink x: done")
	s.checkReferences(t, x, "apps/v1 web Deployment/a/web true", "v1 stays ConfigMap/a/stays false", "rbac.authorization.k8s.io/v1 r Role/a/r false")
}

func TestRepairBacksUpFirst(t *testing.T) {
	x := Secret("a/x", Owned(stale, To(gone)))
	s := repairScenario(web, x)
	first := s.server.state(uid(x)).ResourceVersion
	s.run(t.Context())
	s.checkRequests(t, []string{"backup", "patch"}, "backup x", "patch x", "patch x")
	if !slices.Equal(s.backup.versions[uid(x)], []string{first}) {
		t.Errorf("backed up as %q, it was %s", s.backup.versions[uid(x)], first)
	}
}

func TestRepairFailsWithoutABackup(t *testing.T) {
	x := Secret("a/x", Owned(stale))
	s := repairScenario(web, x)
	s.backup.fails = map[string]error{"x": errors.New("disk full")}
	s.checkResults(t, s.run(t.Context()), "relink x: failed BackupFailed save x: disk full")
	s.checkRequests(t, writes)
}

func TestRepairReadsTheNewOwnerFirst(t *testing.T) {
	x := Secret("a/x", Owned(stale))
	for name, c := range map[string]struct {
		meanwhile func(*scenario)
		want      string
	}{
		"it is gone": {
			func(s *scenario) { s.server.edit(uid(web), nil) },
			"relink x: skipped NewOwnerGone Deployment/web",
		},
		"it is being deleted": {
			func(s *scenario) { s.server.edit(uid(web), func(o *object.Object) { Terminating("x/y")(o) }) },
			"relink x: skipped NewOwnerTerminating Deployment/web",
		},
		"it cannot be read": {
			func(s *scenario) { s.failAll("read web", forbidden) },
			"relink x: failed DependencyReadFailed Deployment/web forbidden refused: forbidden",
		},
		"it changed in what does not matter": {
			func(s *scenario) { s.server.edit(uid(web), func(*object.Object) {}) },
			"relink x: done",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := repairScenario(web, x)
			c.meanwhile(s)
			s.checkResults(t, s.run(t.Context()), c.want)
		})
	}
}

func TestRepairDecidesAgainOnAChangedObject(t *testing.T) {
	x := Secret("a/x", Owned(stale, To(gone)))
	for name, c := range map[string]struct {
		change func(*object.Object)
		want   []string
	}{
		"nothing that matters": {
			func(*object.Object) {},
			[]string{"relink x: done", "unlink x: done"},
		},
		"the references stand in another order": {
			func(o *object.Object) { o.Owners = Reversed(o.Owners) },
			[]string{"relink x: done", "unlink x: done"},
		},
		"somebody relinked it": {
			func(o *object.Object) { o.Owners = []object.Reference{To(web), To(gone)} },
			[]string{"relink x: skipped ObjectChanged AlreadyDone", "unlink x: done"},
		},
		"somebody added the successor": {
			func(o *object.Object) { o.Owners = append(slices.Clone(o.Owners), To(web)) },
			[]string{"relink x: skipped ObjectChanged RepairedOtherwise Deployment/web unlink", "unlink x: done"},
		},
		"somebody took all references away": {
			func(o *object.Object) { o.Owners = nil },
			[]string{"relink x: skipped ObjectChanged AlreadyDone", "unlink x: skipped AlreadyDone"},
		},
		"somebody deleted it": {
			func(o *object.Object) { Terminating("x/y")(o) },
			[]string{"relink x: skipped ObjectChanged AlreadyTerminating", "unlink x: skipped AlreadyTerminating"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := repairScenario(web, x)
			s.onRequest("patch x", 1, func() { s.server.edit(uid(x), c.change) })
			s.checkResults(t, s.run(t.Context()), c.want...)
		})
	}
}

// Deployments are not served in extensions/v1beta1 any more.
func TestRepairReadsAnOwnerServedInAnotherGroup(t *testing.T) {
	x := Secret("a/x", Owned(To(web, As("extensions/v1beta1", "Deployment"))))
	s := repairScenario(web, x)
	s.onRequest("patch x", 1, func() { s.server.edit(uid(x), func(*object.Object) {}) })
	s.checkResults(t, s.run(t.Context()), "update-version x: done")
	s.checkReferences(t, x, "apps/v1 web Deployment/a/web false")
}

func TestRepairSkipsAnObjectThatIsGone(t *testing.T) {
	x := Secret("a/x", Owned(stale))
	s := repairScenario(web, x)
	s.onRequest("patch x", 1, func() { s.server.edit(uid(x), nil) })
	s.checkResults(t, s.run(t.Context()), "relink x: skipped ObjectGone")
}

func TestUserSelectedUnlinkSurvivesAConflict(t *testing.T) {
	x := Secret("a/x", Owned(stale))
	s := repairScenario(web, x)
	s.plan = plan.NewRepair(collector.NewJudge(s.graph), plan.RepairOptions{Fix: repair.Unlink})
	s.onRequest("patch x", 1, func() { s.server.edit(uid(x), func(*object.Object) {}) })
	s.checkResults(t, s.run(t.Context()), "unlink x: done")
	s.checkReferences(t, x)
}

func TestDryRunOfARepairSendsEveryStep(t *testing.T) {
	x := Secret("a/x", Owned(To(gone), stale, To(Role("a/r"), As("rbac.authorization.k8s.io/v1alpha1", "Role"))))
	s := repairScenario(web, x, Role("a/r"))
	s.server.dry, s.options.Common.DryRun = true, true
	s.checkResults(t, s.run(t.Context()), "relink x: done", "update-version x: done", "unlink x: done")
	s.checkRequests(t, []string{"patch", "backup"}, "patch x", "patch x", "patch x")
	s.checkReferences(t, x, references(&x)...)
}

func TestRepairIsCompleteAndCreatesNoGarbage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawCluster(t)
		f := newFakeServer(s)
		g := graph.New(s)
		doomed := doomedObjects(s)
		p := plan.NewRepair(collector.NewJudge(g), plan.RepairOptions{})
		report := planrun.Run(t.Context(), p, collector.NewJudge(g), f, &fakeBackup{server: f}, planrun.RunOptions{Common: execute.Tuning{Concurrency: 3}})
		for i, r := range report.Results {
			if r.Status != event.Done {
				t.Fatalf("%s of %s: %s", p.Steps[i].Action, p.Steps[i].Object, describeResult(r))
			}
		}
		after := f.scan()
		again := plan.NewRepair(collector.NewJudge(graph.New(after)), plan.RepairOptions{})
		for i := range again.Steps { // what was left for a reason may be repaired once others are
			left := &again.Steps[i]
			if !slices.ContainsFunc(p.Blocked, func(b plan.Blocked) bool { return b.Object == left.Object.Identity }) {
				t.Fatalf("left: %s of %s: %s", left.Action, left.Object, left.Reason.Message())
			}
		}
		for uid := range doomedObjects(after) {
			if !doomed[uid] {
				t.Fatalf("the repair made %s garbage", uid)
			}
		}
	})
}

// doomedObjects returns the objects that a collection pass would delete and that are not
// terminating.
func doomedObjects(s *snapshot.Snapshot) map[string]bool {
	out, g := map[string]bool{}, graph.New(s)
	for _, o := range plan.New(collector.NewJudge(g), plan.CollectPurpose(nil)).Outcomes {
		if o.State != plan.Changed && !g.Object(g.Find(o.Object.UID)).Terminating() {
			out[string(o.Object.UID)] = true
		}
	}
	return out
}

func TestUserSelectedReferenceIsRemovedEvenIfItsOwnerExists(t *testing.T) {
	egg, hen := ConfigMap("a/egg", Foreground()), Secret("a/hen", Foreground())
	Owned(To(hen, Blocking))(&egg)
	Owned(To(egg, Blocking))(&hen)
	s := newScenario(egg, hen)
	s.plan = plan.NewRepair(collector.NewJudge(s.graph), plan.RepairOptions{
		Fix: repair.Unlink, References: []types.UID{hen.UID}, Within: func(n graph.Node) bool { return s.graph.UID(n) == egg.UID },
	})
	s.onRequest("patch egg", 1, func() { s.server.edit(uid(egg), func(*object.Object) {}) })
	s.checkResults(t, s.run(t.Context()), "unlink egg: done")
	s.checkReferences(t, egg)
	s.checkReferences(t, hen, references(&hen)...)
}
