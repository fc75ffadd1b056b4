package plan_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/repair"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	. "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

var (
	web     = Deployment("a/web")
	stale   = To(Deployment("a/web", UID("before")))
	beta    = As("apps/v1beta1", "Deployment")
	unheard = To(web, As("example.com/v9", "Gadget"))
	owned   = Deployment("a/web", OwnedBy(Pod("a/unseen")))
)

func repairOf(o plan.RepairOptions, parts ...Part) *plan.Plan {
	return plan.NewRepair(collector.NewJudge(graph.New(New(parts...))), o)
}

func blockedOf(p *plan.Plan) []string {
	out := []string{}
	for _, b := range p.Blocked {
		out = append(out, b.Object.Name+": "+b.Reason.Message())
	}
	return out
}

func TestRepair(t *testing.T) {
	for name, c := range map[string]struct {
		seen []Part
		want []string
	}{
		"a successor has the owner's name": {
			[]Part{Listing(Secret("a/x", Owned(stale)), web)},
			[]string{"relink x: Deployment/web was replaced by a new one: the reference gets its UID (otherwise the garbage collector deletes it)"},
		},
		"the version is of the past": {
			[]Part{Listing(Secret("a/x", Owned(To(web, beta))), web)},
			[]string{"update-version x: apps/v1beta1 is not served: the reference to Deployment/web becomes apps/v1 (otherwise the garbage collector skips it)"},
		},
		"the version is of the past, and the owner too": {
			[]Part{Listing(Secret("a/x", Owned(To(web, beta, WithUID("before")))), web)},
			[]string{"relink x: Deployment/web was replaced by a new one: the reference gets its UID and apps/v1 (otherwise the garbage collector skips it)"},
		},
		"the only owner is gone": {
			[]Part{Listing(Secret("a/x", OwnedBy(gone))), absent},
			[]string{"unlink x: ConfigMap/gone does not exist; the object then has no owner and stays (otherwise the garbage collector deletes it)"},
		},
		"one of several owners is gone": {
			[]Part{Listing(Secret("a/x", OwnedBy(gone, stays)), stays), absent},
			[]string{"unlink x: ConfigMap/gone does not exist; ConfigMap/stays remains (otherwise the garbage collector removes the reference)"},
		},
		"the only owner lives in another namespace": {
			[]Part{Listing(Secret("b/x", OwnedBy(stays)), stays), Absent("v1", "ConfigMap", "b/stays")},
			[]string{"unlink x: ConfigMap/stays is in another namespace (a), which does not count; the object then has no owner and stays (otherwise the garbage collector deletes it)"},
		},
		"the object is cluster-scoped, and its owner is not": {
			[]Part{Listing(Node("x", OwnedBy(stays)), stays)},
			[]string{"unlink x: ConfigMap/stays is namespaced, but this object is cluster-scoped; the object then has no owner and stays (otherwise the garbage collector skips it)"},
		},
		"several references are bad, each in its way": {
			[]Part{Listing(Secret("a/x", Owned(To(gone), stale, To(Role("a/r"), As("rbac.authorization.k8s.io/v1alpha1", "Role")))), web, Role("a/r")), absent},
			[]string{
				"relink x: Deployment/web was replaced by a new one: the reference gets its UID (otherwise the garbage collector skips it)",
				"update-version x: rbac.authorization.k8s.io/v1alpha1 is not served: the reference to Role/r becomes rbac.authorization.k8s.io/v1",
				"unlink x: ConfigMap/gone does not exist; 2 owners remain",
			},
		},
		"another owner could not be verified": {
			[]Part{Listing(Secret("a/x", OwnedBy(gone, web))), absent, Unreadable("deployments.apps", snapshot.Forbidden)},
			[]string{"unlink x: ConfigMap/gone does not exist; its other references stay unchanged"},
		},
		"it goes because its owner would": {
			[]Part{Listing(ConfigMap("a/stays", Owned(stale)), web, Secret("a/x", OwnedBy(stays, gone))), absent},
			[]string{
				"relink stays: Deployment/web was replaced by a new one: the reference gets its UID (otherwise the garbage collector deletes it)",
				"unlink x: ConfigMap/gone does not exist; ConfigMap/stays remains (otherwise the garbage collector deletes it)",
			},
		},
		"a circle whose references hold": {
			[]Part{Listing(Secret("a/x", OwnedBy(stays)), ConfigMap("a/stays", OwnedBy(Secret("a/x"))))},
			[]string{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := repairOf(plan.RepairOptions{}, c.seen...)
			if diff := cmp.Diff(c.want, told(p)); diff != "" {
				t.Errorf("steps (-want +got):\n%s", diff)
			}
			if len(p.Blocked) > 0 {
				t.Errorf("blocked: %q", blockedOf(p))
			}
		})
	}
}

func TestRepairBlocksWhatItLeaves(t *testing.T) {
	going := Deployment("a/web", Terminating("x/y"))
	for name, c := range map[string]struct {
		options plan.RepairOptions
		seen    []Part
		steps   []string
		blocked []string
	}{
		"the successor is being deleted": {
			plan.RepairOptions{},
			[]Part{Listing(Secret("a/x", Owned(stale)), going)},
			[]string{},
			[]string{"x: Deployment/web exists, with another UID, but is being deleted"},
		},
		"nobody can say whether a kind that is not served is there": {
			plan.RepairOptions{},
			[]Part{Listing(Secret("a/x", Owned(unheard)))},
			[]string{},
			[]string{"x: Gadget/web is of a kind that the API server does not serve (to remove the reference anyway: --fix unlink)"},
		},
		"somebody says that it is not": {
			plan.RepairOptions{Fix: repair.Unlink},
			[]Part{Listing(Secret("a/x", Owned(unheard)))},
			[]string{"unlink x: Gadget/web is of a kind that the API server does not serve; the object then has no owner and stays (otherwise the garbage collector skips it)"},
			[]string{},
		},
		"nobody knows whether a reference is bad, and nobody asks": {
			plan.RepairOptions{},
			[]Part{Listing(Secret("a/x", OwnedBy(web))), Unreadable("deployments.apps", snapshot.Forbidden)},
			[]string{},
			[]string{},
		},
		"nobody knows whether a reference is bad, and somebody asks": {
			plan.RepairOptions{Named: true},
			[]Part{Listing(Secret("a/x", OwnedBy(web))), Unreadable("deployments.apps", snapshot.Forbidden)},
			[]string{},
			[]string{"x: Deployment/web could not be verified"},
		},
		"its owner may go, for all that is known, and it would go along": {
			plan.RepairOptions{},
			[]Part{Listing(Secret("a/x", Owned(To(owned, beta))), owned), Unreadable("pods", snapshot.Forbidden)},
			[]string{},
			[]string{"x: is not repaired: the garbage collector keeps it now, but might delete it after the repair (this tool could not read everything)"},
		},
		"its owner may go, but the collector decides on it as it is": {
			plan.RepairOptions{},
			[]Part{Listing(Secret("a/x", OwnedBy(gone, owned)), owned), absent, Unreadable("pods", snapshot.Forbidden)},
			[]string{"unlink x: ConfigMap/gone does not exist; Deployment/web remains (otherwise the garbage collector removes the reference)"},
			[]string{},
		},
		"its owner stays, whatever could not be read": {
			plan.RepairOptions{},
			[]Part{Listing(Secret("a/x", Owned(To(web, beta))), web), Unreadable("pods", snapshot.Forbidden)},
			[]string{"update-version x: apps/v1beta1 is not served: the reference to Deployment/web becomes apps/v1 (otherwise the garbage collector skips it)"},
			[]string{},
		},
		"the mend that is asked for leaves it without an owner": {
			plan.RepairOptions{Causes: []collector.Cause{collector.CauseUnknownKind}, Fix: repair.Unlink},
			[]Part{Listing(Secret("a/x", Owned(unheard, To(gone)))), absent},
			[]string{},
			[]string{"x: is not repaired: the garbage collector keeps it now, but would delete it after a partial repair"},
		},
		"an owner waits for it to go": {
			plan.RepairOptions{},
			[]Part{Listing(Secret("a/x", Owned(To(web, beta), To(waiting))), waiting, web)},
			[]string{"update-version x: apps/v1beta1 is not served: the reference to Deployment/web becomes apps/v1 (otherwise the garbage collector skips it)"},
			[]string{},
		},
		"the other bad reference cannot be mended": {
			plan.RepairOptions{},
			[]Part{Listing(Secret("a/x", Owned(stale, To(gone))), going), absent},
			[]string{"unlink x: ConfigMap/gone does not exist; its other references stay unchanged (otherwise the garbage collector deletes it)"},
			[]string{"x: Deployment/web exists, with another UID, but is being deleted; would be deleted even if it is repaired: its only owner, Deployment/web, was replaced by a new object with the same name"},
		},
		"it waits in a circle, and an owner that would let go of it stays": {
			plan.RepairOptions{},
			[]Part{
				Listing(
					Deployment("a/web", OwnedBy(gone), WithFinalizers("orphan")), ConfigMap("b/waiting", Foreground(), OwnedBy(Secret("b/x"))),
					Secret("b/x", OwnedBy(ConfigMap("b/waiting")), Owned(To(web, Blocking))),
				),
				absent, Absent("apps/v1", "Deployment", "b/web"), Unlisted("pods"),
			},
			[]string{
				"unlink web: ConfigMap/gone does not exist; the object then has no owner and stays (otherwise the garbage collector deletes it)",
				"unlink x: Deployment/web is in another namespace (a), which does not count; its other references stay unchanged (otherwise the garbage collector deletes it)",
			},
			[]string{"x: would be deleted even if it is repaired: its only owner, ConfigMap/waiting, is being deleted in the foreground and waits for its dependents"},
		},
		"the collector knows its owner by the wrong name, and may find it by another reference": {
			plan.RepairOptions{},
			[]Part{
				Listing(
					ConfigMap("a/held", Terminating("x/y", object.ForegroundFinalizer)), Secret("a/mid", OwnedBy(ConfigMap("a/held"))),
					Pod("a/wrong", Owned(To(Secret("a/mid"), Named("other")))), Pod("a/x", OwnedBy(Secret("a/mid"))),
				),
				Absent("v1", "Secret", "a/other"),
			},
			[]string{},
			[]string{"wrong: is not repaired: the garbage collector might then find Secret/mid, and delete it because of its own owners"},
		},
		"others are repaired, and it goes for certain only if it is repaired, too": {
			plan.RepairOptions{},
			[]Part{
				Listing(ConfigMap("a/x"), Node("y", Foreground()), Node("x", OwnedBy(ConfigMap("a/x"), Node("y"))), Role("a/x", Owned(To(Node("x"), WithUID("before"))))),
			},
			[]string{"relink x: Node/x was replaced by a new one: the reference gets its UID (otherwise the garbage collector deletes it)"},
			[]string{
				"x: is not repaired: the garbage collector keeps it now, but would delete it after a partial repair",
				"x: may be deleted even if it is repaired: it depends on what happens to Node/x",
			},
		},
		"two would let go of each other, one of which goes only if the other stays": {
			plan.RepairOptions{},
			[]Part{
				Listing(Deployment("a/web", OwnedBy(Secret("b/x"), waiting), WithFinalizers("orphan")), Secret("b/x", OwnedBy(web), WithFinalizers("orphan")), waiting),
				Absent("v1", "Secret", "a/x"), Absent("apps/v1", "Deployment", "b/web"), Unlisted("pods"),
			},
			[]string{
				"unlink web: Secret/x is in another namespace (b), which does not count; its other references stay unchanged (otherwise the garbage collector deletes it)",
				"unlink x: Deployment/web is in another namespace (a), which does not count; the object then has no owner and stays (otherwise the garbage collector deletes it)",
			},
			[]string{"web: would be deleted because other objects are repaired, even if it is not: its only owner, ConfigMap/waiting, is being deleted in the foreground and waits for its dependents; its own dependents stay (finalizer orphan)"},
		},
		"the new owner goes, which is not to be mended": {
			plan.RepairOptions{Causes: []collector.Cause{collector.CauseReplaced}},
			[]Part{Listing(Secret("a/x", Owned(stale)), Deployment("a/web", OwnedBy(gone))), absent},
			[]string{"relink x: Deployment/web was replaced by a new one: the reference gets its UID (otherwise the garbage collector deletes it)"},
			[]string{"x: would be deleted even if it is repaired: its only owner, Deployment/web, is deleted before it"},
		},
		"the new owner goes with its own one, and takes it along if it is processed first": {
			plan.RepairOptions{Causes: []collector.Cause{collector.CauseReplaced}},
			[]Part{Listing(Secret("a/x", Owned(stale)), Deployment("a/web", OwnedBy(waiting), WithFinalizers("orphan")), waiting), absent},
			[]string{"relink x: Deployment/web was replaced by a new one: the reference gets its UID (otherwise the garbage collector deletes it)"},
			[]string{"x: may be deleted even if it is repaired: it depends on what happens to Deployment/web"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := repairOf(c.options, c.seen...)
			if diff := cmp.Diff(c.steps, told(p)); diff != "" {
				t.Errorf("steps (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.blocked, blockedOf(p)); diff != "" {
				t.Errorf("blocked (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRepairRemovesSelectedReferences(t *testing.T) {
	named := func(owners ...object.Object) plan.RepairOptions {
		o := plan.RepairOptions{Named: true, Fix: repair.Unlink, Within: func(n graph.Node) bool { return n == 1 }}
		for _, owner := range owners {
			o.References = append(o.References, owner.UID)
		}
		return o
	}
	// The second listed object is repaired.
	for name, c := range map[string]struct {
		options plan.RepairOptions
		seen    []object.Object
		steps   []string
		blocked []string
	}{
		"of a circle": {
			named(ConfigMap("a/stays")),
			[]object.Object{ConfigMap("a/stays", OwnedBy(Secret("a/x"))), Secret("a/x", OwnedBy(stays))},
			[]string{"unlink x: ConfigMap/stays exists, but you chose to remove this reference; the object then has no owner and stays"},
			[]string{},
		},
		"of an object that owns itself": {
			named(Secret("a/x")),
			[]object.Object{stays, Secret("a/x", OwnedBy(stays, Secret("a/x")))},
			[]string{"unlink x: Secret/x exists, but you chose to remove this reference; ConfigMap/stays remains"},
			[]string{},
		},
		"of a circle that is being deleted and waits for itself": {
			named(ConfigMap("a/stays")),
			[]object.Object{
				ConfigMap("a/stays", Owned(To(Secret("a/x"), Blocking)), Foreground()), Secret("a/x", Owned(To(stays, Blocking)), Foreground()),
			},
			[]string{"unlink x: ConfigMap/stays is being deleted in the foreground and waits for its dependents, but you chose to remove this reference; its own deletion continues; so the deletion of ConfigMap/stays can complete"},
			[]string{},
		},
		"where the other owner is gone": {
			named(stays),
			[]object.Object{stays, Secret("a/x", OwnedBy(stays, gone))},
			[]string{},
			[]string{"x: is not repaired: the garbage collector keeps it now, but would delete it after a partial repair"},
		},
		"that it does not have": {
			named(web), []object.Object{stays, Secret("a/x", OwnedBy(stays))}, []string{}, []string{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := repairOf(c.options, Listing(c.seen...), absent)
			if diff := cmp.Diff(c.steps, told(p)); diff != "" {
				t.Errorf("steps (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.blocked, blockedOf(p)); diff != "" {
				t.Errorf("blocked (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRepairOptions(t *testing.T) {
	seen := []Part{Listing(
		Secret("a/dead", OwnedBy(gone)), Secret("a/old", Owned(To(web, beta))), Secret("a/stale", Owned(stale)), Secret("b/dead", OwnedBy(ConfigMap("b/gone"))), web,
	), absent, Absent("v1", "ConfigMap", "b/gone")}
	g := graph.New(New(seen...))
	for name, c := range map[string]struct {
		options plan.RepairOptions
		want    []string
	}{
		"everything":          {plan.RepairOptions{}, []string{"unlink a/dead", "update-version a/old", "relink a/stale", "unlink b/dead"}},
		"only relink":         {plan.RepairOptions{Fix: repair.Relink}, []string{"relink a/stale"}},
		"only update-version": {plan.RepairOptions{Fix: repair.UpdateVersion}, []string{"update-version a/old"}},
		"only unlink":         {plan.RepairOptions{Fix: repair.Unlink}, []string{"unlink a/dead", "unlink a/stale", "unlink b/dead"}},
		"only one cause":      {plan.RepairOptions{Causes: []collector.Cause{collector.CauseMissing}}, []string{"unlink a/dead", "unlink b/dead"}},
		"only some objects":   {plan.RepairOptions{Within: func(n graph.Node) bool { return g.Object(n).Namespace == "b" }}, []string{"unlink b/dead"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := []string{}
			for _, s := range plan.NewRepair(collector.NewJudge(g), c.options).Steps {
				got = append(got, fmt.Sprintf("%s %s/%s", s.Action, s.Object.Namespace, s.Object.Name))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("steps (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRepairStepsNameOldAndNewReferences(t *testing.T) {
	p := repairOf(plan.RepairOptions{}, absent, Listing(Secret("a/x", Owned(To(gone), To(web, WithUID("before"), Controlling))), web))
	var got []string
	for _, s := range p.Steps {
		for _, r := range s.References {
			line := fmt.Sprintf("%s after %v: %s %s controls %v", s.Action, s.After, r.Name, r.UID, r.Controls())
			if r.Becomes != nil {
				line += fmt.Sprintf(", becomes %s controls %v", r.Becomes.UID, r.Becomes.Controls())
			}
			got = append(got, line)
		}
	}
	want := []string{
		"relink after []: web before controls true, becomes Deployment/a/web controls true",
		"unlink after [1]: gone ConfigMap/a/gone controls false",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("references (-want +got):\n%s", diff)
	}
	if s := p.Summary(); s.Relink != 1 || s.Unlink != 1 || len(p.Outcomes) != 1 || p.Outcomes[0].WithoutRepair != collector.ConsequenceDelete {
		t.Errorf("summary %+v, outcomes %+v", s, p.Outcomes)
	}
}

func TestRepairOfSolidReferencesInOutdatedVersions(t *testing.T) {
	role := Role("a/role")
	seen := []Part{Listing(Secret("a/x", Owned(To(role, As("rbac.authorization.k8s.io/v1beta1", "Role")))), Secret("a/y", Owned(stale)), role, web)}
	outdated := "update-version x: rbac.authorization.k8s.io/v1beta1 is not the preferred version: the reference to Role/role becomes rbac.authorization.k8s.io/v1"
	relink := "relink y: Deployment/web was replaced by a new one: the reference gets its UID (otherwise the garbage collector deletes it)"
	for name, c := range map[string]struct {
		options plan.RepairOptions
		want    []string
	}{
		"they are left alone":               {plan.RepairOptions{}, []string{relink}},
		"unless only that fix is asked for": {plan.RepairOptions{Fix: repair.UpdateVersion}, []string{outdated}},
		"or only such references":           {plan.RepairOptions{Causes: []collector.Cause{collector.CauseNone}}, []string{outdated}},
		"another fix does not change them":  {plan.RepairOptions{Causes: []collector.Cause{collector.CauseNone}, Fix: repair.Unlink}, nil},
		"other references are no reason":    {plan.RepairOptions{Causes: []collector.Cause{collector.CauseReplaced}, Fix: repair.UpdateVersion}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, s := range repairOf(c.options, seen...).Steps {
				got = append(got, string(s.Action)+" "+s.Object.Name+": "+s.Reason.Message())
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
