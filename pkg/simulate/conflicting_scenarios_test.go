package simulate_test

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector/collectortest"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// The data of upstream's TestConflictingData. Package collector checks the verdicts.
func TestSimulateConflictingData(t *testing.T) {
	node := st.Node("node1")
	gone := st.To(st.Pod("ns1/gone"))
	role := st.Role("ns1/role1")
	deployment := st.Deployment("ns1/deployment1")
	owner := st.Pod("ns2/podname2")
	pod := func(name string, refs ...object.Reference) object.Object {
		return st.Pod("ns1/"+name, st.Owned(refs...))
	}
	asBeta := st.To(role, st.As(collectortest.RbacBeta, "Role"))
	asExtension := st.To(deployment, st.As(collectortest.Extensions, "Deployment"))
	asSecret := st.To(deployment, st.As("v1", "Secret"), st.Named("secretname"))
	goes := func(name string) []string { return []string{"1 delete " + name + " Background"} }
	isGone := func(name string) []string { return []string{name + " gone"} }

	run(t, []scenario{
		{name: "CD1 a cluster-scoped owner keeps its namespaced child", seen: listing(pod("child", st.To(node)), node)},
		{name: "CD2 a child whose owner is in another namespace goes, child first", seen: append(listing(pod("child", st.To(owner)), owner), st.Absent("v1", "Pod", "ns1/podname2")), moves: goes("child"), left: isGone("child")},
		{name: "CD3 a child whose owner is in another namespace goes, owner first", seen: listing(owner, pod("child", st.To(owner))), moves: goes("child"), left: isGone("child")},
		{name: "CD4 a cluster-scoped child of a namespaced owner stays, child first", seen: listing(st.Node("child", st.OwnedBy(owner)))},
		{name: "CD5 a cluster-scoped child of a namespaced owner stays, owner first", seen: listing(owner, st.Node("child", st.OwnedBy(owner)))},
		{name: "CD6 a child that names its owner in another served version stays", seen: listing(pod("child", asBeta), role)},
		{
			name:  "CD6 and goes after its owner",
			seen:  listing(pod("child", asBeta), st.Role("ns1/role1", st.Owned(gone))),
			moves: []string{"1 delete role1 Background", "2 delete child Background"},
			left:  []string{"child gone", "role1 gone"},
		},
		{
			name:  "CD7 a child that names its owner in an unserved version outlives it, child first",
			seen:  listing(pod("child", asExtension), st.Deployment("ns1/deployment1", st.Owned(gone))),
			moves: goes("deployment1"), left: isGone("deployment1"),
		},
		{name: "CD8 a child that names its owner in an unserved version stays, owner first", seen: listing(deployment, pod("child", asExtension))},
		{
			name:  "CD9 of two children of an absent owner the one in a served version goes, the other first",
			seen:  append(listing(pod("bad", asExtension), pod("good", st.To(deployment))), st.Absent("apps/v1", "Deployment", "ns1/deployment1")),
			moves: goes("good"), left: isGone("good"),
		},
		{
			name:  "CD10 of two children of an absent owner the one in a served version goes, that one first",
			seen:  append(listing(pod("good", st.To(deployment)), pod("other", asExtension)), st.Absent("apps/v1", "Deployment", "ns1/deployment1")),
			moves: goes("good"), left: isGone("good"),
		},
		{
			name:  "CD11 a child that gives its owner's UID another kind goes, its sibling stays, the owner last",
			seen:  append(listing(pod("bad", asSecret), pod("good", st.To(deployment))), st.Found(deployment), st.Absent("v1", "Secret", "ns1/secretname")),
			moves: goes("bad"), left: isGone("bad"),
		},
		{
			name:  "CD12 a child that gives its owner's UID another kind goes, its sibling stays, the owner observed",
			seen:  append(listing(pod("bad", asSecret), pod("good", st.To(deployment)), deployment), st.Absent("v1", "Secret", "ns1/secretname")),
			moves: goes("bad"), left: isGone("bad"),
		},
		{
			name:  "CD13 a child that gives its owner's UID another kind goes, its sibling stays, the sibling first",
			seen:  listing(pod("good", st.To(deployment)), deployment, pod("bad", asSecret)),
			moves: goes("bad"), left: isGone("bad"),
		},
		{
			name:  "CD14 of two children of an absent owner the cluster-scoped one stays, the bad one first",
			seen:  listing(st.Node("bad", st.OwnedBy(owner)), st.Pod("ns2/good", st.OwnedBy(owner))),
			moves: goes("good"), left: isGone("good"),
		},
		{name: "CD15 a cluster-scoped child does its sibling no harm", seen: listing(st.Node("bad", st.OwnedBy(owner)), st.Pod("ns2/good", st.OwnedBy(owner)), owner)},
		{
			name:  "CD16 of two children of an absent owner the cluster-scoped one stays, the good one first",
			seen:  append(listing(st.Pod("ns2/good", st.OwnedBy(owner)), st.Node("bad", st.OwnedBy(owner))), st.Absent("v1", "Pod", "ns2/podname2")),
			moves: goes("good"), left: isGone("good"),
		},
	})
}

// References change between the scan and the DELETE. The DELETE fails with a conflict, and
// the object is read and judged again.
func TestDecideAfterSetObserved(t *testing.T) {
	role := st.Role("ns1/role1")
	child := st.Pod("ns1/child", st.OwnedBy(st.Pod("ns1/old")))
	changed := st.Pod("ns1/child", st.OwnedBy(role))
	for _, test := range []struct {
		name    string
		verdict collector.Verdict
		want    string
	}{
		{"CD17 the new owner is missing too: it still goes", collector.VerdictDangling, "delete Background"},
		{"CD17 the new owner lives: it stays", collector.VerdictSolid, "kept"},
		{"CD17 nobody can say whether the new owner lives: it stays", collector.VerdictUnknown, "undecidable: role1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := modelOf(st.New(st.Listing(child)))
			n := m.Graph().Find(child.UID)
			if got := collectortest.DescribeDecision(m.Object(n), m.Decide(n)); got != "delete Background" {
				t.Fatalf("before: %q", got)
			}
			m.SetObserved(n, &changed, []collector.Judgement{{Verdict: test.verdict}})
			if got := collectortest.DescribeDecision(m.Object(n), m.Decide(n)); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestDependentsOfAnObjectObservedGoneAreDangling(t *testing.T) {
	owner := st.ConfigMap("ns1/owner")
	waiting := st.ConfigMap("ns1/owner", st.Foreground())
	for _, test := range []struct {
		name string
		pod  object.Object
		was  string
	}{
		{"G2 a pod that is gone when its turn comes, its owner missing", st.Pod("ns1/pod", st.OwnedBy(owner)), "delete Background"},
		{"G3 a pod that is gone when its turn comes, its owner waiting", st.Pod("ns1/pod", st.OwnedBy(waiting)), "delete Foreground"},
	} {
		t.Run(test.name, func(t *testing.T) {
			seen := []object.Object{test.pod, st.Secret("ns1/dependent", st.OwnedBy(test.pod))}
			if test.was == "delete Foreground" {
				seen = append(seen, waiting)
			}
			m := modelOf(st.New(st.Listing(seen...)))
			pod, dependent := m.Graph().Find(test.pod.UID), m.Graph().Find("Secret/ns1/dependent")
			if got := collectortest.DescribeDecision(m.Object(pod), m.Decide(pod)); got != test.was {
				t.Errorf("the pod: got %q, want %q", got, test.was)
			}
			m.SetObserved(pod, nil, nil)
			for n, want := range map[graph.Node]string{pod: "gone", dependent: "delete Background"} {
				if got := collectortest.DescribeDecision(m.Object(n), m.Decide(n)); got != want {
					t.Errorf("%s: got %q, want %q", m.Graph().UID(n), got, want)
				}
			}
		})
	}
}
