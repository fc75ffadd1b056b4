package audit_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
	"github.com/kubectl-gc/kubectl-gc/pkg/terminating"
)

// beingDeleted returns what is being deleted, oldest first.
func beingDeleted(s *snapshot.Snapshot, o audit.Filter) []terminating.Hold {
	found := audit.Terminating(collector.NewJudge(graph.New(s)), o)
	return audit.JoinTerminating([]audit.Cluster{{Report: audit.NewReport(s), Terminating: found}}).Objects
}

func TestTerminatingIsSortedByAgeAndLimitedToTheScope(t *testing.T) {
	seen := st.New(st.Listing(
		st.ConfigMap("ns/new", st.TerminatingFor(time.Minute, "x/a")),
		st.ConfigMap("ns/old", st.TerminatingFor(time.Hour, "x/a")),
		st.ConfigMap("other/older", st.TerminatingFor(2*time.Hour, "x/a")),
	))
	var got []string
	for _, o := range beingDeleted(seen, audit.Filter{Namespace: "ns"}) {
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
			Terminating: audit.Terminating(collector.NewJudge(graph.New(seen)), audit.Filter{}),
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
	), st.Absent("apps/v1", "Deployment", "ns/old")))), audit.Filter{StuckAfter: terminating.DefaultStuckAfter})
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
