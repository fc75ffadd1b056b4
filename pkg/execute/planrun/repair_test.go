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

// repairing is a scene in which everything is to be mended.
func repairing(objects ...object.Object) *scene {
	s := on(objects...)
	s.plan = plan.NewRepair(s.graph, plan.RepairOptions{})
	return s
}

func references(o *object.Object) []string {
	out := []string{}
	for _, r := range o.Owners {
		out = append(out, fmt.Sprintf("%s %s %s %v", r.APIVersion, r.Name, r.UID, r.Controls()))
	}
	return out
}

func (s *scene) has(t *testing.T, o object.Object, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, references(s.state(o.UID)), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("references of %s (-want +got):\n%s", o, diff)
	}
}

func TestARepairChangesTheReferencesMeantAndNoOther(t *testing.T) {
	stays := ConfigMap("a/stays")
	x := Secret("a/x", Owned(To(stays, Named("gone")), stale, To(stays), To(Role("a/r"), As("rbac.authorization.k8s.io/v1alpha1", "Role"))))
	s := repairing(web, stays, Role("a/r"), x)
	s.is(t, s.run(t.Context()), "relink x: done", "update-version x: done", "unlink x: done")
	s.has(t, x, "apps/v1 web Deployment/a/web true", "v1 stays ConfigMap/a/stays false", "rbac.authorization.k8s.io/v1 r Role/a/r false")
}

func TestWhatIsMendedIsSavedBefore(t *testing.T) {
	x := Secret("a/x", Owned(stale, To(gone)))
	s := repairing(web, x)
	first := s.state(uid(x)).ResourceVersion
	s.run(t.Context())
	s.sends(t, []string{"keep", "patch"}, "keep x", "patch x", "patch x")
	if !slices.Equal(s.disk.kept[uid(x)], []string{first}) {
		t.Errorf("saved as %q, it was %s", s.disk.kept[uid(x)], first)
	}
}

func TestWhatCannotBeSavedIsNotMended(t *testing.T) {
	x := Secret("a/x", Owned(stale))
	s := repairing(web, x)
	s.disk.fails = map[string]error{"x": errors.New("disk full")}
	s.is(t, s.run(t.Context()), "relink x: failed BackupFailed save x: disk full")
	s.sends(t, writes)
}

func TestTheNewOwnerIsReadRightBeforeTheWrite(t *testing.T) {
	x := Secret("a/x", Owned(stale))
	for name, c := range map[string]struct {
		meanwhile func(*scene)
		want      string
	}{
		"it is gone": {
			func(s *scene) { s.edit(uid(web), nil) },
			"relink x: skipped NewOwnerGone Deployment/web",
		},
		"it is being deleted": {
			func(s *scene) { s.edit(uid(web), func(o *object.Object) { Terminating("x/y")(o) }) },
			"relink x: skipped NewOwnerTerminating Deployment/web",
		},
		"it cannot be read": {
			func(s *scene) { s.always("read web", forbidden) },
			"relink x: failed DependencyReadFailed Deployment/web forbidden refused: forbidden",
		},
		"it changed in what does not matter": {
			func(s *scene) { s.edit(uid(web), func(*object.Object) {}) },
			"relink x: done",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := repairing(web, x)
			c.meanwhile(s)
			s.is(t, s.run(t.Context()), c.want)
		})
	}
}

func TestWhatOthersChangedIsJudgedAnew(t *testing.T) {
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
			s := repairing(web, x)
			s.then("patch x", 1, func() { s.edit(uid(x), c.change) })
			s.is(t, s.run(t.Context()), c.want...)
		})
	}
}

// By extensions/v1beta1 nobody can ask for a Deployment any more.
func TestAnOwnerThatIsServedInAnotherGroupIsReadAnewThere(t *testing.T) {
	x := Secret("a/x", Owned(To(web, As("extensions/v1beta1", "Deployment"))))
	s := repairing(web, x)
	s.then("patch x", 1, func() { s.edit(uid(x), func(*object.Object) {}) })
	s.is(t, s.run(t.Context()), "update-version x: done")
	s.has(t, x, "apps/v1 web Deployment/a/web false")
}

func TestWhatIsGoneIsNotMended(t *testing.T) {
	x := Secret("a/x", Owned(stale))
	s := repairing(web, x)
	s.then("patch x", 1, func() { s.edit(uid(x), nil) })
	s.is(t, s.run(t.Context()), "relink x: skipped ObjectGone")
}

func TestAReferenceThatIsTakenAwayOnDemandStaysDead(t *testing.T) {
	x := Secret("a/x", Owned(stale))
	s := repairing(web, x)
	s.plan = plan.NewRepair(s.graph, plan.RepairOptions{Fix: repair.Unlink})
	s.then("patch x", 1, func() { s.edit(uid(x), func(*object.Object) {}) })
	s.is(t, s.run(t.Context()), "unlink x: done")
	s.has(t, x)
}

func TestARehearsalOfARepairSendsEveryStep(t *testing.T) {
	x := Secret("a/x", Owned(To(gone), stale, To(Role("a/r"), As("rbac.authorization.k8s.io/v1alpha1", "Role"))))
	s := repairing(web, x, Role("a/r"))
	s.dry, s.options.Common.DryRun = true, true
	s.is(t, s.run(t.Context()), "relink x: done", "update-version x: done", "unlink x: done")
	s.sends(t, []string{"patch", "keep"}, "patch x", "patch x", "patch x")
	s.has(t, x, references(&x)...)
}

func TestARepairLeavesNothingForASecondOneAndMakesNothingGarbage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := draw(t)
		f := newFake(s)
		g := graph.New(s)
		doomed := lost(s)
		p := plan.NewRepair(g, plan.RepairOptions{})
		report := planrun.Run(t.Context(), p, g, f, &disk{fake: f}, planrun.Options{Common: execute.Options{Concurrency: 3}})
		for i, r := range report.Results {
			if r.Status != event.Done {
				t.Fatalf("%s of %s: %s", p.Steps[i].Action, p.Steps[i].Object, describeResult(r))
			}
		}
		after := f.look()
		if again := plan.NewRepair(graph.New(after), plan.RepairOptions{}); len(again.Steps) > 0 {
			t.Fatalf("left: %s of %s: %s", again.Steps[0].Action, again.Steps[0].Object, again.Steps[0].Reason.Message())
		}
		for uid := range lost(after) {
			if !doomed[uid] {
				t.Fatalf("%s is garbage by the repair", uid)
			}
		}
	})
}

// lost are the objects that a pass of the collector would delete, and nobody has yet.
func lost(s *snapshot.Snapshot) map[string]bool {
	out, g := map[string]bool{}, graph.New(s)
	for _, o := range plan.New(g, plan.Options{}).Outcomes {
		if o.State != plan.Changed && !g.Object(g.Find(o.Object.UID)).Terminating() {
			out[string(o.Object.UID)] = true
		}
	}
	return out
}

func TestAReferenceThatSomebodyGivesUpGoesWhetherItHoldsOrNot(t *testing.T) {
	egg, hen := ConfigMap("a/egg", Foreground()), Secret("a/hen", Foreground())
	Owned(To(hen, Blocking))(&egg)
	Owned(To(egg, Blocking))(&hen)
	s := on(egg, hen)
	s.plan = plan.NewRepair(s.graph, plan.RepairOptions{
		Fix: repair.Unlink, References: []types.UID{hen.UID}, Within: func(n graph.Node) bool { return s.graph.UID(n) == egg.UID },
	})
	s.then("patch egg", 1, func() { s.edit(uid(egg), func(*object.Object) {}) })
	s.is(t, s.run(t.Context()), "unlink egg: done")
	s.has(t, egg)
	s.has(t, hen, references(&hen)...)
}
