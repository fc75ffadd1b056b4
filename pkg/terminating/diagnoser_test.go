package terminating_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
	"github.com/kubectl-gc/kubectl-gc/pkg/terminating"
)

// holds returns what holds each object that is being deleted, sorted by object.
func holds(s *snapshot.Snapshot) (out []terminating.Hold) {
	j := collector.NewJudge(graph.New(s))
	d := terminating.New(simulate.NewModel(j, simulate.Cluster), func() *simulate.Model { return simulate.Run(j, simulate.Cluster, simulate.Bounds{}).Model })
	for n := range j.Graph().Listed() {
		if j.Graph().Object(graph.Node(n)).Terminating() {
			out = append(out, d.Of(graph.Node(n)))
		}
	}
	return out
}

var claims = snapshot.Type{Version: "v1", Resource: "persistentvolumeclaims", Kind: "PersistentVolumeClaim", Singular: "persistentvolumeclaim", Namespaced: true, Verbs: []string{"delete", "get", "list", "watch"}, Preferred: true}

func TestWhatHoldsADeletion(t *testing.T) {
	owner := st.ConfigMap("ns/owner", st.Foreground())
	blocks := st.Owned(st.To(owner, st.Blocking))
	for name, c := range map[string]struct {
		seen []st.Part
		want []string
	}{
		"leaves out what is not being deleted": {
			[]st.Part{st.Listing(st.Pod("ns/pod"))}, nil,
		},
		"names the finalizer of another controller and who removes it": {
			[]st.Part{st.Listing(st.ConfigMap("ns/held", st.Terminating("example.com/hold")))},
			[]string{"ConfigMap/held 1m0s finalizer HeldByFinalizers []"},
		},
		"names no controller where the finalizer's name tells none": {
			[]st.Part{st.Listing(st.ConfigMap("ns/held", st.Terminating("hold")))},
			[]string{"ConfigMap/held 1m0s finalizer HeldByFinalizers []"},
		},
		"has an object that was deleted just now": {
			[]st.Part{st.Listing(st.ConfigMap("ns/held", st.TerminatingFor(0, "karpenter.sh/termination")))},
			[]string{"ConfigMap/held 0s finalizer HeldByFinalizers [Karpenter]"},
		},
		"leaves a Pod in its grace period to its kubelet": {
			[]st.Part{st.Listing(st.Pod("ns/stopping", st.Running(), st.InGracePeriodUntil(time.Second)))},
			[]string{"Pod/stopping 29s grace-period GracePeriod [its kubelet]"},
		},
		"reports a Pod past its grace period, with the age of the request": {
			[]st.Part{st.Listing(st.Pod("ns/lost", st.Running(), st.InGracePeriod()))},
			[]string{"Pod/lost 1m30s kubelet PodOverdue [its kubelet]"},
		},
		"reports that the collector has yet to act": {
			[]st.Part{st.Listing(owner)},
			[]string{"ConfigMap/owner 1m0s collector NothingBlocks [the garbage collector]"},
		},
		"waits for dependents that the collector deletes": {
			[]st.Part{st.Listing(owner, st.ConfigMap("ns/a", blocks), st.ConfigMap("ns/b", blocks))},
			[]string{"ConfigMap/owner 1m0s dependents WaitsForDependents [the garbage collector]"},
		},
		"follows dependents to what holds them": {
			[]st.Part{st.Listing(owner, st.ConfigMap("ns/a", blocks, st.Terminating("example.com/hold")))},
			[]string{
				"ConfigMap/a 1m0s finalizer HeldByFinalizers []",
				"ConfigMap/owner 1m0s dependents ConfigMap/a BlockedByDependents []",
			},
		},
		"names the other finalizer if the collector can remove its own": {
			[]st.Part{st.Listing(st.ConfigMap("ns/owner", st.Terminating(object.ForegroundFinalizer, "example.com/hold")))},
			[]string{"ConfigMap/owner 1m0s finalizer HeldByFinalizers []"},
		},
		"does not know what holds an owner whose dependents were not all listed": {
			[]st.Part{st.Listing(owner), st.Unlisted("secrets")},
			[]string{"ConfigMap/owner 1m0s unknown DependentsUnknown []"},
		},
		"reports what should be gone": {
			[]st.Part{st.Listing(st.ConfigMap("ns/done", st.Terminating()))},
			[]string{"ConfigMap/done 1m0s nothing NothingHolds []"},
		},
		"names the contents of a namespace, and their finalizers": {
			[]st.Part{
				st.Serving(st.TypesWithContents()...),
				st.Listing(st.Namespace("ns", st.Terminating(), st.Reporting()), st.ConfigMap("ns/held", st.Terminating("example.com/hold"))),
			},
			[]string{
				"ConfigMap/held 1m0s finalizer HeldByFinalizers []",
				"Namespace/ns 1m0s contents ContentsLeft []",
			},
		},
		"names the other finalizer, and not the dependents that the collector deletes before": {
			[]st.Part{st.Listing(st.ConfigMap("ns/owner", st.Terminating(object.ForegroundFinalizer, "example.com/hold")), st.ConfigMap("ns/a", blocks))},
			[]string{"ConfigMap/owner 1m0s finalizer HeldByFinalizers []"},
		},
		"names the finalizer that holds a Pod after its grace period": {
			[]st.Part{st.Listing(st.Pod("ns/stopping", st.Running(), st.InGracePeriodUntil(time.Second), st.WithFinalizers("example.com/hold")))},
			[]string{"Pod/stopping 29s finalizer HeldByFinalizers []"},
		},
		"leaves a Pod that was deleted in the foreground to its kubelet, too": {
			[]st.Part{st.Listing(st.Pod("ns/stopping", st.Running(), st.InGracePeriodUntil(time.Second), st.WithFinalizers(object.ForegroundFinalizer)))},
			[]string{"Pod/stopping 29s grace-period GracePeriod [its kubelet]"},
		},
		"names a protection before the collector": {
			[]st.Part{st.Serving(claims), st.Listing(st.Object("v1", "PersistentVolumeClaim", "ns/data", st.Terminating(object.ForegroundFinalizer, simulate.ClaimProtection)))},
			[]string{"PersistentVolumeClaim/data 1m0s finalizer HeldByFinalizers [the volume protection (kube-controller-manager)]"},
		},
		"does not know what becomes of an object whose UID another one has": {
			[]st.Part{st.Listing(st.ConfigMap("ns/a", st.Terminating("example.com/hold"), func(o *object.Object) { o.Contested = true }))},
			[]string{"ConfigMap/a 1m0s unknown UIDContested []"},
		},
		"names the kubelet first of a Pod past its grace period with a finalizer": {
			[]st.Part{st.Listing(st.Pod("ns/lost", st.Running(), st.InGracePeriod(), st.WithFinalizers("example.com/hold")))},
			[]string{"Pod/lost 1m30s kubelet PodOverdue [its kubelet]"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, o := range holds(st.New(c.seen...)) {
				root := ""
				if o.RootCause != nil {
					root = " " + o.RootCause.String()
				}
				got = append(got, fmt.Sprintf("%s %s %s%s %s [%s]", o.Object, o.Age(), o.Holder, root, o.Code, strings.Join(o.Controllers(), ", ")))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestOnlyWhatExceedsTheGracePeriodOfAPodIsLate(t *testing.T) {
	got := holds(st.New(st.Listing(
		st.ConfigMap("ns/a", st.TerminatingFor(2*time.Minute, "example.com/hold")),
		st.Pod("ns/b", st.Running(), st.InGracePeriod()), // 30 seconds, which ended a minute ago
		st.Pod("ns/c", st.Running(), st.InGracePeriodUntil(time.Second)),
	)))
	for i, want := range []struct{ age, late time.Duration }{{2 * time.Minute, 2 * time.Minute}, {90 * time.Second, time.Minute}, {29 * time.Second, -time.Second}} {
		if h := got[i]; h.Age() != want.age || h.Late(want.late) || !h.Late(want.late-time.Nanosecond) {
			t.Errorf("%s is %s old, and late after %s: %t", h.Object, h.Age(), want.late, h.Late(want.late))
		}
	}
}

func TestTheNodeOfAPodPastItsGracePeriodIsNamed(t *testing.T) {
	got := holds(st.New(st.Listing(st.Pod("ns/lost", st.Running(), st.InGracePeriod(), st.OnNode("worker-3", object.NodeAbsent)))))
	const want = "has been past its grace period for 60s: it waits for the kubelet of Node worker-3, which does not exist"
	if len(got) != 1 || got[0].Message() != want {
		t.Errorf("got %+v", got)
	}
}

// TestKubernetes129883NoRemovalIsPromisedThatIsRefused: a controller cannot remove a finalizer if admission refuses that.
func TestKubernetes129883NoRemovalIsPromisedThatIsRefused(t *testing.T) {
	claim := st.Object("v1", "PersistentVolumeClaim", "shop/data", st.Terminating(simulate.ClaimProtection))
	seen := st.New(st.Serving(append(st.Workloads(), *snapshot.GuessType(claim.GroupVersionKind()))...), st.Listing(claim))
	because := func() string {
		return holds(seen)[0].Because
	}
	if got := because(); !strings.Contains(got, "its finalizer") {
		t.Errorf("nothing is refused: %q", got)
	}
	seen.Refused = []reason.WebhookRefuses{{Operation: "UPDATE", First: claim.Identity, Finalizer: simulate.ClaimProtection}}
	if got := because(); got != "" {
		t.Errorf("promises %q", got)
	}
}
