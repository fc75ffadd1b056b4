package simulate_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector/collectortest"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// Scenarios that upstream does not test, but that follow from its rules. o is an owner, d its dependent, e the
// dependent of d.
func TestSimulateDerivedScenarios(t *testing.T) {
	type o = object.Object
	owner := func(with ...st.Option) o { return st.Secret("ns/o", with...) }
	missing := st.Secret("ns/missing")
	d := func(with ...st.Option) o { return st.ConfigMap("ns/d", with...) }
	e := func(with ...st.Option) o { return st.ConfigMap("ns/e", append(with, st.OwnedBy(d()))...) }
	child := st.OwnedBy(owner())
	blocker := st.Owned(st.To(owner(), st.Blocking))
	a := func(with ...st.Option) o { return st.Secret("ns/a", with...) }
	b := func(with ...st.Option) o { return st.Secret("ns/b", with...) }
	ofA, ofB := st.Owned(st.To(a(), st.Blocking)), st.Owned(st.To(b(), st.Blocking))
	do := func(moves ...string) []string { return moves }

	run(t, []scenario{
		{
			name: "L6 an owner orphans its dependents and goes", seen: listing(owner(st.Terminating(collectortest.Orphan)), d(blocker), e()),
			moves: do("1 unlink d o", "1 remove-finalizer o orphan"), left: do("d unlinked", "o gone"),
		},
		{
			name: "L7 with both finalizers an owner orphans first, and loses both", seen: listing(owner(st.Terminating(collectortest.Foreground, collectortest.Orphan)), d(blocker)),
			moves: do("1 unlink d o", "1 remove-finalizer o orphan", "2 remove-finalizer o foregroundDeletion"), left: do("d unlinked", "o gone"),
		},
		{
			name: "L7 and where not everything was seen it does nothing to them", seen: append(listing(owner(st.Terminating(collectortest.Foreground, collectortest.Orphan)), d(blocker)), st.Unlisted("pods")),
			left: do("o terminating foregroundDeletion,orphan"), stuck: do("o: o not all listed"),
		},
		{
			name: "L8 a dependent without dependents follows its own orphan finalizer", seen: listing(owner(st.Foreground()), d(blocker, st.WithFinalizers(collectortest.Orphan))),
			moves: do("1 delete d Orphan", "2 remove-finalizer d orphan", "3 remove-finalizer o foregroundDeletion"), left: do("d gone", "o gone"),
		},
		{
			name: "L9 one with dependents does not", seen: listing(owner(st.Foreground()), d(blocker, st.WithFinalizers(collectortest.Orphan)), e()),
			moves: do("1 delete d Foreground", "2 delete e Background", "2 remove-finalizer d foregroundDeletion", "3 remove-finalizer o foregroundDeletion"),
			left:  do("d gone", "e gone", "o gone"),
		},
		{
			name: "L10 one whose owners are missing goes in the background, whatever depends on it", seen: listing(d(st.OwnedBy(missing)), e()),
			moves: do("1 delete d Background", "2 delete e Background"), left: do("d gone", "e gone"),
		},
		{
			name: "L11 one whose owners are missing follows its own foreground finalizer", seen: listing(d(st.OwnedBy(missing), st.WithFinalizers(collectortest.Foreground)), e()),
			moves: do("1 delete d Foreground", "2 delete e Background", "2 remove-finalizer d foregroundDeletion"), left: do("d gone", "e gone"),
		},
		{
			name: "L13 and stays if a foreign finalizer holds it", seen: listing(owner(st.Terminating("x/y", collectortest.Foreground))),
			moves: do("1 remove-finalizer o foregroundDeletion"), left: do("o terminating x/y"), stuck: do("o: o held"),
		},
		{
			name: "L14 an owner that nothing blocks goes at once, and dependents that do not block after it", seen: listing(owner(st.Foreground()), d(child, st.WithFinalizers("x/y"))),
			moves: do("1 remove-finalizer o foregroundDeletion", "2 delete d Background"), left: do("d terminating x/y", "o gone"), stuck: do("d: d held"),
		},
		{
			name: "L14 they are deleted before their owner, which somebody holds, becomes solid to them", seen: listing(owner(st.Terminating("x/y", collectortest.Foreground)), d(child), st.Secret("ns/z", child)),
			moves: do("2 delete d Background", "2 delete z Background", "2 remove-finalizer o foregroundDeletion"), left: do("d gone", "o terminating x/y", "z gone"), stuck: do("o: o held"),
		},
		{
			name: "L14 so is one that has to be unblocked first",
			seen: listing(owner(st.Terminating("x/y", collectortest.Foreground)), d(child, st.Owned(st.To(missing, st.Blocking))), e(st.Terminating(collectortest.Foreground), st.Owned(st.To(st.Secret("ns/f"), st.Blocking))),
				st.Secret("ns/f", st.Owned(st.To(e(), st.Blocking)), st.Terminating("x/y"))),
			moves: do("1 unblock d missing", "2 delete d Foreground", "2 remove-finalizer o foregroundDeletion", "3 remove-finalizer d foregroundDeletion"),
			left:  do("d gone", "e terminating foregroundDeletion", "f terminating x/y", "o terminating x/y"),
			stuck: do("e: f held", "f: f held", "o: o held"),
		},
		{
			name: "L16 a blocker in another namespace goes as dangling, then its owner", seen: listing(owner(st.Foreground()), st.ConfigMap("elsewhere/d", blocker)),
			moves: do("1 delete d Background", "2 remove-finalizer o foregroundDeletion"), left: do("d gone", "o gone"),
		},
		{
			name: "L18 one that owns itself without blocking goes", seen: listing(owner(child)), deleted: []deletion{{owner().UID, metav1.DeletePropagationForeground}},
			moves: do("1 remove-finalizer o foregroundDeletion"), left: do("o gone"),
		},
		{name: "L18 in the background either goes", seen: listing(owner(blocker)), deleted: []deletion{{owner().UID, metav1.DeletePropagationBackground}}, left: do("o gone")},
		{
			name: "L19 a cycle of two, one deleted in the foreground, is broken and deleted", seen: listing(a(ofB), b(ofA)), deleted: []deletion{{a().UID, metav1.DeletePropagationForeground}},
			moves: do("1 unblock b a", "2 remove-finalizer a foregroundDeletion", "2 delete b Background"), left: do("a gone", "b gone"),
		},
		{
			name: "L19 in the background it unravels", seen: listing(a(ofB), b(ofA)), deleted: []deletion{{a().UID, metav1.DeletePropagationBackground}},
			moves: do("1 delete b Background"), left: do("a gone", "b gone"),
		},
	})
}
