package simulate_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector/collectortest"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

func TestSimulate(t *testing.T) {
	waiting := st.ConfigMap("a/waiting", st.Foreground())
	orphaning := st.ConfigMap("a/orphaning", st.Terminating(collectortest.Orphan))
	gone := st.ConfigMap("a/gone")
	child := st.Secret("a/child")
	block := func(owner object.Object) st.Option { return st.Owned(st.To(owner, st.Blocking)) }

	run(t, []scenario{
		{
			name: "an object with a foreign finalizer stops the cascade", seen: listing(st.Secret("a/child", st.OwnedBy(gone), st.WithFinalizers("x/y")), st.Pod("a/grandchild", st.OwnedBy(child))),
			moves: []string{"1 delete child Background"}, left: []string{"child terminating x/y"}, stuck: []string{"child: child held"},
		},
		{
			name: "a foreground deletion goes down to the last dependent and comes up again",
			seen: listing(waiting, st.Secret("a/child", block(waiting)), st.Pod("a/grandchild", block(child))),
			moves: []string{
				"1 delete child Foreground", "2 delete grandchild Background",
				"3 remove-finalizer child foregroundDeletion", "4 remove-finalizer waiting foregroundDeletion",
			},
			left: []string{"child gone", "grandchild gone", "waiting gone"},
		},
		{
			name: "what was orphaned and has no other owner that lives goes", seen: listing(orphaning, st.Secret("a/child", st.OwnedBy(orphaning, gone))),
			moves: []string{"1 unlink child orphaning", "1 delete child Background", "1 remove-finalizer orphaning orphan"}, left: []string{"child gone", "orphaning gone"},
		},
		{
			name:  "every reference with the UID of an orphaning owner goes, whatever else it says, also of what cannot be judged",
			seen:  listing(orphaning, st.Secret("b/child", st.OwnedBy(orphaning), st.Owned(st.To(gone, st.As("v1", "Foo"))))),
			moves: []string{"1 unlink child orphaning", "1 remove-finalizer orphaning orphan"}, left: []string{"child unlinked", "orphaning gone"},
		},
		{
			name:  "what goes anyway goes before the owner that would orphan it is deleted",
			seen:  listing(st.ConfigMap("a/o", st.OwnedBy(gone), st.WithFinalizers(collectortest.Orphan)), st.Secret("b/child", st.OwnedBy(st.ConfigMap("a/o")))),
			moves: []string{"1 delete child Background", "1 delete o Orphan", "2 remove-finalizer o orphan"}, left: []string{"child gone", "o gone"},
		},
		{
			name:  "so does what would orphan, too",
			seen:  listing(st.ConfigMap("a/o", st.OwnedBy(gone), st.WithFinalizers(collectortest.Orphan)), st.Secret("b/child", st.OwnedBy(st.ConfigMap("a/o")), st.WithFinalizers(collectortest.Orphan))),
			moves: []string{"1 delete child Orphan", "1 delete o Orphan", "2 unlink child o", "2 remove-finalizer o orphan", "2 remove-finalizer child orphan"},
			left:  []string{"child gone", "o gone"},
		},
		{
			name: "and what has to be unblocked before it goes",
			seen: listing(st.ConfigMap("a/o", st.OwnedBy(gone), st.WithFinalizers(collectortest.Orphan)), st.ConfigMap("b/waiting", st.Foreground(), st.OwnedBy(st.Secret("b/child"))),
				st.Secret("b/child", block(st.ConfigMap("b/waiting")), st.OwnedBy(st.ConfigMap("a/o")))),
			moves: []string{
				"1 unblock child waiting", "2 remove-finalizer waiting foregroundDeletion", "2 delete child Background", "2 delete o Orphan",
				"3 remove-finalizer o orphan",
			},
			left: []string{"child gone", "o gone", "waiting gone"},
		},
		{
			name: "a cycle that a dependent in foreground deletion may have closed is broken, even if foreign finalizers hold that dependent by then",
			seen: listing(st.ConfigMap("a/o", st.OwnedBy(gone), st.WithFinalizers(collectortest.Foreground)), st.Secret("a/child", block(st.ConfigMap("a/o"))), st.Pod("a/grandchild", st.OwnedBy(child), st.Terminating("x/y", collectortest.Foreground))),
			moves: []string{
				"1 delete o Foreground", "1 remove-finalizer grandchild foregroundDeletion", "2 unblock child o",
				"3 delete child Foreground", "3 remove-finalizer o foregroundDeletion", "4 remove-finalizer child foregroundDeletion",
			},
			left: []string{"child gone", "grandchild terminating x/y", "o gone"}, stuck: []string{"grandchild: grandchild held"},
		},
		{
			name:  "who begins after that knows of no foreground deletion, and breaks nothing",
			seen:  listing(waiting, st.Secret("a/child", block(waiting)), st.Pod("a/grandchild", st.OwnedBy(child), st.Terminating("x/y"))),
			moves: []string{"1 delete child Foreground", "2 remove-finalizer child foregroundDeletion", "3 remove-finalizer waiting foregroundDeletion"},
			left:  []string{"child gone", "grandchild terminating x/y", "waiting gone"}, stuck: []string{"grandchild: grandchild held"},
		},
		{
			name: "a terminating dependent is orphaned too", seen: listing(orphaning, st.Secret("a/child", st.OwnedBy(orphaning), st.Terminating("x/y"))),
			moves: []string{"1 unlink child orphaning", "1 remove-finalizer orphaning orphan"}, left: []string{"child terminating x/y", "orphaning gone"}, stuck: []string{"child: child held"},
		},
		{
			name: "a Pod is stopped, and what depends on it goes thereafter", seen: listing(st.Pod("a/pod", st.OwnedBy(gone), st.Running()), st.Secret("a/child", st.OwnedBy(st.Pod("a/pod")))),
			moves: []string{"1 delete pod Background", "2 delete child Background"}, left: []string{"child gone", "pod gone"},
		},
		{
			name: "a Pod that was stopping when it was seen is not waited for", seen: listing(st.Pod("a/pod", st.InGracePeriod()), st.Secret("a/child", st.OwnedBy(st.Pod("a/pod")))),
			left: []string{"pod terminating"}, stuck: []string{"pod: pod stopping"},
		},
		{
			name:  "where not everything was seen what is proven goes, and no finalizer does",
			seen:  append(listing(waiting, st.Secret("a/child", st.OwnedBy(waiting)), st.Pod("a/lost", st.OwnedBy(gone))), st.Unreadable("nodes", snapshot.Forbidden)),
			moves: []string{"1 delete lost Background", "2 delete child Background"}, left: []string{"child gone", "lost gone", "waiting terminating foregroundDeletion"},
			stuck: []string{"waiting: waiting not all listed"},
		},
	})
}

// The policy matters if finalizers hold the object: only in foreground deletion does it
// wait for its dependents.
func TestIncompleteScanStartsForegroundDeletionOnlyOfWhatAnOwnerWaitsFor(t *testing.T) {
	waiting, gone := st.ConfigMap("a/waiting", st.Foreground()), st.ConfigMap("a/gone")
	late := st.ConfigMap("a/late", st.OwnedBy(gone), st.WithFinalizers(collectortest.Foreground))
	block := func(owner object.Object) st.Option { return st.Owned(st.To(owner, st.Blocking)) }
	grandchild := st.Pod("a/grandchild", st.OwnedBy(st.Secret("a/child")))
	part := func(objects ...object.Object) []st.Part {
		return append(listing(objects...), st.Unreadable("nodes", snapshot.Forbidden))
	}
	const unreleased, unseen = "waiting terminating foregroundDeletion", "waiting: waiting not all listed"
	run(t, []scenario{
		{
			name: "what goes at once goes at once", seen: part(waiting, grandchild, st.Secret("a/child", block(waiting))),
			moves: []string{"1 delete child Background", "2 delete grandchild Background"}, left: []string{"child gone", "grandchild gone", unreleased}, stuck: []string{unseen},
		},
		{
			name: "what a foreign finalizer holds takes its dependents along", seen: part(waiting, grandchild, st.Secret("a/child", block(waiting), st.WithFinalizers("x/y"))),
			moves: []string{"1 delete child Foreground", "2 delete grandchild Background"}, left: []string{"child terminating x/y,foregroundDeletion", "grandchild gone", unreleased},
			stuck: []string{"child: child not all listed", "waiting: child not all listed"},
		},
		{
			name: "so does what would orphan them", seen: part(waiting, grandchild, st.Secret("a/child", block(waiting), st.WithFinalizers(collectortest.Orphan))),
			moves: []string{"1 delete child Foreground", "2 delete grandchild Background"}, left: []string{"child terminating foregroundDeletion", "grandchild gone", unreleased},
			stuck: []string{"child: child not all listed", "waiting: child not all listed"},
		},
		{
			name: "not where an owner that waited before may go first", seen: part(waiting, grandchild, st.Secret("a/child", st.OwnedBy(waiting), st.WithFinalizers("x/y"))),
			moves: []string{"2 delete child Background"}, left: []string{"child terminating x/y", unreleased}, stuck: []string{"child: child held", unseen},
		},
		{
			name: "one that begins to wait goes after all that it has", seen: part(late, grandchild, st.Secret("a/child", st.OwnedBy(late), st.WithFinalizers("x/y"))),
			moves: []string{"1 delete late Foreground", "2 delete child Foreground", "3 delete grandchild Background"},
			left:  []string{"child terminating x/y,foregroundDeletion", "grandchild gone", "late terminating foregroundDeletion"},
			stuck: []string{"child: child not all listed", "late: late not all listed"},
		},
	})
}

func TestSimulateRespectsBounds(t *testing.T) {
	gone := st.ConfigMap("a/gone")
	waiting := st.ConfigMap("a/waiting", st.Foreground())
	orphaning := st.ConfigMap("a/orphaning", st.Terminating(collectortest.Orphan))
	namespace := func(name string) func(*object.Object) bool {
		return func(o *object.Object) bool { return o.Namespace == name }
	}
	for _, test := range []struct {
		name          string
		objects       []object.Object
		roots, within func(*object.Object) bool
		want, stuck   []string
	}{
		{
			name: "what is no root goes with what is", objects: []object.Object{st.Node("n", st.OwnedBy(st.Node("gone"))), st.Secret("a/child", st.OwnedBy(st.Node("n"))), st.Secret("a/lost", st.OwnedBy(gone))},
			roots: namespace(""), want: []string{"1 delete n Background", "2 delete child Background"},
		},
		{
			name: "what lies outside is not touched", objects: []object.Object{st.Node("n", st.OwnedBy(st.Node("gone"))), st.Secret("a/child", st.OwnedBy(st.Node("n"))), st.Secret("b/child", st.OwnedBy(st.Node("n")))},
			within: func(o *object.Object) bool { return o.Namespace != "a" }, want: []string{"1 delete n Background", "2 delete child Background"},
		},
		{
			name: "a blocker that lies outside holds up its owner", objects: []object.Object{waiting, st.Secret("b/child", st.Owned(st.To(waiting, st.Blocking)))},
			within: namespace("a"), want: nil, stuck: []string{"waiting: child out of bounds"},
		},
		{
			name: "an owner is not released while a dependent outside is not orphaned", objects: []object.Object{orphaning, st.Secret("a/child", st.OwnedBy(orphaning)), st.Secret("b/child", st.OwnedBy(orphaning))},
			within: namespace("a"), want: []string{"1 unlink child orphaning"}, stuck: []string{"orphaning: orphaning nothing blocks"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := modelOf(st.New(st.Listing(test.objects...)))
			bound := func(is func(*object.Object) bool) func(graph.Node) bool {
				if is == nil {
					return nil
				}
				return func(n graph.Node) bool { return is(m.Graph().Object(n)) }
			}
			c := simulate.RunFrom(m, simulate.Bounds{Roots: bound(test.roots), Within: bound(test.within)})
			compare(t, "moves", test.want, describe(c))
			compare(t, "stuck", test.stuck, stuck(c))
		})
	}
}

func TestSimulateStartsFromThePresentState(t *testing.T) {
	owner := st.Secret("a/owner")
	m := modelOf(st.New(st.Listing(owner, st.Pod("a/child", st.OwnedBy(owner)))))
	m.Apply(m.Graph().Find(owner.UID), collector.Decision{Action: collector.ActionDelete, Policy: metav1.DeletePropagationBackground})
	compare(t, "moves", []string{"1 delete child Background"}, describe(simulate.RunFrom(m, simulate.Bounds{})))
	compare(t, "moves of a second pass", nil, describe(simulate.RunFrom(m, simulate.Bounds{})))
}

func TestTransitionPrerequisitesAndCause(t *testing.T) {
	waiting := st.ConfigMap("a/waiting", st.Foreground())
	child := st.Secret("a/child", st.Owned(st.To(waiting, st.Blocking)))
	c := simulateAll(st.New(st.Listing(waiting, child, st.Pod("a/grandchild", st.OwnedBy(child)), st.Pod("a/lost", st.OwnedBy(st.Pod("a/gone"))))))
	compare(t, "moves", []string{
		"1 delete lost Background", "1 delete child Foreground", "2 delete grandchild Background",
		"2 remove-finalizer child foregroundDeletion", "3 remove-finalizer waiting foregroundDeletion",
	}, describe(c))
	for i, want := range []struct {
		after   []int
		follows int
	}{{nil, -1}, {nil, -1}, {[]int{1}, 1}, {[]int{1, 2}, 1}, {[]int{3}, -1}} {
		if m := c.Transitions[i]; len(m.Prerequisites) != len(want.after) || m.CausedBy != want.follows {
			t.Errorf("move %d comes after %v and follows %d, want %v and %d", i, m.Prerequisites, m.CausedBy, want.after, want.follows)
		}
	}
}
