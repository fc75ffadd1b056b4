package audit_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
	"github.com/kubectl-gc/kubectl-gc/pkg/terminating"
)

func TestTerminating(t *testing.T) {
	owner := st.ConfigMap("ns/owner", st.Foreground())
	blocks := st.Owned(st.To(owner, st.Blocking))
	for name, c := range map[string]struct {
		seen []st.Part
		want []string
	}{
		"leaves out what is not being deleted": {
			[]st.Part{st.Listing(pod)}, nil,
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
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, o := range beingDeleted(st.New(c.seen...), audit.Options{}) {
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

// beingDeleted returns what is being deleted, oldest first.
func beingDeleted(s *snapshot.Snapshot, o audit.Options) []terminating.Hold {
	found := audit.Terminating(collector.NewJudge(graph.New(s)), o)
	return audit.JoinTerminating([]audit.Cluster{{Report: audit.NewReport(s), Terminating: found}}).Objects
}

func TestTerminatingNamesTheNodeOfAPodPastItsGracePeriod(t *testing.T) {
	got := beingDeleted(st.New(st.Listing(st.Pod("ns/lost", st.Running(), st.InGracePeriod(), st.OnNode("worker-3", object.NodeAbsent)))), audit.Options{})
	const want = "has been past its grace period for 60s: it waits for the kubelet of Node worker-3, which does not exist"
	if len(got) != 1 || got[0].Message != want {
		t.Errorf("got %+v", got)
	}
}

func TestTerminatingIsSortedByAgeAndLimitedToTheScope(t *testing.T) {
	seen := st.New(st.Listing(
		st.ConfigMap("ns/new", st.TerminatingFor(time.Minute, "x/a")),
		st.ConfigMap("ns/old", st.TerminatingFor(time.Hour, "x/a")),
		st.ConfigMap("other/older", st.TerminatingFor(2*time.Hour, "x/a")),
	))
	var got []string
	for _, o := range beingDeleted(seen, audit.Options{Namespace: "ns"}) {
		got = append(got, o.Object.Name)
	}
	if diff := cmp.Diff([]string{"old", "new"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestJoinTerminatingNamesTheClusterAndIsIncompleteIfOneGaveNoAnswer(t *testing.T) {
	deletion := func(name string, age time.Duration) audit.Cluster {
		seen := st.New(st.Listing(st.ConfigMap("ns/"+name, st.TerminatingFor(age, "x/a"))))
		return audit.Cluster{
			Name: name, Answered: true, Report: audit.NewReport(seen),
			Terminating: audit.Terminating(collector.NewJudge(graph.New(seen)), audit.Options{}),
		}
	}
	r := audit.JoinTerminating([]audit.Cluster{
		deletion("prod", time.Minute), deletion("staging", time.Hour), audit.UnansweredCluster("edge", snapshot.Unavailable, "refused"),
	})
	var got []string
	for _, o := range r.Objects {
		got = append(got, o.Cluster+" "+o.Object.Name)
	}
	if diff := cmp.Diff([]string{"staging staging", "prod prod"}, got); diff != "" {
		t.Error(diff)
	}
	if r.Complete || len(r.Gaps) != 1 || r.Gaps[0].Cluster != "edge" {
		t.Errorf("complete %t, gaps %v", r.Complete, r.Gaps)
	}
}

func TestRunWithDeletionsCountsWhatIsDeletedWithTheObjectsOfFindings(t *testing.T) {
	old, web := st.Deployment("ns/old"), st.Deployment("ns/web")
	set := st.Object("apps/v1", "ReplicaSet", "ns/old-1", st.OwnedBy(old))
	gone := st.Namespace("gone", st.Terminating())
	found, err := audit.RunWithDeletions(collector.NewJudge(graph.New(st.New(st.Listing(
		web, set, st.Pod("ns/a", st.OwnedBy(set)), st.Pod("ns/b", st.OwnedBy(set)), st.Pod("ns/shared", st.OwnedBy(set, web)),
		st.ConfigMap("ns/lost-too", st.OwnedBy(old)), gone, st.ConfigMap("gone/content"),
		st.ConfigMap("ns/young", st.TerminatingFor(time.Minute)), st.ConfigMap("ns/late", st.TerminatingFor(time.Hour)), st.ConfigMap("ns/later", st.TerminatingFor(2*time.Hour)),
	), st.Absent("apps/v1", "Deployment", "ns/old")))), audit.Options{StuckAfter: terminating.DefaultStuckAfter})
	if err != nil {
		t.Fatal(err)
	}
	var terminating []string
	for _, o := range found.Terminating {
		terminating = append(terminating, o.Object.Name)
	}
	if diff := cmp.Diff([]string{"later", "late", "young", "gone"}, terminating); diff != "" || found.Dependents != 2 {
		t.Errorf("%d dependents, %s", found.Dependents, diff)
	}
}

// TestKubernetes129883NoRemovalIsPromisedThatIsRefused: a controller cannot remove a finalizer if admission refuses that.
func TestKubernetes129883NoRemovalIsPromisedThatIsRefused(t *testing.T) {
	claim := st.Object("v1", "PersistentVolumeClaim", "shop/data", st.Terminating(simulate.ClaimProtection))
	seen := st.New(st.Serving(append(st.Workloads(), *snapshot.GuessType(claim.GroupVersionKind()))...), st.Listing(claim))
	because := func() string {
		return audit.Terminating(collector.NewJudge(graph.New(seen)), audit.Options{})[0].Because
	}
	if got := because(); !strings.Contains(got, "its finalizer") {
		t.Errorf("nothing is refused: %q", got)
	}
	seen.Refused = []reason.WebhookRefuses{{Operation: "UPDATE", First: claim.Identity, Finalizer: simulate.ClaimProtection}}
	if got := because(); got != "" {
		t.Errorf("promises %q", got)
	}
}
