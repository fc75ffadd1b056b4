package simulate_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector/collectortest"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// Scenarios that upstream does not test, but that follow from its rules.
// collector.TestDerivedScenarios checks the verdicts. o is an owner, d its dependent, e the
// dependent of d.
func TestSimulateDerivedScenarios(t *testing.T) {
	type o = object.Object
	owner := func(with ...st.Option) o { return st.Secret("ns/o", with...) }
	missing := st.Secret("ns/missing")
	d := func(with ...st.Option) o { return st.ConfigMap("ns/d", with...) }
	e := func(with ...st.Option) o { return st.ConfigMap("ns/e", append(with, st.OwnedBy(d()))...) }
	child := st.OwnedBy(owner())
	blocker := st.Owned(st.To(owner(), st.Blocking))
	unknown := st.To(missing, st.As("v1", "Foo"))
	a := func(with ...st.Option) o { return st.Secret("ns/a", with...) }
	b := func(with ...st.Option) o { return st.Secret("ns/b", with...) }
	ofA, ofB := st.Owned(st.To(a(), st.Blocking)), st.Owned(st.To(b(), st.Blocking))
	do := func(moves ...string) []string { return moves }

	plays := []scenario{
		{name: "L1 the missing one of two owners is dropped", seen: listing(owner(), d(st.OwnedBy(owner(), missing))), moves: do("1 unlink d missing"), left: do("d unlinked")},
		{name: "L2 a missing owner and one of unknown kind: nothing", seen: listing(d(st.OwnedBy(missing), st.Owned(unknown)))},
		{name: "L2 so in the other order", seen: listing(d(st.Owned(unknown), st.OwnedBy(missing)))},
		{name: "L2 so when the missing one is known to be absent", seen: append(listing(d(st.OwnedBy(missing), st.Owned(unknown))), st.Absent("v1", "Secret", "ns/missing"))},
		{name: "L3 a missing owner is not even dropped beside one of unknown kind", seen: listing(owner(), d(st.OwnedBy(owner()), st.Owned(unknown), st.OwnedBy(missing)))},
		{name: "L5 an owner that is held while terminating keeps its dependents", seen: listing(owner(st.Terminating("x/y")), d(child)), left: do("o terminating x/y"), stuck: do("o: o held")},
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
		{name: "L12 one that is held while terminating is left alone", seen: listing(d(st.OwnedBy(missing), st.Terminating("x/y"))), left: do("d terminating x/y"), stuck: do("d: d held")},
		{name: "L13 an owner in foreground deletion without dependents goes", seen: listing(owner(st.Foreground())), moves: do("1 remove-finalizer o foregroundDeletion"), left: do("o gone")},
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
			name: "L15 a blocker that is held keeps its owner", seen: listing(owner(st.Foreground()), d(blocker, st.Terminating("x/y"))),
			left: do("d terminating x/y", "o terminating foregroundDeletion"), stuck: do("d: d held", "o: d held"),
		},
		{
			name: "L16 a blocker in another namespace goes as dangling, then its owner", seen: listing(owner(st.Foreground()), st.ConfigMap("elsewhere/d", blocker)),
			moves: do("1 delete d Background", "2 remove-finalizer o foregroundDeletion"), left: do("d gone", "o gone"),
		},
		{
			name: "L17 a cluster-scoped blocker of a namespaced owner is a deadlock", seen: listing(owner(st.Foreground()), st.Node("d", blocker)),
			left: do("o terminating foregroundDeletion"), stuck: do("o: d cannot be judged"),
		},
		{
			name: "L18 an object that blocks itself, deleted in the foreground, is a deadlock", seen: listing(owner(blocker)), deleted: []deletion{{owner().UID, metav1.DeletePropagationForeground}},
			left: do("o terminating foregroundDeletion"), stuck: do("o: o in a cycle"),
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
		{
			name: "L20 a cycle of two, both deleted in the foreground, is a deadlock", seen: listing(a(ofB, st.Foreground()), b(ofA, st.Foreground())),
			left: do("a terminating foregroundDeletion", "b terminating foregroundDeletion"), stuck: do("a: a in a cycle", "b: a in a cycle"),
		},
		{name: "L21 a cycle that nobody deletes stays", seen: listing(a(ofB), b(ofA))},
		{name: "L22 a cycle with a missing owner loses that reference", seen: listing(a(ofB, st.OwnedBy(missing)), b(ofA)), moves: do("1 unlink a missing"), left: do("a unlinked")},
		{
			name: "L23 of two references with one UID the valid one is kept", seen: listing(owner(), d(st.Owned(st.To(owner(), st.Named("wrong")), st.To(owner())))),
			moves: do("1 unlink d wrong"), left: do("d unlinked"),
		},
		{name: "L24 an owner's successor of its name is not the owner", seen: listing(owner(st.UID("successor")), d(child)), moves: do("1 delete d Background"), left: do("d gone")},
		{name: "L25 a kind in lower case is good", seen: listing(owner(), d(st.Owned(st.To(owner(), st.As("v1", "secret")))))},
		{name: "L25 a kind in upper case leads nowhere", seen: listing(owner(), d(st.Owned(st.To(missing, st.As("v1", "SECRET")))))},
		{name: "L25 a kind of lists is withheld", seen: listing(owner(), d(st.Owned(st.To(owner(), st.As("v1", "SecretList")))))},
		{
			name: "L25 nothing beside it is dropped", seen: listing(owner(), d(child, st.OwnedBy(missing), st.Owned(st.To(owner(), st.As("v1", "SecretList"))))),
		},
		{name: "L26 an owner that is not watched but answers keeps its dependents", seen: append(listing(d(st.OwnedBy(st.Object("v1", "ComponentStatus", "cs")))), st.Found(st.Object("v1", "ComponentStatus", "cs")))},
		{
			name: "L30 dependents of a missing cluster-scoped owner go in every namespace", seen: append(listing(d(st.OwnedBy(st.Node("n"))), st.Secret("elsewhere/z", st.OwnedBy(st.Node("n")))), st.Absent("v1", "Node", "n")),
			moves: do("1 delete d Background", "1 delete z Background"), left: do("d gone", "z gone"),
		},
	}
	for _, reason := range []snapshot.ErrorClass{snapshot.Forbidden, snapshot.ServerError, snapshot.Throttled, snapshot.TimedOut, snapshot.Unavailable, snapshot.Unreadable, snapshot.Unverified} {
		plays = append(plays, scenario{
			name: "L4 a missing owner and one that cannot be asked for: nothing, " + string(reason),
			seen: append(listing(d(st.OwnedBy(missing), st.OwnedBy(st.Pod("ns/p")))), st.Failed("v1", "Pod", "ns/p", reason)),
		})
	}
	run(t, plays)
}
