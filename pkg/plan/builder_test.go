package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	. "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

func planOf(parts ...Part) *plan.Plan {
	return plan.New(collector.NewJudge(graph.New(New(parts...))), plan.CollectPurpose(nil))
}

// told returns a line per step: action, object and reason.
func told(p *plan.Plan) []string {
	out := []string{}
	for _, s := range p.Steps {
		out = append(out, fmt.Sprintf("%s %s: %s", s.Action, s.Object.Name, s.Reason.Message()))
	}
	return out
}

var (
	gone    = ConfigMap("a/gone")
	stays   = ConfigMap("a/stays")
	waiting = ConfigMap("a/waiting", Foreground())
	absent  = Absent("v1", "ConfigMap", "a/gone")
)

func TestStepReasons(t *testing.T) {
	for name, c := range map[string]struct {
		seen []Part
		want []string
	}{
		"the only owner is gone": {
			[]Part{Listing(Secret("a/x", OwnedBy(gone))), absent},
			[]string{"delete x: its only owner, ConfigMap/gone, does not exist"},
		},
		"the only owner was replaced": {
			[]Part{Listing(Secret("a/x", Owned(To(stays, WithUID("old")))), stays)},
			[]string{"delete x: its only owner, ConfigMap/stays, was replaced by a new object with the same name"},
		},
		"the only owner lives in another namespace": {
			[]Part{Listing(Secret("b/x", OwnedBy(stays)), stays), Absent("v1", "ConfigMap", "b/stays")},
			[]string{"delete x: its only owner, ConfigMap/stays, is in another namespace (a), which does not count"},
		},
		"the UID belongs to another": {
			[]Part{Listing(Secret("a/x", Owned(To(stays, Named("gone")))), stays), absent},
			[]string{"delete x: its only owner, ConfigMap/gone, is named with the UID of ConfigMap/stays"},
		},
		"none of several owners is left": {
			[]Part{Listing(Secret("a/x", Owned(To(gone), To(waiting))), waiting), absent},
			[]string{
				"remove-finalizer waiting: nothing blocks its foreground deletion anymore",
				"delete x: no owner is left: ConfigMap/gone does not exist; ConfigMap/waiting is deleted before it",
			},
		},
		"one owner keeps it": {
			[]Part{Listing(Secret("a/x", OwnedBy(gone, stays)), stays), absent},
			[]string{"unlink x: ConfigMap/gone does not exist; ConfigMap/stays remains"},
		},
		"a good reference shares its UID with a bad one": {
			[]Part{Listing(Secret("a/x", Owned(To(stays, Named("gone")), To(stays))), stays), absent},
			[]string{"unlink x: ConfigMap/gone is named with the UID of ConfigMap/stays; ConfigMap/stays remains (the cluster's garbage collector would also remove the valid reference with the same UID)"},
		},
		"the owner is deleted first": {
			[]Part{Listing(Secret("a/x", OwnedBy(gone)), Pod("a/y", OwnedBy(Secret("a/x")))), absent},
			[]string{"delete x: its only owner, ConfigMap/gone, does not exist", "delete y: its only owner, Secret/x, is deleted before it"},
		},
		"the owner lets go of its dependents": {
			[]Part{Listing(ConfigMap("a/o", Terminating(object.OrphanFinalizer)), Secret("a/x", OwnedBy(ConfigMap("a/o"))))},
			[]string{
				"unlink x: its owner ConfigMap/o is being deleted and orphans its dependents",
				"remove-finalizer o: no dependent refers to it anymore: its deletion can complete",
			},
		},
		"its finalizer asks that its dependents stay": {
			[]Part{Listing(Secret("a/x", OwnedBy(gone), WithFinalizers(object.OrphanFinalizer)), Pod("a/y", OwnedBy(Secret("a/x")))), absent},
			[]string{
				"delete x: its only owner, ConfigMap/gone, does not exist; its own dependents stay (finalizer orphan)",
				"unlink y: its owner Secret/x is being deleted and orphans its dependents",
				"remove-finalizer x: no dependent refers to it anymore: its deletion can complete",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, told(planOf(c.seen...))); diff != "" {
				t.Errorf("steps (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOutcomes(t *testing.T) {
	p := planOf(absent, Listing(
		stays,
		Secret("a/goes", OwnedBy(gone)),
		Secret("a/held", OwnedBy(gone), WithFinalizers("x/y")),
		Secret("a/unlinked", OwnedBy(gone, stays)),
		waiting, Pod("a/blocker", Owned(To(waiting, Blocking)), WithFinalizers("x/z")),
	))
	var got []string
	for _, o := range p.Outcomes {
		got = append(got, strings.TrimSpace(fmt.Sprintf("%s %s %s", o.Object.Name, o.State, strings.Join(o.WaitsFor, " "))))
	}
	want := []string{"blocker terminating x/z", "goes deleted", "held terminating x/y", "unlinked changed"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("outcomes (-want +got):\n%s", diff)
	}
}

func TestBlocked(t *testing.T) {
	ring := func(name, other string) object.Object {
		return ConfigMap("a/"+name, Foreground(), Owned(To(ConfigMap("a/"+other), Blocking)))
	}
	for name, c := range map[string]struct {
		seen []Part
		want []string
	}{
		"a finalizer of somebody else": {
			[]Part{Listing(waiting, Secret("a/x", Owned(To(waiting, Blocking)), Terminating("x/y")))},
			[]string{"waiting [x]: is blocked by Secret/x, which has been held by x/y for 60s"},
		},
		"a finalizer at the end of a chain": {
			[]Part{Listing(
				waiting, Secret("a/x", Owned(To(waiting, Blocking)), Foreground()),
				Pod("a/y", Owned(To(Secret("a/x"), Blocking)), Terminating("x/y")),
			)},
			[]string{
				"waiting [x]: is blocked by Secret/x (root cause: Pod/y has been held by x/y for 60s)",
				"x [y]: is blocked by Pod/y, which has been held by x/y for 60s",
			},
		},
		"a Pod that should have stopped": {
			[]Part{Listing(waiting, Pod("a/x", Owned(To(waiting, Blocking)), InGracePeriod()))},
			[]string{"waiting [x]: is blocked by Pod/x, which has been past its grace period for 60s: its kubelet has not confirmed that it stopped, so its node may be down or gone"},
		},
		"a circle, all deleted in the foreground": {
			[]Part{Listing(ring("one", "two"), ring("two", "one"))},
			[]string{
				"one [two]: waits in a cycle: each object in it waits for another, or itself, to be deleted first (foreground)",
				"two [one]: is blocked by ConfigMap/one, which waits in a cycle: each object in it waits for another, or itself, to be deleted first (foreground)",
			},
		},
		"a reference that cannot be judged, of a dependent": {
			[]Part{Listing(waiting, Secret("a/x", Owned(To(waiting, Blocking), To(stays, As("old/v1", "Thing")))))},
			[]string{
				"waiting [x]: is blocked by Secret/x, which stays until old/v1 Thing is served: only then can the garbage collector resolve its owner Thing/stays",
				"x []: would lose an owner, but stays until old/v1 Thing is served: only then can the garbage collector resolve its owner Thing/stays",
			},
		},
		"a kind of lists, by which the cluster's own collector would delete": {
			[]Part{Listing(Secret("a/x", Owned(To(gone), To(Pod("a/p"), As("v1", "PodList"))))), absent},
			[]string{"x []: would lose an owner, but stays: its reference to PodList/p names a list kind, probably by mistake"},
		},
		"a type that could not be read": {
			[]Part{Listing(waiting), Unreadable("widgets.example.com", snapshot.Forbidden)},
			[]string{"waiting []: keeps its finalizer, because this tool could not list everything that may depend on it"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, b := range planOf(c.seen...).Blocked {
				var by []string
				for _, i := range b.By {
					by = append(by, i.Name)
				}
				got = append(got, fmt.Sprintf("%s %v: %s", b.Object.Name, by, b.Reason.Message()))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("blocked (-want +got):\n%s", diff)
			}
		})
	}
}
