package collector_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector/collectortest"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// The table of docs/gc-semantics.md#verdicts.
func TestVerdictTable(t *testing.T) {
	pod, node := st.Pod("ns/owner"), st.Node("owner")
	child := func(r object.Reference) object.Object { return st.ConfigMap("ns/child", st.Owned(r)) }
	run(t, []scenario{
		{"a cluster-scoped owner known to be absent", []stage{{
			"",
			[]st.Part{st.Listing(child(st.To(node))), st.Absent("v1", "Node", "owner")},
			[]string{"ConfigMap/ns/child: Node/owner dangling (missing), delete"},
		}}},
		{"a namespaced owner known to be absent", []stage{
			{
				"in the dependent's namespace",
				[]st.Part{st.Listing(child(st.To(pod))), st.Absent("v1", "Pod", "ns/owner")},
				[]string{"ConfigMap/ns/child: Pod/owner dangling (missing), delete"},
			},
			{
				"in another namespace, which proves nothing",
				[]st.Part{st.Unlisted("pods"), st.Listing(child(st.To(pod))), st.Absent("v1", "Pod", "other/owner")},
				[]string{"ConfigMap/ns/child: Pod/owner unknown (unverified), unknown"},
			},
			{
				"of a kind that is no longer served: the mapping is asked first",
				[]st.Part{st.Listing(child(st.To(pod, st.As("gone.example.com/v1", "Gone")))), st.Absent("gone.example.com/v1", "Gone", "ns/owner")},
				[]string{"ConfigMap/ns/child: Gone/owner unresolvable (unknown-kind), stuck"},
			},
		}},
		{"a kind that maps to nothing", []stage{
			{
				"unknown kind",
				[]st.Part{st.Listing(child(st.To(pod, st.As("v1", "Foo"))))},
				[]string{"ConfigMap/ns/child: Foo/owner unresolvable (unknown-kind), stuck"},
			},
			{
				"unknown group",
				[]st.Part{st.Listing(child(st.To(pod, st.As("unknown.example.com/v1", "Pod"))))},
				[]string{"ConfigMap/ns/child: Pod/owner unresolvable (unknown-kind), stuck"},
			},
			{
				"known kind, unserved version",
				[]st.Part{st.Listing(child(st.To(pod, st.As("v2", "Pod"))), pod)},
				[]string{"ConfigMap/ns/child: Pod/owner unresolvable (unserved-version), stuck"},
			},
		}},
		{"a cluster-scoped dependent of a namespaced kind", []stage{
			{
				"whose owner exists",
				[]st.Part{st.Listing(st.Node("child", st.OwnedBy(pod)), pod)},
				[]string{"Node/child: Pod/owner scope-error (cluster-to-namespaced), stuck"},
			},
			{
				"whose version is not served",
				[]st.Part{st.Listing(st.Node("child", st.Owned(st.To(pod, st.As("v2", "Pod")))))},
				[]string{"Node/child: Pod/owner unresolvable (cluster-to-namespaced), stuck"},
			},
			{
				"whose kind is a guessed list",
				[]st.Part{st.Listing(st.Node("child", st.Owned(st.To(pod, st.As("v1", "PodList")))))},
				[]string{"Node/child: PodList/owner scope-error (cluster-to-namespaced), stuck"},
			},
		}},
		{"a GET that answers 404", []stage{{
			"",
			[]st.Part{st.Unlisted("pods"), st.Listing(child(st.To(pod))), st.Absent("v1", "Pod", "ns/owner")},
			[]string{"ConfigMap/ns/child: Pod/owner dangling (missing), delete"},
		}}},
		{"a GET that fails", []stage{{
			"",
			[]st.Part{st.Listing(child(st.To(pod))), st.Failed("v1", "Pod", "ns/owner", snapshot.ServerError)},
			[]string{"ConfigMap/ns/child: Pod/owner unknown (unverified), unknown"},
		}}},
		{"a GET that answers another UID", []stage{{
			"",
			[]st.Part{st.Listing(child(st.To(pod))), st.Found(st.Pod("ns/owner", st.UID("successor")))},
			[]string{"ConfigMap/ns/child: Pod/owner dangling (replaced), delete"},
		}}},
		{"an owner that is being deleted in the foreground", []stage{
			{
				"seen in a list",
				[]st.Part{st.Listing(child(st.To(pod)), st.Pod("ns/owner", st.Foreground()))},
				[]string{"ConfigMap/ns/child: Pod/owner waiting (terminating), delete"},
			},
			{
				"seen by a GET",
				[]st.Part{st.Listing(child(st.To(pod))), st.Found(st.Pod("ns/owner", st.Foreground()))},
				[]string{"ConfigMap/ns/child: Pod/owner waiting (terminating), delete"},
			},
			{
				"the finalizer alone is no deletion",
				[]st.Part{st.Listing(child(st.To(pod)), st.Pod("ns/owner", st.WithFinalizers(object.ForegroundFinalizer)))},
				[]string{"ConfigMap/ns/child: Pod/owner solid, none"},
			},
		}},
		{"an owner that lives", []stage{
			{
				"a namespaced one",
				[]st.Part{st.Listing(child(st.To(pod)), pod)},
				[]string{"ConfigMap/ns/child: Pod/owner solid, none"},
			},
			{
				"a cluster-scoped one",
				[]st.Part{st.Listing(child(st.To(node)), node)},
				[]string{"ConfigMap/ns/child: Node/owner solid, none"},
			},
		}},
	})
}

// The sections below the table of docs/gc-semantics.md#verdicts.
func TestVerdictDetails(t *testing.T) {
	pod, role, widget := st.Pod("ns/owner"), st.Role("ns/owner"), st.Object("example.com/v1", "Widget", "ns/owner", st.AlsoServedAs("legacy.example.com/v1", "Widget"))
	child := func(refs ...object.Reference) object.Object { return st.ConfigMap("ns/child", st.Owned(refs...)) }
	unknown, missing := st.To(pod, st.As("v1", "Foo")), st.To(st.Pod("ns/missing"))
	run(t, []scenario{
		{"any error aborts the whole object", []stage{
			{
				"the error first",
				[]st.Part{st.Listing(child(unknown, st.To(pod), missing), pod)},
				[]string{
					"ConfigMap/ns/child: Foo/owner unresolvable (unknown-kind), stuck",
					"ConfigMap/ns/child: Pod/owner solid, none",
					"ConfigMap/ns/child: Pod/missing dangling (missing), stuck",
				},
			},
			{
				"the error last",
				[]st.Part{st.Listing(child(missing, st.To(pod), unknown), pod)},
				[]string{
					"ConfigMap/ns/child: Pod/missing dangling (missing), stuck",
					"ConfigMap/ns/child: Pod/owner solid, none",
					"ConfigMap/ns/child: Foo/owner unresolvable (unknown-kind), stuck",
				},
			},
		}},
		{"an owner that terminates without the foreground finalizer is solid", []stage{
			{
				"a pod in its grace period",
				[]st.Part{st.Listing(child(st.To(pod)), st.Pod("ns/owner", st.Terminating()))},
				[]string{"ConfigMap/ns/child: Pod/owner solid, none"},
			},
			{
				"held by a foreign finalizer",
				[]st.Part{st.Listing(child(st.To(pod)), st.Pod("ns/owner", st.Terminating("x/y")))},
				[]string{"ConfigMap/ns/child: Pod/owner solid, none"},
			},
			{
				"orphaning",
				[]st.Part{st.Listing(child(st.To(pod)), st.Pod("ns/owner", st.Terminating(object.OrphanFinalizer)))},
				[]string{"ConfigMap/ns/child: Pod/owner solid, none"},
			},
		}},
		{"an owner in another namespace does not count, a cluster-scoped one does", []stage{
			{
				"the owner lives in another namespace",
				[]st.Part{st.Listing(st.ConfigMap("other/child", st.OwnedBy(pod)), pod)},
				[]string{"ConfigMap/other/child: Pod/owner dangling (cross-namespace), delete"},
			},
			{
				"an object of its name lives here",
				[]st.Part{st.Listing(st.ConfigMap("other/child", st.OwnedBy(pod)), pod, st.Pod("other/owner"))},
				[]string{"ConfigMap/other/child: Pod/owner dangling (cross-namespace), delete"},
			},
			{
				"the owner is cluster-scoped",
				[]st.Part{st.Listing(st.ConfigMap("ns/child", st.OwnedBy(st.Node("n"))), st.ConfigMap("other/child", st.OwnedBy(st.Node("n"))), st.Node("n"))},
				[]string{"ConfigMap/ns/child: Node/n solid, none", "ConfigMap/other/child: Node/n solid, none"},
			},
		}},
		{"any served version and group that answers with the UID is good", []stage{
			{
				"a version that is not preferred, by a GET",
				[]st.Part{st.Listing(child(st.To(role, st.As(collectortest.RbacBeta, "Role"))), role), st.FoundAs(collectortest.RbacBeta, "Role", st.Role("ns/owner"))},
				[]string{"ConfigMap/ns/child: Role/owner solid, none"},
			},
			{
				"another group that serves the object, by the lists",
				[]st.Part{st.Listing(child(st.To(widget, st.As("legacy.example.com/v1", "Widget"))), widget)},
				[]string{"ConfigMap/ns/child: Widget/owner solid, none"},
			},
			{
				"a group that serves another object of the kind",
				[]st.Part{st.Listing(child(st.To(pod, st.As("legacy.example.com/v1", "Widget"))), pod)},
				[]string{"ConfigMap/ns/child: Widget/owner dangling (mismatched), delete"},
			},
		}},
		{"spellings that lead somewhere", []stage{
			{
				"a kind in lower case",
				[]st.Part{st.Listing(child(st.To(pod, st.As("v1", "pod"))), pod)},
				[]string{"ConfigMap/ns/child: pod/owner solid, none"},
			},
			{
				"a kind in lower case whose owner went between list and GET",
				[]st.Part{st.Listing(child(st.To(pod, st.As("v1", "pod"))), pod), st.Absent("v1", "pod", "ns/owner")},
				[]string{"ConfigMap/ns/child: pod/owner dangling (missing), delete"},
			},
			{
				"a kind in upper case",
				[]st.Part{st.Listing(child(st.To(pod, st.As("v1", "POD"))), pod)},
				[]string{"ConfigMap/ns/child: POD/owner unresolvable (unknown-kind), stuck"},
			},
			{
				"a plural",
				[]st.Part{st.Listing(child(st.To(pod, st.As("v1", "pods"))), pod)},
				[]string{"ConfigMap/ns/child: pods/owner unresolvable (unknown-kind), stuck"},
			},
			{
				"the list kind of a living owner",
				[]st.Part{st.Listing(child(st.To(pod, st.As("v1", "PodList"))), pod)},
				[]string{"ConfigMap/ns/child: PodList/owner dangling (mismatched), delete"},
			},
			{
				"the list kind of a type that could not be listed",
				[]st.Part{st.Unreadable("pods", snapshot.Forbidden), st.Listing(child(st.To(pod, st.As("v1", "PodList"))))},
				[]string{"ConfigMap/ns/child: PodList/owner dangling (missing), delete"},
			},
			{
				"the bare list kind",
				[]st.Part{st.Listing(child(st.To(pod, st.As("v1", "List"))))},
				[]string{"ConfigMap/ns/child: List/owner dangling (missing), delete"},
			},
			{
				"a malformed apiVersion leads to the core group",
				[]st.Part{st.Listing(child(st.To(pod, st.As("a/b/c", "Pod"))), pod)},
				[]string{"ConfigMap/ns/child: Pod/owner solid, none"},
			},
			{
				"an empty apiVersion leads to the core group",
				[]st.Part{st.Listing(child(st.To(pod, st.As("", "pod"))), pod)},
				[]string{"ConfigMap/ns/child: pod/owner solid, none"},
			},
			{
				"an empty apiVersion leads to no other group",
				[]st.Part{st.Listing(child(st.To(role, st.As("", "Role"))), role)},
				[]string{"ConfigMap/ns/child: Role/owner unresolvable (unserved-version), stuck"},
			},
			{
				"an empty kind",
				[]st.Part{st.Listing(child(st.To(pod, st.As("v1", ""))))},
				[]string{"ConfigMap/ns/child: /owner unresolvable (unknown-kind), stuck"},
			},
			{
				"an empty UID is nobody's",
				[]st.Part{st.Listing(child(st.To(pod, st.WithUID(""))), pod)},
				[]string{"ConfigMap/ns/child: Pod/owner dangling (replaced), delete"},
			},
		}},
		{"the right UID under a wrong name or kind dangles", []stage{
			{
				"a wrong name",
				[]st.Part{st.Listing(child(st.To(pod, st.Named("else"))), pod)},
				[]string{"ConfigMap/ns/child: Pod/else dangling (mismatched), delete"},
			},
			{
				"a wrong kind",
				[]st.Part{st.Listing(child(st.To(pod, st.As("v1", "Secret"))), pod)},
				[]string{"ConfigMap/ns/child: Secret/owner dangling (mismatched), delete"},
			},
			{
				"the name of somebody else",
				[]st.Part{st.Listing(child(st.To(pod, st.Named("else"))), pod, st.Pod("ns/else"))},
				[]string{"ConfigMap/ns/child: Pod/else dangling (mismatched), delete"},
			},
		}},
		{"an owner with both finalizers is waiting all the same", []stage{{
			"",
			[]st.Part{st.Listing(child(st.To(pod)), st.Pod("ns/owner", st.Terminating(object.OrphanFinalizer, object.ForegroundFinalizer)))},
			[]string{"ConfigMap/ns/child: Pod/owner waiting (terminating), delete"},
		}}},
		{"an owner of a kind that is not watched but answers is solid", []stage{{
			"",
			[]st.Part{st.Listing(child(st.To(st.Object("v1", "ComponentStatus", "cs")))), st.Found(st.Object("v1", "ComponentStatus", "cs"))},
			[]string{"ConfigMap/ns/child: ComponentStatus/cs solid, none"},
		}}},
		{"an object without references is nobody's", []stage{{
			"",
			[]st.Part{st.Listing(child(), pod)},
			nil,
		}}},
	})
}

// What becomes of a dangling reference beside an owner that cannot be asked for is unknown, whatever the error is.
func TestOwnerThatCannotBeAskedForIsUnknown(t *testing.T) {
	child := st.ConfigMap("ns/child", st.OwnedBy(st.Pod("ns/missing"), st.Pod("ns/owner")))
	for _, reason := range []snapshot.ErrorClass{
		snapshot.Forbidden, snapshot.ServerError, snapshot.Throttled, snapshot.TimedOut, snapshot.Unavailable, snapshot.Unreadable, snapshot.Unverified,
	} {
		stage{
			string(reason),
			[]st.Part{st.Listing(child), st.Failed("v1", "Pod", "ns/owner", reason)},
			[]string{"ConfigMap/ns/child: Pod/missing dangling (missing), unknown", "ConfigMap/ns/child: Pod/owner unknown (unverified), unknown"},
		}.check(t)
	}
}

// A request with such a name would read something else (docs/gc-semantics.md#owner-name-in-a-url).
func TestInvalidOwnerNameIsUnverified(t *testing.T) {
	for _, name := range []string{"", ".", "..", "../pods/owner", "a/b", "a%2fb", "ns/owner"} {
		pod := st.Pod("ns/owner")
		stage{
			"",
			[]st.Part{st.Listing(st.ConfigMap("ns/child", st.Owned(st.To(pod, st.Named(name)))), pod)},
			[]string{"ConfigMap/ns/child: Pod/" + name + " unknown (unverified), unknown"},
		}.check(t)

		_, j := judgeFirst(st.New(st.Listing(st.ConfigMap("ns/child", st.Owned(st.To(pod, st.Named(name)))))))
		if j.Lookup == nil || j.Lookup.Reason != snapshot.BadName {
			t.Errorf("%q: the evidence is %+v, want a bad name", name, j.Lookup)
		}
	}
}

func TestUnlistedOwnerIsUnknown(t *testing.T) {
	pod := st.Pod("ns/owner")
	list := st.Listing(st.ConfigMap("ns/child", st.OwnedBy(pod)))
	const unverified = "ConfigMap/ns/child: Pod/owner unknown (unverified), unknown"
	run(t, []scenario{
		{"the owner's type could not be listed", []stage{
			{"forbidden", []st.Part{st.Unreadable("pods", snapshot.Forbidden), list}, []string{unverified}},
			{"timed out", []st.Part{st.Unreadable("pods", snapshot.TimedOut), list}, []string{unverified}},
		}},
		{"the owner's type was listed elsewhere only", []stage{
			{"another namespace", []st.Part{st.ListedIn("pods", "other"), list}, []string{unverified}},
			{"this namespace", []st.Part{st.ListedIn("pods", "ns"), list}, []string{"ConfigMap/ns/child: Pod/owner dangling (missing), delete"}},
		}},
		{"a failed search for lost owners weakens no verdict", []stage{
			{
				"where the owner was looked up",
				[]st.Part{st.ListedIn("pods", "ns"), st.Unsearched("pods"), list},
				[]string{"ConfigMap/ns/child: Pod/owner dangling (missing), delete"},
			},
			{
				"and proves nothing where it was not",
				[]st.Part{st.Unlisted("pods"), st.Unsearched("pods"), list},
				[]string{unverified},
			},
		}},
		{"the type of a cluster-scoped owner was listed in one namespace", []stage{
			{
				"",
				[]st.Part{st.ListedIn("nodes", "ns"), st.Listing(st.ConfigMap("ns/child", st.OwnedBy(st.Node("n"))))},
				[]string{"ConfigMap/ns/child: Node/n unknown (unverified), unknown"},
			},
		}},
		{"not looked up", []stage{
			{"the type was not listed", []st.Part{st.Unlisted("pods"), list}, []string{unverified}},
			{
				"the collector does not watch the type",
				[]st.Part{st.Listing(st.ConfigMap("ns/child", st.OwnedBy(st.Object("v1", "ComponentStatus", "cs"))))},
				[]string{"ConfigMap/ns/child: ComponentStatus/cs unknown (unverified), unknown"},
			},
		}},
		{"the group could not be discovered", []stage{
			{
				"so its kinds may well exist",
				[]st.Part{st.Undiscovered("example.com", snapshot.Unavailable), st.Listing(st.ConfigMap("ns/child", st.OwnedBy(st.Object("example.com/v1", "Widget", "ns/w"))))},
				[]string{"ConfigMap/ns/child: Widget/w unknown (unverified), unknown"},
			},
			{
				"which proves nothing about other groups",
				[]st.Part{st.Undiscovered("example.com", snapshot.Unavailable), st.Listing(st.ConfigMap("ns/child", st.OwnedBy(st.Object("other.com/v1", "Widget", "ns/w"))))},
				[]string{"ConfigMap/ns/child: Widget/w unresolvable (unknown-kind), stuck"},
			},
		}},
		{"an owner of a gapped type that was seen all the same is judged by what was seen", []stage{
			{
				"by a GET",
				[]st.Part{st.Unreadable("pods", snapshot.Forbidden), list, st.Found(pod)},
				[]string{"ConfigMap/ns/child: Pod/owner solid, none"},
			},
			{
				"its successor by a GET",
				[]st.Part{st.Unreadable("pods", snapshot.Forbidden), list, st.Found(st.Pod("ns/owner", st.UID("successor")))},
				[]string{"ConfigMap/ns/child: Pod/owner dangling (replaced), delete"},
			},
			{
				"in a list that broke off",
				[]st.Part{st.Unreadable("pods", snapshot.TimedOut), list, st.Listing(pod)},
				[]string{"ConfigMap/ns/child: Pod/owner solid, none"},
			},
			{
				"its UID elsewhere in a list that broke off: one answer is no proof",
				[]st.Part{st.Unreadable("pods", snapshot.TimedOut), list, st.Listing(st.Pod("other/owner", st.UID(pod.UID)))},
				[]string{unverified},
			},
			{
				"its successor in a list that broke off: one answer is no proof",
				[]st.Part{st.Unreadable("pods", snapshot.TimedOut), list, st.Listing(st.Pod("ns/owner", st.UID("successor")))},
				[]string{unverified},
			},
		}},
		{"a kubectl list proves nothing of types it does not hold", []stage{
			{
				"known kinds",
				[]st.Part{fileOf("configmaps"), list},
				[]string{unverified},
			},
			{
				"unknown kinds",
				[]st.Part{fileOf("configmaps"), st.Listing(st.ConfigMap("ns/child", st.Owned(st.To(pod, st.As("x/v1", "Foo")))))},
				[]string{"ConfigMap/ns/child: Foo/owner unknown (unverified), unknown"},
			},
			{
				"types it holds",
				[]st.Part{fileOf("configmaps", "pods"), list},
				[]string{"ConfigMap/ns/child: Pod/owner dangling (missing), delete"},
			},
			{
				"types it may hold in part",
				[]st.Part{fileOf("configmaps", "pods"), st.Unlisted("pods"), list},
				[]string{unverified},
			},
			{
				"except that an object with the owner's UID elsewhere is the owner",
				[]st.Part{fileOf("configmaps", "pods"), st.Unlisted("pods"), list, st.Listing(st.Pod("other/owner", st.UID(pod.UID)))},
				[]string{"ConfigMap/ns/child: Pod/owner dangling (cross-namespace), delete"},
			},
		}},
	})
}

// fileOf makes the snapshot that of a file with a kubectl list of these types.
func fileOf(resources ...string) st.Part {
	return func(s *snapshot.Snapshot) {
		s.Types, s.Listed = nil, nil
		for _, t := range st.Types() {
			for _, r := range resources {
				if t.String() == r {
					st.Serving(t)(s)
				}
			}
		}
		s.Gaps = []snapshot.Gap{{Group: snapshot.All, Resource: snapshot.All, Reason: snapshot.NotInFile}}
	}
}

func TestLookupOutweighsLists(t *testing.T) {
	role := st.Role("ns/owner")
	child := st.ConfigMap("ns/child", st.Owned(st.To(role, st.As(collectortest.RbacBeta, "Role"))))
	run(t, []scenario{
		{"what the list shows at the coordinates under another version", []stage{
			{
				"is the owner where nobody asked",
				[]st.Part{st.Listing(child, role)},
				[]string{"ConfigMap/ns/child: Role/owner solid, none"},
			},
			{
				"has gone since",
				[]st.Part{st.Listing(child, role), st.Absent(collectortest.RbacBeta, "Role", "ns/owner")},
				[]string{"ConfigMap/ns/child: Role/owner dangling (missing), delete"},
			},
			{
				"has been replaced since",
				[]st.Part{st.Listing(child, role), st.FoundAs(collectortest.RbacBeta, "Role", st.Role("ns/owner", st.UID("successor")))},
				[]string{"ConfigMap/ns/child: Role/owner dangling (replaced), delete"},
			},
			{
				"has been marked for a foreground deletion since",
				[]st.Part{st.Listing(child, role), st.FoundAs(collectortest.RbacBeta, "Role", st.Role("ns/owner", st.Foreground()))},
				[]string{"ConfigMap/ns/child: Role/owner waiting (terminating), delete"},
			},
			{
				"cannot be asked for",
				[]st.Part{st.Listing(child, role), st.Failed(collectortest.RbacBeta, "Role", "ns/owner", snapshot.Forbidden)},
				[]string{"ConfigMap/ns/child: Role/owner unknown (unverified), unknown"},
			},
			{
				"was another object, and now is the owner",
				[]st.Part{st.Listing(child, st.Role("ns/owner", st.UID("predecessor"))), st.FoundAs(collectortest.RbacBeta, "Role", st.Role("ns/owner"))},
				[]string{"ConfigMap/ns/child: Role/owner solid, none"},
			},
		}},
		{"a lookup speaks for its own reference only", []stage{
			{
				"not for one of another spelling",
				[]st.Part{
					st.Listing(child, role, st.ConfigMap("ns/other", st.Owned(st.To(role, st.As(role.APIVersion, "role"))))),
					st.Absent(collectortest.RbacBeta, "Role", "ns/owner"),
				},
				[]string{"ConfigMap/ns/child: Role/owner dangling (missing), delete", "ConfigMap/ns/other: role/owner solid, none"},
			},
		}},
		{"an owner that a list shows needs no lookup", []stage{{
			"",
			[]st.Part{st.Listing(st.ConfigMap("ns/child", st.OwnedBy(role)), role), st.Absent(role.APIVersion, "Role", "ns/owner")},
			[]string{"ConfigMap/ns/child: Role/owner solid, none"},
		}}},
	})
}

func TestOnlyOutcomeAbsentProvesAbsence(t *testing.T) {
	child := st.ConfigMap("ns/child", st.OwnedBy(st.Pod("ns/owner")))
	for _, l := range []snapshot.Lookup{{Outcome: "perhaps"}, {Outcome: ""}, {Outcome: snapshot.Found}} {
		l.Coordinates = snapshot.Coordinates{APIVersion: "v1", Kind: "Pod", Namespace: "ns", Name: "owner"}
		s := st.New(st.Listing(child))
		s.Lookups = []snapshot.Lookup{l}
		if _, j := judgeFirst(s); j.Verdict != collector.VerdictUnknown {
			t.Errorf("outcome %q without an object: the owner is %s", l.Outcome, j.Verdict)
		}
	}
}

func TestFirstOfSeveralCauses(t *testing.T) {
	elsewhere, here := st.Pod("other/owner", st.UID("u")), st.Pod("ns/owner", st.UID("successor"))
	r := object.Reference{APIVersion: "v1", Kind: "Pod", Name: "owner", UID: "u"}
	with := func(edit st.Edit) object.Object {
		r := r
		edit(&r)
		return st.ConfigMap("ns/child", st.Owned(r))
	}
	child := with(func(*object.Reference) {})
	run(t, []scenario{
		{"unverified before cross-namespace", []stage{{
			"",
			[]st.Part{st.ListedIn("pods", "other"), st.Listing(child, elsewhere)},
			[]string{"ConfigMap/ns/child: Pod/owner unknown (unverified), unknown"},
		}}},
		{"unverified before mismatched", []stage{{
			"",
			[]st.Part{st.Unreadable("secrets", snapshot.Forbidden), st.Listing(with(st.As("v1", "Secret")), st.Pod("ns/owner", st.UID("u")))},
			[]string{"ConfigMap/ns/child: Secret/owner unknown (unverified), unknown"},
		}}},
		{"unverified before unserved", []stage{{
			"",
			[]st.Part{st.Undiscovered("extensions", snapshot.Unavailable), st.Listing(with(st.As(collectortest.Extensions, "Deployment")), st.Deployment("ns/owner", st.UID("u")))},
			[]string{"ConfigMap/ns/child: Deployment/owner unknown (unverified), unknown"},
		}}},
		{"cluster-to-namespaced before unserved", []stage{{
			"",
			[]st.Part{st.Listing(st.Node("child", st.Owned(st.To(elsewhere, st.As("v2", "Pod")))), elsewhere)},
			[]string{"Node/child: Pod/owner unresolvable (cluster-to-namespaced), stuck"},
		}}},
		{"cluster-to-namespaced before cross-namespace", []stage{{
			"",
			[]st.Part{st.Listing(st.Node("child", st.OwnedBy(elsewhere)), elsewhere)},
			[]string{"Node/child: Pod/owner scope-error (cluster-to-namespaced), stuck"},
		}}},
		{"unserved before cross-namespace", []stage{{
			"",
			[]st.Part{st.Listing(with(st.As("v2", "Pod")), elsewhere)},
			[]string{"ConfigMap/ns/child: Pod/owner unresolvable (unserved-version), stuck"},
		}}},
		{"unknown kind before mismatched", []stage{{
			"",
			[]st.Part{st.Listing(with(st.As("v1", "Foo")), st.Pod("ns/owner", st.UID("u")))},
			[]string{"ConfigMap/ns/child: Foo/owner unresolvable (unknown-kind), stuck"},
		}}},
		{"cross-namespace before mismatched", []stage{{
			"",
			[]st.Part{st.Listing(with(st.Named("else")), elsewhere)},
			[]string{"ConfigMap/ns/child: Pod/else dangling (cross-namespace), delete"},
		}}},
		{"cross-namespace before replaced", []stage{{
			"",
			[]st.Part{st.Listing(child, elsewhere, here)},
			[]string{"ConfigMap/ns/child: Pod/owner dangling (cross-namespace), delete"},
		}}},
		{"mismatched before replaced", []stage{{
			"",
			[]st.Part{st.Listing(with(st.As("v1", "Secret")), st.Pod("ns/owner", st.UID("u")), st.Secret("ns/owner"))},
			[]string{"ConfigMap/ns/child: Secret/owner dangling (mismatched), delete"},
		}}},
		{"a mismatch with a cluster-scoped object is no matter of namespaces", []stage{{
			"",
			[]st.Part{st.Listing(child, st.Node("owner", st.UID("u")))},
			[]string{"ConfigMap/ns/child: Pod/owner dangling (mismatched), delete"},
		}}},
	})
}

func TestJudgementEvidence(t *testing.T) {
	owner := st.Pod("ns/owner")
	child := func(r object.Reference) st.Part { return st.Listing(st.ConfigMap("ns/child", st.Owned(r))) }
	uid := func(o *object.Object) string {
		if o == nil {
			return ""
		}
		return string(o.UID)
	}
	tests := map[string]struct {
		seen             []st.Part
		holder, resident string
		served           []string
		gap, lookup      snapshot.ErrorClass
	}{
		"solid: the owner": {
			seen: []st.Part{child(st.To(owner)), st.Listing(owner)}, holder: "Pod/ns/owner",
		},
		"solid by a lookup: the owner": {
			seen: []st.Part{child(st.To(owner)), st.Found(owner)}, holder: "Pod/ns/owner",
		},
		"replaced: the successor": {
			seen: []st.Part{child(st.To(owner)), st.Listing(st.Pod("ns/owner", st.UID("new")))}, resident: "new",
		},
		"replaced, by a lookup: the successor": {
			seen: []st.Part{child(st.To(owner)), st.Found(st.Pod("ns/owner", st.UID("new")))}, resident: "new",
		},
		"cross-namespace: who bears the UID, and who lives here": {
			seen:   []st.Part{child(st.To(owner)), st.Listing(st.Pod("other/owner", st.UID(owner.UID)), st.Pod("ns/owner", st.UID("new")))},
			holder: "Pod/ns/owner", resident: "new",
		},
		"missing: nobody": {
			seen: []st.Part{child(st.To(owner))},
		},
		"unserved version: the served ones, preferred first": {
			seen:   []st.Part{child(st.To(st.Role("ns/owner"), st.As("rbac.authorization.k8s.io/v1alpha1", "Role")))},
			served: []string{"rbac.authorization.k8s.io/v1", "rbac.authorization.k8s.io/v1beta1"},
		},
		"unserved group: where the owner really is": {
			seen:   []st.Part{child(st.To(st.Deployment("ns/owner"), st.As(collectortest.Extensions, "Deployment"))), st.Listing(st.Deployment("ns/owner"))},
			holder: "Deployment/ns/owner", served: []string{"apps/v1"},
		},
		"unknown kind: nothing": {
			seen: []st.Part{child(st.To(owner, st.As("v1", "Foo")))},
		},
		"unverified: the gap of the type": {
			seen: []st.Part{st.Unreadable("pods", snapshot.Forbidden), child(st.To(owner))}, gap: snapshot.Forbidden,
		},
		"unverified: the gap of the group": {
			seen: []st.Part{st.Undiscovered("apps", snapshot.Unavailable), child(st.To(st.Deployment("ns/d")))}, gap: snapshot.Unavailable,
		},
		"unverified: the failed lookup": {
			seen: []st.Part{st.Failed("v1", "Pod", "ns/owner", snapshot.Throttled), child(st.To(owner))}, lookup: snapshot.Throttled,
		},
		"unverified: neither if not looked up": {
			seen: []st.Part{st.Unlisted("pods"), child(st.To(owner))},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, j := judgeFirst(st.New(test.seen...))
			got := []any{uid(j.UIDHolder), uid(j.NameHolder), j.Served, snapshot.ErrorClass(""), snapshot.ErrorClass("")}
			if j.Gap != nil {
				got[3] = j.Gap.Reason
			}
			if j.Lookup != nil {
				got[4] = j.Lookup.Reason
			}
			want := []any{test.holder, test.resident, test.served, test.gap, test.lookup}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("holder, resident, served, gap, lookup:\n%s", diff)
			}
		})
	}
}

// judgeFirst judges the first reference of the first listed object that has one.
func judgeFirst(s *snapshot.Snapshot) (*object.Object, collector.Judgement) {
	g := graph.New(s)
	for n := range g.Listed() {
		if len(g.Owners(graph.Node(n))) > 0 {
			return g.Object(graph.Node(n)), collector.NewJudge(g).Reference(graph.Edge{Node: graph.Node(n)})
		}
	}
	return nil, collector.Judgement{}
}

func TestReferencesOfALookedUpOwner(t *testing.T) {
	role := st.Object("rbac.authorization.k8s.io/v1", "ClusterRole", "role")
	successor := st.Node("node", st.UID("successor"))
	status := st.Object("v1", "ComponentStatus", "cs", st.Owned(
		st.To(role, st.As(collectortest.RbacBeta, "ClusterRole")),
		st.To(st.Node("node")),
		st.To(st.Node("missing")),
	))
	g := graph.New(st.New(st.Listing(st.ConfigMap("ns/child", st.OwnedBy(status)), role, successor), st.Found(status)))
	var got []string
	for _, j := range collector.NewJudge(g).Object(g.Find(status.UID)) {
		got = append(got, string(j.Verdict)+collectortest.DescribeCause(j.Cause))
	}
	if diff := cmp.Diff([]string{"solid", "dangling (replaced)", "dangling (missing)"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestUnmonitored(t *testing.T) {
	tests := map[string]struct {
		reference object.Reference
		want      bool
	}{
		"a watched kind":                       {st.To(st.Pod("ns/a")), false},
		"a served version that is not watched": {st.To(st.Role("ns/a"), st.As(collectortest.RbacBeta, "Role")), false},
		"a kind that cannot be watched":        {st.To(st.Object("v1", "ComponentStatus", "cs")), true},
		"an event":                             {st.To(st.Object("v1", "Event", "ns/e")), true},
		"an event of its own group":            {st.To(st.Object("events.k8s.io/v1", "Event", "ns/e")), true},
		"an unknown kind":                      {st.To(st.Pod("ns/a"), st.As("v1", "Foo")), false},
		"a guessed list kind":                  {st.To(st.Pod("ns/a"), st.As("v1", "PodList")), false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, j := judgeFirst(st.New(st.Listing(st.ConfigMap("ns/child", st.Owned(test.reference)))))
			if got := j.Unmonitored(); got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

func TestBadReference(t *testing.T) {
	for _, cause := range collectortest.Causes {
		want := cause != collector.CauseNone && cause != collector.CauseTerminating
		if got := (collector.Judgement{Cause: cause}).Broken(); got != want {
			t.Errorf("%q: got %v, want %v", cause, got, want)
		}
	}
}
