package collector_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	. "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// courseOf simulates a pass over a snapshot.
func courseOf(s *snapshot.Snapshot) *collector.Course {
	g := graph.New(s)
	return collector.NewModel(g, collector.NewJudge(g)).Simulate(collector.Bounds{})
}

// said is each move in a line: its pass, its act and its object, and how.
func said(c *collector.Course) []string {
	out := []string{}
	for _, m := range c.Moves {
		line := fmt.Sprintf("%d %s %s", m.Pass, m.Act, m.Before.Name)
		switch m.Act {
		case collector.Remove:
			line += " " + string(m.Policy)
		case collector.FreeFinalizer:
			line += " " + m.Change.Release
		case collector.Detach:
			line += " " + names(m.Before, m.Change.Drop)
		case collector.Unblock:
			line += " " + names(m.Before, m.Change.Unblock)
		}
		out = append(out, line)
	}
	return out
}

func names(o *object.Object, of []int) string {
	var out []string
	for _, i := range of {
		out = append(out, o.Owners[i].Name)
	}
	return strings.Join(out, ",")
}

func TestSimulate(t *testing.T) {
	waiting := ConfigMap("a/waiting", Foreground())
	held := ConfigMap("a/waiting", Terminating(object.ForegroundFinalizer, "x/y"))
	orphaning := ConfigMap("a/orphaning", Terminating(object.OrphanFinalizer))
	gone := ConfigMap("a/gone")
	stays := ConfigMap("a/stays")
	one := ConfigMap("a/one", Owned(To(Secret("a/two"), Blocking)), Foreground())
	two := Secret("a/two", Owned(To(ConfigMap("a/one"), Blocking)))

	for name, c := range map[string]struct {
		objects []object.Object
		want    []string
	}{
		"an object whose owner is missing goes, and its dependents with it": {
			[]object.Object{Secret("a/child", OwnedBy(gone)), Pod("a/grandchild", OwnedBy(Secret("a/child")))},
			[]string{"1 delete child Background", "2 delete grandchild Background"},
		},
		"one solid owner keeps an object, which loses the others": {
			[]object.Object{stays, Secret("a/child", OwnedBy(gone, stays))},
			[]string{"1 unlink child gone"},
		},
		"an owner in foreground deletion is released after what blocks it": {
			[]object.Object{waiting, Secret("a/child", Owned(To(waiting, Blocking)))},
			[]string{"1 delete child Background", "2 remove-finalizer waiting foregroundDeletion"},
		},
		"L14: dependents that do not block go before their owner is released": {
			[]object.Object{held, Secret("a/child", OwnedBy(held))},
			[]string{"1 delete child Background", "1 remove-finalizer waiting foregroundDeletion"},
		},
		"L6: an orphaned dependent loses its reference, and its owner is released": {
			[]object.Object{orphaning, Secret("a/child", OwnedBy(orphaning)), Pod("a/grandchild", OwnedBy(Secret("a/child")))},
			[]string{"1 unlink child orphaning", "1 remove-finalizer orphaning orphan"},
		},
		"what was orphaned and has no other owner that lives goes": {
			[]object.Object{orphaning, Secret("a/child", OwnedBy(orphaning, gone))},
			[]string{"1 unlink child orphaning", "1 delete child Background", "1 remove-finalizer orphaning orphan"},
		},
		"L19: a circle of two, one deleted in the foreground, is broken and goes": {
			[]object.Object{one, two},
			[]string{"1 unblock two one", "2 delete two Foreground", "2 remove-finalizer one foregroundDeletion", "3 remove-finalizer two foregroundDeletion"},
		},
		"L22: a circle that hangs on a missing owner only loses that reference": {
			[]object.Object{ConfigMap("a/one", OwnedBy(Secret("a/two"), gone)), Secret("a/two", OwnedBy(ConfigMap("a/one")))},
			[]string{"1 unlink one gone"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := said(courseOf(New(Listing(c.objects...), Absent("v1", "ConfigMap", "a/gone"))))
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("moves (-want +got):\n%s", diff)
			}
		})
	}
}
