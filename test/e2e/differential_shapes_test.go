package e2e

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// A collector that begins while a foreground deletion is under way looks at the
// dependents that block it, and at those of which it happens to hear before it
// hears of the owner; the others wait for the owner's end. So its ends are more
// than one. Of these, collect comes to the one that leaves the least behind and
// respects what the objects themselves ask for.
func TestDifferentialWhereTheRealCollectorBeginsLate(t *testing.T) {
	for _, c := range []struct {
		name string
		// act creates objects and deletes some.
		act         func(s *scene, ns string) []object
		ours, other []string
	}{
		{
			name: "L14 an owner waits for ever, and a dependent does not block it",
			act: func(s *scene, ns string) []object {
				owner := s.create(configMap(ns, "owner"))
				out := []object{
					owner,
					s.create(configMap(ns, "dependent", ownedBy(to(owner)))),
					s.create(configMap(ns, "held", ownedBy(to(owner, blocking)), heldBy(hold))),
				}
				s.remove(owner, foreground)
				return out
			},
			ours:  []string{"owner is terminating, held by foregroundDeletion", "dependent is gone", "held is terminating, held by " + hold + ", owned by owner"},
			other: []string{"owner is terminating, held by foregroundDeletion", "dependent, owned by owner", "held is terminating, held by " + hold + ", owned by owner"},
		},
		{
			name: "L9 nothing blocks the owner, and its dependent asks to let go of its own",
			act: func(s *scene, ns string) []object {
				owner := s.create(configMap(ns, "owner"))
				dependent := s.create(configMap(ns, "dependent", ownedBy(to(owner)), heldBy(metav1.FinalizerOrphanDependents)))
				out := []object{owner, dependent, s.create(configMap(ns, "below", ownedBy(to(dependent))))}
				s.remove(owner, foreground)
				return out
			},
			ours:  []string{"owner is gone", "dependent is gone", "below"},
			other: []string{"owner is gone", "dependent is gone", "below is gone"},
		},
		{
			name: "L19 a circle of three: nothing blocks one, and what another would wait for is held",
			act: func(s *scene, ns string) []object {
				one, two, held := s.create(configMap(ns, "one")), s.create(configMap(ns, "two")), s.create(configMap(ns, "held", heldBy(hold)))
				s.own(one, to(held, blocking))
				s.own(two, to(one))
				s.own(held, to(two, blocking))
				s.remove(one, foreground)
				s.remove(held, foreground)
				return []object{one, two, held}
			},
			ours:  []string{"one is gone", "two is gone", "held is terminating, held by " + hold + ", owned by two"},
			other: []string{"one is gone", "two is terminating, held by foregroundDeletion, owned by one", "held is terminating, held by " + hold + ", owned by two"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			objects := c.act(s, s.namespace("late"))
			s.tool().collect("--no-backup")
			if diff := cmp.Diff(c.ours, s.became(objects...)); diff != "" {
				t.Errorf("collect (-want +got)\n%s", diff)
			}

			s = opposite(t)
			ns := s.namespace("late")
			objects = c.act(s, ns)
			s.switched(testcluster.On)
			defer s.switched(testcluster.Absent)
			for range 3 {
				s.afterASentinel(ns)
			}
			if got := s.became(objects...); !slices.Equal(c.ours, got) && !slices.Equal(c.other, got) {
				t.Errorf("the real collector comes to yet another end: %q", got)
			}
		})
	}
}

// The same as the first of these, but the real collector sees the deletion begin.
func TestDifferentialWhereTheRealCollectorSeesTheDeletionBegin(t *testing.T) {
	s := opposite(t)
	ns := s.namespace("seen")
	owner := s.create(configMap(ns, "owner"))
	dependent := s.create(configMap(ns, "dependent", ownedBy(to(owner))))
	held := s.create(configMap(ns, "held", ownedBy(to(owner, blocking)), heldBy(hold)))
	s.switched(testcluster.On)
	defer s.switched(testcluster.Absent)
	s.afterASentinel(ns)
	s.remove(owner, foreground)
	for range 3 {
		s.afterASentinel(ns)
	}
	want := []string{"dependent is gone", "held is terminating, held by " + hold + ", owned by owner"}
	if diff := cmp.Diff(want, s.became(dependent, held)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
