package simulate_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector/collectortest"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// request is the result of requested deletions with the cluster's own collector, for any
// order of objects.
type request struct {
	name  string
	seen  []st.Part
	asked []deletion
	grace *int64
	moves []string // see describe; requested ones start with "ask"
	left  []string
	later []string // what SimulateRelease deletes, marked if nondeterministic
	races []string // nondeterministic
}

func ask(s *snapshot.Snapshot, actor collector.Actor, of []deletion) *simulate.Prediction {
	return askIn(nil, s, actor, of)
}

// askIn is ask with a grace period.
func askIn(grace *int64, s *snapshot.Snapshot, actor collector.Actor, of []deletion) *simulate.Prediction {
	g := graph.New(s)
	b := simulate.Bounds{Roots: simulate.NoRoots}
	for _, d := range of {
		b.Deletes = append(b.Deletes, simulate.DeleteRequest{Node: g.Find(d.uid), Policy: d.policy, GraceSeconds: grace})
	}
	return simulate.Run(collector.NewJudge(g), simulate.Predictor{Actor: actor}, b)
}

func checkRequests(t *testing.T, requests []request) {
	t.Helper()
	for _, r := range requests {
		t.Run(r.name, func(t *testing.T) {
			whole := st.New(append([]st.Part{st.Serving(slices.Concat(st.TypesWithContents(), st.Workloads())...)}, r.seen...)...)
			collectortest.Permute(whole.Objects, func(order []*object.Object) {
				shuffled := *whole
				shuffled.Objects = order
				shuffled.Normalize()
				c := askIn(r.grace, &shuffled, collector.ActorControllerManager, r.asked)
				if t.Failed() {
					return
				}
				var moves, races, later []string
				for i, line := range describe(c) {
					if c.Transitions[i].Requested {
						line = strings.Replace(line, "1 ", "ask ", 1)
					}
					moves = append(moves, line)
				}
				compare(t, "moves", r.moves, moves)
				compare(t, "left", r.left, left(c))
				for _, n := range c.Doubtful() {
					if c.Nondeterministic(n) {
						races = append(races, c.Model.Graph().Object(n).Name)
					}
				}
				slices.Sort(races)
				compare(t, "races", r.races, races)
				then := c.SimulateRelease()
				for _, n := range then.DeletionsBegun {
					later = append(later, c.Model.Graph().Object(n).Name)
				}
				slices.Sort(later)
				compare(t, "later", r.later, later)
			})
		})
	}
}

const (
	inBackground = metav1.DeletePropagationBackground
	inForeground = metav1.DeletePropagationForeground
	orphaning    = metav1.DeletePropagationOrphan
)

func delete(policy metav1.DeletionPropagation, of ...object.Object) []deletion {
	var out []deletion
	for _, o := range of {
		out = append(out, deletion{o.UID, policy})
	}
	return out
}

func TestSimulateRequestedDeletions(t *testing.T) {
	type o = object.Object
	owner := func(with ...st.Option) o { return st.Secret("ns/o", with...) }
	other := st.Secret("ns/other")
	d := func(with ...st.Option) o { return st.ConfigMap("ns/d", with...) }
	e := func(with ...st.Option) o { return st.ConfigMap("ns/e", append(with, st.OwnedBy(d()))...) }
	child := st.OwnedBy(owner())
	blocker := st.Owned(st.To(owner(), st.Blocking))
	a := func(with ...st.Option) o { return st.Secret("ns/a", with...) }
	b := func(with ...st.Option) o { return st.Secret("ns/b", with...) }
	ofA, ofB := st.Owned(st.To(a(), st.Blocking)), st.Owned(st.To(b(), st.Blocking))
	lost := st.OwnedBy(st.Secret("ns/lost"))
	do := func(moves ...string) []string { return moves }
	checkRequests(t, []request{
		{
			name: "in the background dependents follow, and what they own", seen: listing(owner(), d(blocker), e()), asked: delete(inBackground, owner()),
			moves: do("ask delete o Background", "2 delete d Background", "3 delete e Background"), left: do("d gone", "e gone", "o gone"),
		},
		{
			name: "in the foreground dependents that block go first", seen: listing(owner(), d(blocker)), asked: delete(inForeground, owner()),
			moves: do("ask delete o Foreground", "2 delete d Background", "3 remove-finalizer o foregroundDeletion"), left: do("d gone", "o gone"),
		},
		{
			name: "in the foreground those that do not block go, too", seen: listing(owner(), d(child)), asked: delete(inForeground, owner()),
			moves: do("ask delete o Foreground", "2 delete d Background", "2 remove-finalizer o foregroundDeletion"), left: do("d gone", "o gone"),
		},
		{
			name: "orphaned dependents lose that one reference, and what they own stays", seen: listing(owner(), other, d(st.OwnedBy(other), blocker), e()), asked: delete(orphaning, owner()),
			moves: do("ask delete o Orphan", "2 unlink d o", "2 remove-finalizer o orphan"), left: do("d unlinked", "o gone"),
		},
		{
			name: "a dependent of two owners stays with one reference", seen: listing(owner(), other, d(child, st.OwnedBy(other))), asked: delete(inBackground, owner()),
			moves: do("ask delete o Background", "2 unlink d o"), left: do("d unlinked", "o gone"),
		},
		{
			name:  "whether a missing owner is removed before another one orphans is nondeterministic",
			seen:  listing(st.Secret("far/held", st.WithFinalizers("x/y")), st.Secret("ns/o", st.OwnedBy(st.Secret("far/held")), st.WithFinalizers(collectortest.Orphan)), d(child, lost)),
			asked: delete(inBackground, st.Secret("far/held")),
			moves: do("ask delete held Background"), left: do("held terminating x/y"), later: do("d", "o"),
		},
		{
			name: "one whose owners are all asked for goes", seen: listing(owner(), other, d(child, st.OwnedBy(other))), asked: delete(inBackground, owner(), other),
			moves: do("ask delete o Background", "ask delete other Background", "2 delete d Background"), left: do("d gone", "o gone", "other gone"),
		},
		{
			name: "if one of them waits, a dependent that orphans its own may lose that one first", asked: append(delete(inForeground, owner()), delete(inBackground, other)...),
			seen:  listing(owner(), other, d(blocker, st.OwnedBy(other), st.WithFinalizers(object.OrphanFinalizer)), e()),
			moves: do("ask delete o Foreground", "ask delete other Background", "2 delete d Foreground", "3 delete e Background", "3 remove-finalizer d foregroundDeletion", "4 remove-finalizer o foregroundDeletion"),
			left:  do("d gone", "e gone", "o gone", "other gone"), races: []string{"e"},
		},
		{
			name: "nothing else is processed, whatever is wrong with it", seen: listing(owner(), st.Pod("ns/p", lost)), asked: delete(inBackground, owner()),
			moves: do("ask delete o Background"), left: do("o gone"),
		},
		{
			name: "in the background an owner that somebody holds keeps its dependents until it is gone", seen: listing(owner(st.WithFinalizers("x/y")), d(child), e()), asked: delete(inBackground, owner()),
			moves: do("ask delete o Background"), left: do("o terminating x/y"), later: do("d", "e"),
		},
		{
			name: "in the foreground it loses them first, if they block", seen: listing(owner(st.WithFinalizers("x/y")), d(blocker)), asked: delete(inForeground, owner()),
			moves: do("ask delete o Foreground", "2 delete d Background", "3 remove-finalizer o foregroundDeletion"), left: do("d gone", "o terminating x/y"),
		},
		{
			name: "and if they do not, that is nondeterministic", seen: listing(owner(st.WithFinalizers("x/y")), d(child)), asked: delete(inForeground, owner()),
			moves: do("ask delete o Foreground", "2 delete d Background", "2 remove-finalizer o foregroundDeletion"), left: do("d gone", "o terminating x/y"), races: do("d"),
		},
		{
			name: "even if something else blocks for a while", seen: listing(owner(st.WithFinalizers("x/y")), d(blocker), st.Pod("ns/p", child)), asked: delete(inForeground, owner()),
			moves: do("ask delete o Foreground", "2 delete d Background", "2 delete p Background", "3 remove-finalizer o foregroundDeletion"), left: do("d gone", "o terminating x/y", "p gone"), races: do("p"),
		},
		{
			name: "whether one that does not block waits for its blockers is nondeterministic, too", seen: listing(owner(), d(child), st.Pod("ns/p", st.WithFinalizers("x/y"), st.Owned(st.To(d(), st.Blocking)))), asked: delete(inForeground, owner()),
			moves: do("ask delete o Foreground", "2 delete d Foreground", "2 remove-finalizer o foregroundDeletion", "3 delete p Background"),
			left:  do("d terminating foregroundDeletion", "o gone", "p terminating x/y"), races: do("d"),
		},
		{
			name: "a dependent that is held keeps its owner, and what does not block goes", seen: listing(owner(), d(blocker, st.WithFinalizers("x/y")), st.Pod("ns/p", child)), asked: delete(inForeground, owner()),
			moves: do("ask delete o Foreground", "2 delete d Background", "2 delete p Background"), left: do("d terminating x/y", "o terminating foregroundDeletion", "p gone"),
		},
		{
			name: "a cycle that blocks ends in the foreground", seen: listing(a(ofB), b(ofA)), asked: delete(inForeground, a()),
			moves: do("ask delete a Foreground", "2 unblock b a", "3 remove-finalizer a foregroundDeletion", "4 delete b Background"), left: do("a gone", "b gone"),
		},
		{
			name: "if a foreign finalizer holds the one that is requested, the other does not block it any more, and both are nondeterministic", seen: listing(a(ofB, st.WithFinalizers("x/y")), b(ofA)), asked: delete(inForeground, a()),
			moves: do("ask delete a Foreground", "2 unblock b a", "3 remove-finalizer a foregroundDeletion"), left: do("a terminating x/y", "b changed"), races: do("a", "b"), later: do("b"),
		},
		{
			name: "unless another blocks it meanwhile", seen: listing(a(ofB, st.WithFinalizers("x/y")), b(ofA), d(st.Owned(st.To(a(), st.Blocking)), st.WithFinalizers("x/y"))), asked: delete(inForeground, a()),
			moves: do("ask delete a Foreground", "2 unblock b a", "2 delete d Background", "4 delete b Foreground"),
			left:  do("a terminating x/y,foregroundDeletion", "b terminating foregroundDeletion", "d terminating x/y"), races: do("a", "b", "d"),
		},
		{
			name: "asked for as a whole it waits for itself", seen: listing(a(ofB), b(ofA)), asked: delete(inForeground, a(), b()),
			moves: do("ask delete a Foreground", "ask delete b Foreground"), left: do("a terminating foregroundDeletion", "b terminating foregroundDeletion"), races: do("a", "b"),
		},
		{
			name: "one that is being deleted in the foreground is released in the background", seen: listing(owner(st.Foreground()), d(blocker, st.WithFinalizers("x/y"))), asked: delete(inBackground, owner()),
			moves: do("ask delete o Background", "2 delete d Background"), left: do("d terminating x/y", "o gone"),
		},
		{
			name: "to ask for the same again changes nothing", seen: listing(owner(st.Foreground()), d(blocker, st.Terminating("x/y"))), asked: delete(inForeground, owner()),
			left: do("d terminating x/y", "o terminating foregroundDeletion"),
		},
		{
			name: "one that is held is asked to let its dependents go first", seen: listing(owner(st.Terminating("x/y")), d(blocker)), asked: delete(inForeground, owner()),
			moves: do("ask delete o Foreground", "2 delete d Background", "3 remove-finalizer o foregroundDeletion"), left: do("d gone", "o terminating x/y"),
		},
		{
			name: "a good reference goes with its bad double, and the object belongs to nobody",
			seen: listing(owner(), other, d(child, st.Owned(st.To(other, st.Named("wrong")), st.To(other)))), asked: delete(inBackground, owner()),
			moves: do("ask delete o Background", "2 unlink d o,wrong,other"), left: do("d unlinked", "o gone"), races: do("d"),
		},
		{
			name: "a kind of lists is taken for absent", seen: listing(owner(), other, d(child, st.Owned(st.To(other, st.As("v1", "SecretList"))))), asked: delete(inBackground, owner()),
			moves: do("ask delete o Background", "2 delete d Background"), left: do("d gone", "o gone"),
		},
		{
			name: "a dependent with an owner that nobody can judge stays", seen: listing(owner(), d(child, st.Owned(st.To(other, st.As("v1", "Foo"))))), asked: delete(inBackground, owner()),
			moves: do("ask delete o Background"), left: do("o gone"),
		},
		{
			name: "that not everything was seen keeps the collector from nothing", seen: append(listing(owner(), d(blocker)), st.Unlisted("pods")), asked: delete(inForeground, owner()),
			moves: do("ask delete o Foreground", "2 delete d Background", "3 remove-finalizer o foregroundDeletion"), left: do("d gone", "o gone"),
		},
		{
			name: "a namespace takes along what is in it, and what it owns elsewhere goes last",
			seen: listing(st.Namespace("ns"), owner(), d(blocker, st.WithFinalizers("x/y")), st.Node("n", st.OwnedBy(st.Namespace("ns")))), asked: delete(inForeground, st.Namespace("ns")),
			moves: do("ask delete ns Foreground", "2 delete n Background", "2 remove-finalizer ns foregroundDeletion"), left: do("d terminating x/y", "n gone", "ns terminating", "o gone"),
			races: do("n"),
		},
		{
			name:  "a definition takes along its objects, and these what they own, whatever the policy",
			seen:  listing(st.CRD("widgets.example.com"), st.Object("example.com/v1", "Widget", "ns/w"), d(st.OwnedBy(st.Object("example.com/v1", "Widget", "ns/w")))),
			asked: delete(orphaning, st.CRD("widgets.example.com")),
			moves: do("ask delete widgets.example.com Orphan", "2 delete d Background"), left: do("d gone", "w gone", "widgets.example.com gone"),
		},
		{
			name: "a namespace and an object in it own each other: the object may stop blocking it before it is deleted", asked: delete(inForeground, st.Namespace("ns")),
			seen:  listing(st.Namespace("ns", st.OwnedBy(owner())), owner(st.WithFinalizers("x/y"), st.Owned(st.To(st.Namespace("ns"), st.Blocking)))),
			moves: do("ask delete ns Foreground"), left: do("ns terminating foregroundDeletion", "o terminating x/y"), races: []string{"ns", "o"},
		},
		{
			name: "a namespace that Pods keep is deleted in the foreground or after its owner, and then keeps its dependents", asked: delete(inForeground, st.Node("n")),
			seen: listing(st.Node("n"), st.Namespace("ns", st.OwnedBy(st.Node("n"))), owner(st.WithFinalizers("x/y"), st.Owned(st.To(st.Namespace("ns"), st.Blocking))),
				d(st.OwnedBy(st.Namespace("ns"))), st.Pod("ns/p", st.WithFinalizers("x/y"))),
			moves: do("ask delete n Foreground", "2 delete ns Foreground", "2 remove-finalizer n foregroundDeletion", "3 delete d Background", "3 delete o Background"),
			left:  do("d gone", "n gone", "ns terminating foregroundDeletion", "o terminating x/y", "p terminating x/y"), races: do("d", "ns", "o"),
		},
		{
			name:  "an object whose dependent waits until the end may stop blocking its owner right after it is deleted",
			seen:  listing(owner(st.OwnedBy(e())), d(blocker, st.WithFinalizers("x/y")), st.ConfigMap("ns/c", st.OwnedBy(d()), child, st.WithFinalizers("x/y")), st.ConfigMap("ns/e", st.OwnedBy(st.ConfigMap("ns/c")))),
			asked: delete(inForeground, owner()),
			moves: do("ask delete o Foreground", "2 unlink c o", "2 delete d Foreground", "3 delete c Foreground", "3 remove-finalizer d foregroundDeletion",
				"4 delete e Foreground", "4 remove-finalizer c foregroundDeletion", "5 remove-finalizer e foregroundDeletion"),
			left: do("c terminating x/y", "d terminating x/y", "e gone", "o terminating foregroundDeletion"), races: do("c", "e", "o"),
		},
		{
			name: "what is in a namespace and asked for, too, has been asked for first", seen: listing(st.Namespace("ns"), owner(), d(blocker)), asked: append(delete(inBackground, st.Namespace("ns")), delete(inForeground, owner())...),
			moves: do("ask delete ns Background", "ask delete o Foreground"), left: do("d gone", "ns gone", "o gone"),
		},
	})
}

func TestSimulateFinalizerControllers(t *testing.T) {
	const tracking = "batch.kubernetes.io/job-tracking"
	type o = object.Object
	job := func(with ...st.Option) o { return st.Object("batch/v1", "Job", "ns/job", with...) }
	pod := func(with ...st.Option) o { return st.Pod("ns/pod", with...) }
	ofJob := st.Owned(st.To(job(), st.Blocking, st.Controlling))
	claim := func(with ...st.Option) o {
		return st.Object("v1", "PersistentVolumeClaim", "ns/claim", append(with, st.WithFinalizers(simulate.ClaimProtection))...)
	}
	volume := func(with ...st.Option) o {
		return st.Object("v1", "PersistentVolume", "volume", append(with, st.WithFinalizers(simulate.VolumeProtection))...)
	}
	devices := func(with ...st.Option) o {
		return st.Object("resource.k8s.io/v1", "ResourceClaim", "ns/devices", append(with, st.WithFinalizers(simulate.ResourceClaimProtection))...)
	}
	group := func(with ...st.Option) o {
		return st.Object("scheduling.k8s.io/v1alpha2", "PodGroup", "ns/group", append(with, st.WithFinalizers(simulate.PodGroupProtection))...)
	}
	set := st.Deployment("ns/set")
	do := func(moves ...string) []string { return moves }
	checkRequests(t, []request{
		{
			name: "the Pod of a Job goes in the background", seen: listing(job(), pod(ofJob, st.WithFinalizers(tracking))), asked: delete(inBackground, job()),
			moves: do("ask delete job Background", "2 delete pod Background"), left: do("job gone", "pod gone"),
		},
		{
			name: "and in the foreground, before its Job", seen: listing(job(), pod(ofJob, st.WithFinalizers(tracking))), asked: delete(inForeground, job()),
			moves: do("ask delete job Foreground", "2 delete pod Background", "3 remove-finalizer job foregroundDeletion"), left: do("job gone", "pod gone"),
		},
		{
			name: "an orphaned Pod is tracked no more", seen: listing(job(), pod(ofJob, st.WithFinalizers(tracking))), asked: delete(orphaning, job()),
			moves: do("ask delete job Orphan", "2 unlink pod job", "2 remove-finalizer job orphan"), left: do("job gone", "pod unlinked"),
		},
		{
			name: "so is the Pod of a Job that is being deleted and held", seen: listing(job(st.WithFinalizers("x/y")), pod(ofJob, st.WithFinalizers(tracking))), asked: delete(inBackground, job()),
			moves: do("ask delete job Background"), left: do("job terminating x/y", "pod changed"), later: do("pod"),
		},
		{
			name: "what somebody else controls and the Job controller tracks is held", seen: listing(set, pod(st.Owned(st.To(set, st.Controlling)), st.WithFinalizers(tracking))), asked: delete(inBackground, set),
			moves: do("ask delete set Background", "2 delete pod Background"), left: do("pod terminating "+tracking, "set gone"),
		},
		{
			name: "a claim goes that no Pod uses", seen: listing(set, claim(st.OwnedBy(set)), pod(st.WithClaims())), asked: delete(inBackground, set),
			moves: do("ask delete set Background", "2 delete claim Background"), left: do("claim gone", "set gone"),
		},
		{
			name: "a claim that a Pod uses waits for it", seen: listing(set, claim(st.OwnedBy(set)), pod(st.WithClaims("claim"))), asked: delete(inBackground, set),
			moves: do("ask delete set Background", "2 delete claim Background"), left: do("claim terminating "+simulate.ClaimProtection, "set gone"),
		},
		{
			name: "and goes with it", seen: listing(set, claim(st.OwnedBy(set)), pod(st.OwnedBy(set), st.WithClaims("claim"), st.Running())), asked: delete(inBackground, set),
			moves: do("ask delete set Background", "2 delete claim Background", "2 delete pod Background"), left: do("claim gone", "pod gone", "set gone"),
		},
		{
			name: "where nobody asked which claims a Pod uses, it waits", seen: listing(set, claim(st.OwnedBy(set)), pod()), asked: delete(inBackground, set),
			moves: do("ask delete set Background", "2 delete claim Background"), left: do("claim terminating "+simulate.ClaimProtection, "set gone"),
		},
		{
			name: "unless that Pod goes, too", seen: listing(set, claim(st.OwnedBy(set)), pod(st.OwnedBy(set))), asked: delete(inBackground, set),
			moves: do("ask delete set Background", "2 delete claim Background", "2 delete pod Background"), left: do("claim gone", "pod gone", "set gone"),
		},
		{
			name: "where Pods were not listed, it waits", seen: append(listing(set, claim(st.OwnedBy(set))), st.Unlisted("pods")), asked: delete(inBackground, set),
			moves: do("ask delete set Background", "2 delete claim Background"), left: do("claim terminating "+simulate.ClaimProtection, "set gone"),
		},
		{
			name: "the claim of an ephemeral volume goes with its Pod, which waits for it",
			seen: listing(pod(st.WithClaims("claim"), st.Running()), claim(st.Owned(st.To(pod(), st.Controlling, st.Blocking)))), asked: delete(inForeground, pod()),
			moves: do("ask delete pod Foreground", "2 delete claim Background", "3 remove-finalizer pod foregroundDeletion"), left: do("claim gone", "pod gone"),
		},
		{name: "a volume goes that no claim is bound to", seen: listing(volume(st.WithClaims())), asked: delete(inBackground, volume()), moves: do("ask delete volume Background"), left: do("volume gone")},
		{
			name: "a volume waits for the claim that is bound to it", seen: listing(volume(st.WithClaims("ns/claim")), claim()), asked: delete(inBackground, volume()),
			moves: do("ask delete volume Background"), left: do("volume terminating " + simulate.VolumeProtection),
		},
		{
			name: "and goes with it", seen: listing(volume(st.WithClaims("ns/claim")), claim()), asked: delete(inBackground, volume(), claim()),
			moves: do("ask delete volume Background", "ask delete claim Background"), left: do("claim gone", "volume gone"),
		},
		{
			name: "a Pod that is stopping is waited for", seen: listing(set, pod(st.Owned(st.To(set, st.Blocking)), soon)), asked: delete(inForeground, set),
			moves: do("ask delete set Foreground", "2 remove-finalizer set foregroundDeletion"), left: do("pod gone", "set gone"),
		},
		{
			name: "one that should have stopped by now is in the way", seen: listing(set, pod(st.Owned(st.To(set, st.Blocking)), st.InGracePeriod())), asked: delete(inForeground, set),
			moves: do("ask delete set Foreground"), left: do("pod terminating", "set terminating foregroundDeletion"),
		},
		{
			name: "what the Job controller is about to release goes", seen: listing(job(), pod(ofJob, st.TerminatingFor(50*time.Second, tracking))), asked: delete(inForeground, job()),
			moves: do("ask delete job Foreground", "2 remove-finalizer job foregroundDeletion"), left: do("job gone", "pod gone"),
		},
		{
			name: "what it should have released stays", seen: listing(job(), pod(ofJob, st.TerminatingFor(2*time.Minute, tracking))), asked: delete(inForeground, job()),
			moves: do("ask delete job Foreground"), left: do("job terminating foregroundDeletion", "pod terminating "+tracking),
		},
		{
			name: "a claim of resources goes with the Pod that owns it", seen: listing(pod(), devices(st.OwnedBy(pod()))), asked: delete(inBackground, pod()),
			moves: do("ask delete pod Background", "2 delete devices Background"), left: do("devices gone", "pod gone"),
		},
		{
			name: "and waits for that Pod", seen: listing(pod(st.Running()), devices(st.OwnedBy(pod())), st.Pod("ns/other")), asked: delete(inBackground, devices()),
			moves: do("ask delete devices Background"), left: do("devices terminating " + simulate.ResourceClaimProtection),
		},
		{
			name: "one that any Pod may use waits for all of them", seen: listing(pod(), devices(), st.Pod("ns/other")), asked: delete(inBackground, devices(), pod()),
			moves: do("ask delete devices Background", "ask delete pod Background"), left: do("devices terminating "+simulate.ResourceClaimProtection, "pod gone"),
		},
		{
			name: "and goes with the last one", seen: listing(pod(), devices(), st.Pod("ns/other")), asked: delete(inBackground, devices(), pod(), st.Pod("ns/other")),
			moves: do("ask delete devices Background", "ask delete pod Background", "ask delete other Background"), left: do("devices gone", "other gone", "pod gone"),
		},
		{
			name: "a group of Pods goes after them", seen: listing(set, group(st.OwnedBy(set)), pod(st.OwnedBy(set, group()))), asked: delete(inBackground, set, pod()),
			moves: do("ask delete set Background", "ask delete pod Background", "2 delete group Background"), left: do("group gone", "pod gone", "set gone"),
		},
		{
			name: "a namespace goes with its claims and the Pods of its Jobs", seen: listing(st.Namespace("ns"), claim(), job(), pod(ofJob, st.WithFinalizers(tracking), st.WithClaims("claim"))), asked: delete(inBackground, st.Namespace("ns")),
			moves: do("ask delete ns Background"), left: do("claim gone", "job gone", "ns gone", "pod gone"),
		},
	})
}

// A Job's Workload, PodGroup and Pods are as the Job controller creates them (job_scheduling_manager.go). It
// puts the PodGroup into the Pod's template as a second owner, and Kubernetes 1.37 does not copy that to the
// Pod (controller_utils.go, GetPodFromTemplate).
func TestSimulateDeletionsOfAJobWithAPodGroup(t *testing.T) {
	var served []snapshot.Type
	for _, kind := range []string{"Workload", "PodGroup"} {
		name := strings.ToLower(kind)
		served = append(served, snapshot.Type{Group: "scheduling.k8s.io", Version: "v1beta1", Resource: name + "s", Kind: kind, Singular: name, Namespaced: true, Verbs: st.Workloads()[0].Verbs, Preferred: true})
	}
	job := st.Object("batch/v1", "Job", "ns/job")
	ofJob := st.To(job, st.Blocking, st.Controlling)
	workload := st.Object("scheduling.k8s.io/v1beta1", "Workload", "ns/workload", st.Owned(ofJob))
	group := st.Object("scheduling.k8s.io/v1beta1", "PodGroup", "ns/group", st.Owned(ofJob, st.To(workload)), st.WithFinalizers(simulate.PodGroupProtection))
	pod := func(owners ...object.Reference) object.Object {
		return st.Pod("ns/pod", st.Owned(owners...), st.WithFinalizers("batch.kubernetes.io/job-tracking"))
	}
	seen := func(more ...object.Object) []st.Part {
		return append(listing(append(more, job, workload, group)...), st.Serving(served...))
	}
	do := func(moves ...string) []string { return moves }
	checkRequests(t, []request{
		{
			name: "the group goes after the Pods of its Job, whatever other Pods there are", seen: seen(pod(ofJob), st.Pod("ns/other")), asked: delete(inBackground, job),
			moves: do("ask delete job Background", "2 unlink group job", "2 delete pod Background", "2 delete workload Background", "3 delete group Background"), left: do("group gone", "job gone", "pod gone", "workload gone"),
		},
		{
			name: "also in the foreground", seen: seen(pod(ofJob), st.Pod("ns/other")), asked: delete(inForeground, job),
			moves: do("ask delete job Foreground", "2 unlink group job", "2 delete pod Background", "2 delete workload Foreground", "3 delete group Background", "3 remove-finalizer workload foregroundDeletion", "4 remove-finalizer job foregroundDeletion"),
			left:  do("group gone", "job gone", "pod gone", "workload gone"),
		},
		{
			name: "a group that owns its Pods and they keep each other", seen: seen(pod(ofJob, st.To(group))), asked: delete(inBackground, job),
			moves: do("ask delete job Background", "2 unlink pod job", "2 unlink group job", "2 delete workload Background", "3 delete group Background"),
			left:  do("group terminating "+simulate.PodGroupProtection, "job gone", "pod unlinked", "workload gone"), later: do("pod"),
		},
		{
			name: "unless the collector looks at the Pods while the group waits for them", seen: seen(pod(ofJob, st.To(group))), asked: delete(inForeground, job),
			moves: do("ask delete job Foreground", "2 unlink pod job", "2 unlink group job", "2 delete workload Foreground", "3 delete group Foreground", "3 remove-finalizer workload foregroundDeletion", "4 delete pod Background", "4 remove-finalizer job foregroundDeletion", "4 remove-finalizer group foregroundDeletion"),
			left:  do("group gone", "job gone", "pod gone", "workload gone"), races: do("group", "job", "pod"),
		},
	})
}

// soon sets the end of a Pod's grace period to a time after the scan.
func soon(o *object.Object) {
	st.InGracePeriod()(o)
	deadline := st.Taken.Add(10e9)
	o.Deleted = &deadline
}

// docs/gc-semantics.md#graceful-pods
func TestSimulateDeletionsWithAGracePeriod(t *testing.T) {
	pod := func(with ...st.Option) object.Object { return st.Pod("ns/pod", with...) }
	child := st.ConfigMap("ns/child", st.OwnedBy(pod()))
	set := st.Deployment("ns/set")
	do := func(moves ...string) []string { return moves }
	checkRequests(t, []request{
		{
			name: "a Pod that stops no more is not waited for, and its dependents follow", seen: listing(pod(st.InGracePeriod()), child), asked: delete(inBackground, pod()), grace: new(int64(0)),
			moves: do("ask delete pod Background", "2 delete child Background"), left: do("child gone", "pod gone"),
		},
		{
			name: "a shorter period that is not 0 does not help where the kubelet does not respond", seen: listing(pod(st.InGracePeriod()), child), asked: delete(inBackground, pod()), grace: new(int64(1)),
			moves: do("ask delete pod Background"), left: do("pod terminating"), later: do("child"),
		},
		{
			name: "the contents of its namespace wait for the last Pod", seen: listing(pod(st.InGracePeriod()), st.Namespace("ns", st.Terminating()), st.ConfigMap("ns/config")),
			asked: delete(inBackground, pod()), grace: new(int64(0)),
			moves: do("ask delete pod Background"), left: do("config gone", "ns gone", "pod gone"),
		},
		{
			name: "another Pod that stops no more keeps them", seen: listing(pod(st.InGracePeriod()), st.Namespace("ns", st.Terminating()), st.ConfigMap("ns/config"), st.Pod("ns/other", st.InGracePeriod())),
			asked: delete(inBackground, pod()), grace: new(int64(0)),
			moves: do("ask delete pod Background"), left: do("ns terminating", "other terminating", "pod gone"),
		},
		{
			name: "a request that changes nothing does not continue the deletion of its namespace", seen: listing(pod(st.InGracePeriod()), st.Namespace("ns", st.Terminating()), st.ConfigMap("ns/config")),
			asked: delete(inBackground, pod()),
			left:  do("ns terminating", "pod terminating"), later: do("config"),
		},
		{
			name: "a period that is not shorter changes nothing", seen: listing(pod(soon), child), asked: delete(inBackground, pod()), grace: new(int64(30)),
			left: do("pod terminating"), later: do("child"),
		},
		{
			name: "a finalizer keeps a Pod that is given no time", seen: listing(pod(st.Running(), st.WithFinalizers("x/y"))), asked: delete(inBackground, pod()), grace: new(int64(0)),
			moves: do("ask delete pod Background"), left: do("pod terminating x/y"),
		},
		{
			name: "the period of an owner is not that of its Pods", seen: listing(set, pod(st.OwnedBy(set), st.Running())), asked: delete(inBackground, set), grace: new(int64(0)),
			moves: do("ask delete set Background", "2 delete pod Background"), left: do("pod gone", "set gone"),
		},
	})

	kubelet := func(seconds int64, o object.Object) int {
		c := askIn(&seconds, st.New(listing(o)...), collector.ActorControllerManager, delete(inBackground, o))
		return len(c.StoppedPods)
	}
	if n := kubelet(0, pod(st.Running())); n != 0 {
		t.Error("a Pod that is given no time waits for its kubelet")
	}
	if n := kubelet(1, pod(st.Running())); n != 1 {
		t.Error("a Pod that is given a second does not wait for its kubelet")
	}
}

func TestActorClientHasNoFinalizerControllers(t *testing.T) {
	claim := st.Object("v1", "PersistentVolumeClaim", "ns/claim", st.WithFinalizers(simulate.ClaimProtection))
	c := ask(st.New(st.Serving(st.Workloads()...), st.Listing(claim)), collector.ActorClient, []deletion{{claim.UID, inBackground}})
	compare(t, "left", []string{"claim terminating " + simulate.ClaimProtection}, left(c))
}

func TestFinalizerController(t *testing.T) {
	for finalizer, want := range map[string]struct {
		whose string
		when  bool
		known bool
	}{
		simulate.ClaimProtection:                  {"the volume protection (kube-controller-manager)", true, true},
		"foregroundDeletion":                      {"the garbage collector", true, true},
		"external-attacher/csi-example":           {"the storage driver's csi-attacher", true, true},
		"kubernetes.io/foregroundDeletion":        {simulate.Nobody, false, true},
		"kubernetes.io/orphan":                    {simulate.Nobody, false, true},
		"example.com/foregroundDeletion":          {"example.com", false, false},
		"kubernetes.io/unheard-of":                {"", false, false},
		"finalizer.kiali":                         {"the Kiali operator", true, true},
		"finalizer.example":                       {"", false, false},
		"finalizers.example.com":                  {"example.com", false, false},
		"foregroundDeleteVirtualMachine":          {"KubeVirt", true, true},
		"delete-knative-serving-manifest":         {"the Knative operator", true, true},
		"wrangler.cattle.io/on-helm-chart-remove": {"the Helm controller of K3s and RKE2", true, true},
		"wrangler.cattle.io/other":                {"a controller built with the library wrangler (K3s, RKE2, Harvester or Rancher)", false, true},
		"controller.cattle.io/namespace-auth":     {"Rancher", false, true},
		"finalizer.managedresource.crossplane.io": {"Crossplane", false, true},
		"machine.cluster.x-k8s.io":                {"Cluster API", false, true},
		"example.com/hold":                        {"example.com", false, false},
		"notcrossplane.io":                        {"notcrossplane.io", false, false},
		"hold":                                    {"", false, false},
	} {
		whose, when, known := simulate.FinalizerController(finalizer)
		if whose != want.whose || (when != "") != want.when || known != want.known {
			t.Errorf("%s: %q, %q, %t", finalizer, whose, when, known)
		}
	}
}

func TestDefaultPolicy(t *testing.T) {
	for of, want := range map[types.UID]metav1.DeletionPropagation{
		"v1 ReplicationController": orphaning, "batch/v1 Job": orphaning, "batch/v1 CronJob": inBackground, "apps/v1 ReplicaSet": inBackground, "example.com/v1 Job": inBackground,
	} {
		apiVersion, kind, _ := strings.Cut(string(of), " ")
		if got := simulate.DefaultPolicy(object.Identity{APIVersion: apiVersion, Kind: kind}); got != want {
			t.Errorf("%s: %s", of, got)
		}
	}
}
