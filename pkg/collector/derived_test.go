package collector_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// Scenarios that upstream does not test, but that follow from its rules, as far as they concern
// verdicts and consequences. D is the dependent, O an owner.
func TestDerivedScenarios(t *testing.T) {
	o1, o2 := st.Pod("ns/o1"), st.Pod("ns/o2")
	unknown := st.To(o2, st.As("v1", "Foo"))
	d := func(refs ...object.Reference) object.Object { return st.ConfigMap("ns/d", st.Owned(refs...)) }
	terminating := func(finalizers ...string) object.Object {
		return st.Pod("ns/o1", st.Terminating(finalizers...))
	}
	scenarios := []scenario{
		{"L1 a missing owner beside a solid one is dropped", []stage{{
			"",
			[]st.Part{st.Listing(d(st.To(o1), st.To(o2)), o1)},
			[]string{"ConfigMap/ns/d: Pod/o1 solid, none", "ConfigMap/ns/d: Pod/o2 dangling (missing), unlink"},
		}}},
		{"L2 a missing owner beside one of unknown kind comes to nothing", []stage{
			{
				"the missing one first",
				[]st.Part{st.Listing(d(st.To(o1), unknown))},
				[]string{"ConfigMap/ns/d: Pod/o1 dangling (missing), stuck", "ConfigMap/ns/d: Foo/o2 unresolvable (unknown-kind), stuck"},
			},
			{
				"the unknown one first",
				[]st.Part{st.Listing(d(unknown, st.To(o1)))},
				[]string{"ConfigMap/ns/d: Foo/o2 unresolvable (unknown-kind), stuck", "ConfigMap/ns/d: Pod/o1 dangling (missing), stuck"},
			},
			{
				"the missing one known to be absent",
				[]st.Part{st.Listing(d(st.To(o1), unknown)), st.Absent("v1", "Pod", "ns/o1")},
				[]string{"ConfigMap/ns/d: Pod/o1 dangling (missing), stuck", "ConfigMap/ns/d: Foo/o2 unresolvable (unknown-kind), stuck"},
			},
		}},
		{"L3 a missing owner is not dropped while another is of unknown kind", []stage{{
			"",
			[]st.Part{st.Listing(d(st.To(o1), unknown, st.To(st.Pod("ns/missing"))), o1)},
			[]string{
				"ConfigMap/ns/d: Pod/o1 solid, none",
				"ConfigMap/ns/d: Foo/o2 unresolvable (unknown-kind), stuck",
				"ConfigMap/ns/d: Pod/missing dangling (missing), stuck",
			},
		}}},
		{"L5 an owner that terminates and is held by somebody keeps its dependents", []stage{{
			"",
			[]st.Part{st.Listing(d(st.To(o1)), terminating("x/y"))},
			[]string{"ConfigMap/ns/d: Pod/o1 solid, none"},
		}}},
		{"L6 an owner that is orphaning keeps its dependents", []stage{{
			"",
			[]st.Part{st.Listing(d(st.To(o1)), terminating(object.OrphanFinalizer))},
			[]string{"ConfigMap/ns/d: Pod/o1 solid, none"},
		}}},
		{"L7 an owner with both finalizers is waiting all the same", []stage{{
			"",
			[]st.Part{st.Listing(d(st.To(o1)), terminating(object.OrphanFinalizer, object.ForegroundFinalizer))},
			[]string{"ConfigMap/ns/d: Pod/o1 waiting (terminating), delete"},
		}}},
		{"L12 a terminating dependent is left alone, whatever its owners", []stage{{
			"",
			[]st.Part{st.Listing(st.ConfigMap("ns/d", st.OwnedBy(o1), st.Owned(unknown), st.Terminating("x/y")))},
			[]string{"ConfigMap/ns/d: Pod/o1 dangling (missing), none", "ConfigMap/ns/d: Foo/o2 unresolvable (unknown-kind), none"},
		}}},
		{"L21 the members of a cycle keep each other", []stage{{
			"",
			[]st.Part{st.Listing(st.Pod("ns/a", st.OwnedBy(st.Pod("ns/b"))), st.Pod("ns/b", st.OwnedBy(st.Pod("ns/a"))))},
			[]string{"Pod/ns/a: Pod/b solid, none", "Pod/ns/b: Pod/a solid, none"},
		}}},
		{"L22 a member of a cycle with another, missing owner only loses that reference", []stage{{
			"",
			[]st.Part{st.Listing(st.Pod("ns/a", st.OwnedBy(st.Pod("ns/b"), o1)), st.Pod("ns/b", st.OwnedBy(st.Pod("ns/a"))))},
			[]string{"Pod/ns/a: Pod/b solid, none", "Pod/ns/a: Pod/o1 dangling (missing), unlink", "Pod/ns/b: Pod/a solid, none"},
		}}},
		{"L23 of two references with one UID the valid one is solid, the other dangles", []stage{{
			"",
			[]st.Part{st.Listing(d(st.To(o1), st.To(o1, st.Named("wrong"))), o1)},
			[]string{"ConfigMap/ns/d: Pod/o1 solid, none", "ConfigMap/ns/d: Pod/wrong dangling (mismatched), unlink"},
		}}},
		{"L24 a successor of the owner's name is not the owner", []stage{
			{
				"seen in a list",
				[]st.Part{st.Listing(d(st.To(o1)), st.Pod("ns/o1", st.UID("successor")))},
				[]string{"ConfigMap/ns/d: Pod/o1 dangling (replaced), delete"},
			},
			{
				"seen by a GET",
				[]st.Part{st.Listing(d(st.To(o1))), st.Found(st.Pod("ns/o1", st.UID("successor")))},
				[]string{"ConfigMap/ns/d: Pod/o1 dangling (replaced), delete"},
			},
		}},
		{"L25 a kind in lower case is good, in upper case unknown, as a list lost", []stage{{
			"",
			[]st.Part{st.Listing(
				st.ConfigMap("ns/lower", st.Owned(st.To(o1, st.As("v1", "pod")))),
				st.ConfigMap("ns/upper", st.Owned(st.To(o1, st.As("v1", "POD")))),
				st.ConfigMap("ns/list", st.Owned(st.To(o1, st.As("v1", "PodList")))),
				o1)},
			[]string{
				"ConfigMap/ns/lower: pod/o1 solid, none",
				"ConfigMap/ns/upper: POD/o1 unresolvable (unknown-kind), stuck",
				"ConfigMap/ns/list: PodList/o1 dangling (mismatched), delete",
			},
		}}},
		{"L26 an owner of a kind that is not watched but answers is solid", []stage{{
			"",
			[]st.Part{st.Listing(d(st.To(st.Object("v1", "ComponentStatus", "cs")))), st.Found(st.Object("v1", "ComponentStatus", "cs"))},
			[]string{"ConfigMap/ns/d: ComponentStatus/cs solid, none"},
		}}},
		{"L30 dependents of a missing cluster-scoped owner in two namespaces go both", []stage{{
			"",
			[]st.Part{st.Listing(st.ConfigMap("ns/d", st.OwnedBy(st.Node("n"))), st.ConfigMap("other/d", st.OwnedBy(st.Node("n")))), st.Absent("v1", "Node", "n")},
			[]string{"ConfigMap/ns/d: Node/n dangling (missing), delete", "ConfigMap/other/d: Node/n dangling (missing), delete"},
		}}},
	}
	l4 := scenario{name: "L4 a missing owner beside one that cannot be asked for comes to nothing that could be told"}
	for _, reason := range []snapshot.ErrorClass{
		snapshot.Forbidden, snapshot.ServerError, snapshot.Throttled, snapshot.TimedOut, snapshot.Unavailable, snapshot.Unreadable, snapshot.Unverified,
	} {
		l4.stages = append(l4.stages, stage{
			string(reason),
			[]st.Part{st.Listing(d(st.To(o1), st.To(o2))), st.Failed("v1", "Pod", "ns/o2", reason)},
			[]string{"ConfigMap/ns/d: Pod/o1 dangling (missing), unknown", "ConfigMap/ns/d: Pod/o2 unknown (unverified), unknown"},
		})
	}
	run(t, append(scenarios, l4))
}

func TestL30OneLookupServesAllDependentsOfAClusterScopedOwner(t *testing.T) {
	s := st.New(st.Listing(st.ConfigMap("ns/d", st.OwnedBy(st.Node("n"))), st.ConfigMap("other/d", st.OwnedBy(st.Node("n")))))
	g := graph.New(s)
	asked := g.View().UnverifiedOwners(s.Objects, func(uid types.UID) *object.Object { return g.Object(g.Find(uid)) })
	if len(asked) != 1 {
		t.Errorf("asked for %v", asked)
	}
}
