package e2e

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// A collector that starts during a foreground deletion processes the dependents that block the
// owner, and those whose event it receives before the owner's. The others wait until
// the owner is gone. So its result is nondeterministic. Of the possible results, collect must
// reach the one that leaves the least garbage and respects the finalizers of the objects.
func TestDifferentialWithCollectorStartedDuringDeletion(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		// create creates objects and deletes some of them.
		act         func(s *scene, ns string) []object
		ours, other []string
	}{
		{
			name: "L14 an owner waits for ever, and a dependent does not block it",
			act: func(s *scene, ns string) []object {
				owner := s.create(configMap(ns, "owner"))
				out := []object{
					owner,
					s.create(configMap(ns, "dependent", ownedBy(referenceTo(owner)))),
					s.create(configMap(ns, "held", ownedBy(referenceTo(owner, blocking)), heldBy(hold))),
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
				dependent := s.create(configMap(ns, "dependent", ownedBy(referenceTo(owner)), heldBy(metav1.FinalizerOrphanDependents)))
				out := []object{owner, dependent, s.create(configMap(ns, "below", ownedBy(referenceTo(dependent))))}
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
				s.setOwners(one, referenceTo(held, blocking))
				s.setOwners(two, referenceTo(one))
				s.setOwners(held, referenceTo(two, blocking))
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
			if diff := cmp.Diff(c.ours, s.states(objects...)); diff != "" {
				t.Errorf("collect (-want +got)\n%s", diff)
			}

			s = withRealCollector.newScene(t)
			ns := s.namespace("late")
			objects = c.act(s, ns)
			s.switchCollector(testcluster.On)
			defer s.switchCollector(testcluster.Absent)
			for range 3 {
				s.awaitSentinel(ns)
			}
			if got := s.states(objects...); !slices.Equal(c.ours, got) && !slices.Equal(c.other, got) {
				t.Errorf("the real collector comes to yet another end: %q", got)
			}
		})
	}
}
