package collector_test

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector/collectortest"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// Upstream's TestConflictingData. Upstream tests orders of events; here every stage is a
// snapshot, and every order of its objects must lead to the same verdicts
// (docs/gc-semantics.md#conflicting-claims).
func TestConflictingData(t *testing.T) {
	node := st.Node("node1")
	role := st.Role("ns1/role1")
	deployment := st.Deployment("ns1/deployment1")
	owner := st.Pod("ns2/podname2")
	pod := func(name string, refs ...object.Reference) object.Object {
		return st.Pod("ns1/"+name, st.Owned(refs...))
	}
	asBeta := st.To(role, st.As(collectortest.RbacBeta, "Role"))
	asExtension := st.To(deployment, st.As(collectortest.Extensions, "Deployment"))
	asSecret := st.To(deployment, st.As("v1", "Secret"), st.Named("secretname"))

	run(t, []scenario{
		{"CD1 a namespaced child of a cluster-scoped owner is kept, child first", []stage{
			{
				"the owner answers a GET and is in no list yet",
				[]st.Part{st.Listing(pod("child", st.To(node))), st.Found(node)},
				[]string{"Pod/ns1/child: Node/node1 solid, none"},
			},
			{
				"the owner is observed",
				[]st.Part{st.Listing(pod("child", st.To(node)), node)},
				[]string{"Pod/ns1/child: Node/node1 solid, none"},
			},
		}},
		{"CD2 a child whose owner lives in another namespace is deleted, child first", []stage{
			{
				"nothing answers in the child's namespace",
				[]st.Part{st.Listing(pod("child", st.To(owner))), st.Absent("v1", "Pod", "ns1/podname2")},
				[]string{"Pod/ns1/child: Pod/podname2 dangling (missing), delete"},
			},
			{
				"the owner is observed where it lives",
				[]st.Part{st.Listing(pod("child", st.To(owner)), owner), st.Absent("v1", "Pod", "ns1/podname2")},
				[]string{"Pod/ns1/child: Pod/podname2 dangling (cross-namespace), delete"},
			},
		}},
		{"CD3 a child whose owner lives in another namespace is deleted, owner first", []stage{
			{
				"both are observed",
				[]st.Part{st.Listing(owner, pod("child", st.To(owner)))},
				[]string{"Pod/ns1/child: Pod/podname2 dangling (cross-namespace), delete"},
			},
		}},
		{"CD4 a cluster-scoped child of a namespaced owner is kept for ever, child first", []stage{
			{
				"the owner is not observed",
				[]st.Part{st.Listing(st.Node("child", st.OwnedBy(owner)))},
				[]string{"Node/child: Pod/podname2 scope-error (cluster-to-namespaced), stuck"},
			},
			{
				"the owner is observed",
				[]st.Part{st.Listing(st.Node("child", st.OwnedBy(owner)), owner)},
				[]string{"Node/child: Pod/podname2 scope-error (cluster-to-namespaced), stuck"},
			},
		}},
		{"CD5 a cluster-scoped child of a namespaced owner is kept for ever, owner first", []stage{
			{
				"only the child's own metadata was needed",
				[]st.Part{st.Listing(owner, st.Node("child", st.OwnedBy(owner))), st.Failed("v1", "Pod", "podname2", snapshot.Forbidden)},
				[]string{"Node/child: Pod/podname2 scope-error (cluster-to-namespaced), stuck"},
			},
		}},
		{"CD6 a child that names its owner in a served version which is not the preferred one lives as long as the owner", []stage{
			{
				"the owner answers in that version",
				[]st.Part{st.Listing(pod("child", asBeta)), st.FoundAs(collectortest.RbacBeta, "Role", st.Role("ns1/role1"))},
				[]string{"Pod/ns1/child: Role/role1 solid, none"},
			},
			{
				"the owner is observed in the preferred version",
				[]st.Part{st.Listing(pod("child", asBeta), role)},
				[]string{"Pod/ns1/child: Role/role1 solid, none"},
			},
			{
				"both",
				[]st.Part{st.Listing(pod("child", asBeta), role), st.FoundAs(collectortest.RbacBeta, "Role", st.Role("ns1/role1"))},
				[]string{"Pod/ns1/child: Role/role1 solid, none"},
			},
			{
				"the owner is deleted",
				[]st.Part{st.Listing(pod("child", asBeta)), st.Absent(collectortest.RbacBeta, "Role", "ns1/role1")},
				[]string{"Pod/ns1/child: Role/role1 dangling (missing), delete"},
			},
		}},
		{"CD7 a child that names its owner in an unserved version is kept for ever, child first", []stage{
			{
				"the owner is not observed",
				[]st.Part{st.Listing(pod("child", asExtension))},
				[]string{"Pod/ns1/child: Deployment/deployment1 unresolvable (unknown-kind), stuck"},
			},
			{
				"the owner is observed",
				[]st.Part{st.Listing(pod("child", asExtension), deployment)},
				[]string{"Pod/ns1/child: Deployment/deployment1 unresolvable (unserved-version), stuck"},
			},
			{
				"the owner is deleted",
				[]st.Part{st.Listing(pod("child", asExtension)), st.Absent("apps/v1", "Deployment", "ns1/deployment1")},
				[]string{"Pod/ns1/child: Deployment/deployment1 unresolvable (unknown-kind), stuck"},
			},
		}},
		{"CD8 a child that names its owner in an unserved version is kept for ever, owner first", []stage{
			{
				"both are observed",
				[]st.Part{st.Listing(deployment, pod("child", asExtension))},
				[]string{"Pod/ns1/child: Deployment/deployment1 unresolvable (unserved-version), stuck"},
			},
		}},
		{"CD9 of two children of an absent owner only the one in a served version is deleted, the other first", []stage{
			{
				"the owner is absent",
				[]st.Part{st.Listing(pod("bad", asExtension), pod("good", st.To(deployment))), st.Absent("apps/v1", "Deployment", "ns1/deployment1")},
				[]string{
					"Pod/ns1/bad: Deployment/deployment1 unresolvable (unknown-kind), stuck",
					"Pod/ns1/good: Deployment/deployment1 dangling (missing), delete",
				},
			},
		}},
		{"CD10 of two children of an absent owner only the one in a served version is deleted, that one first", []stage{
			{
				"the good child is gone already",
				[]st.Part{st.Listing(pod("bad", asExtension)), st.Absent("apps/v1", "Deployment", "ns1/deployment1")},
				[]string{"Pod/ns1/bad: Deployment/deployment1 unresolvable (unknown-kind), stuck"},
			},
		}},
		{"CD11 a child with the owner's UID and another kind is deleted, its sibling kept, the owner last", []stage{
			{
				"the owner answers a GET and is in no list yet",
				[]st.Part{st.Listing(pod("bad", asSecret), pod("good", st.To(deployment))), st.Absent("v1", "Secret", "ns1/secretname"), st.Found(deployment)},
				[]string{
					"Pod/ns1/bad: Secret/secretname dangling (mismatched), delete",
					"Pod/ns1/good: Deployment/deployment1 solid, none",
				},
			},
		}},
		{"CD12 a child with the owner's UID and another kind is deleted, its sibling kept, the owner observed", []stage{
			{
				"the bad child's claim was found absent",
				[]st.Part{st.Listing(pod("bad", asSecret), pod("good", st.To(deployment)), deployment), st.Absent("v1", "Secret", "ns1/secretname")},
				[]string{
					"Pod/ns1/bad: Secret/secretname dangling (mismatched), delete",
					"Pod/ns1/good: Deployment/deployment1 solid, none",
				},
			},
		}},
		{"CD13 a child with the owner's UID and another kind is deleted, its sibling kept, the sibling first", []stage{
			{
				"the lists alone",
				[]st.Part{st.Listing(pod("good", st.To(deployment)), deployment, pod("bad", asSecret))},
				[]string{
					"Pod/ns1/bad: Secret/secretname dangling (mismatched), delete",
					"Pod/ns1/good: Deployment/deployment1 solid, none",
				},
			},
			{
				"the bad child is gone",
				[]st.Part{st.Listing(pod("good", st.To(deployment)), deployment)},
				[]string{"Pod/ns1/good: Deployment/deployment1 solid, none"},
			},
		}},
		{"CD14 of two children of an absent owner the cluster-scoped one is kept, the other deleted, the bad one first", []stage{
			{
				"the owner is absent",
				[]st.Part{st.Listing(st.Node("bad", st.OwnedBy(owner)), st.Pod("ns2/good", st.OwnedBy(owner))), st.Absent("v1", "Pod", "ns2/podname2")},
				[]string{
					"Node/bad: Pod/podname2 scope-error (cluster-to-namespaced), stuck",
					"Pod/ns2/good: Pod/podname2 dangling (missing), delete",
				},
			},
		}},
		{"CD15 a cluster-scoped child does no harm to its sibling whose owner is seen late", []stage{
			{
				"the owner answers a GET and is in no list yet",
				[]st.Part{st.Listing(st.Node("bad", st.OwnedBy(owner)), st.Pod("ns2/good", st.OwnedBy(owner))), st.Found(owner)},
				[]string{
					"Node/bad: Pod/podname2 scope-error (cluster-to-namespaced), stuck",
					"Pod/ns2/good: Pod/podname2 solid, none",
				},
			},
			{
				"the owner is observed",
				[]st.Part{st.Listing(st.Node("bad", st.OwnedBy(owner)), st.Pod("ns2/good", st.OwnedBy(owner)), owner)},
				[]string{
					"Node/bad: Pod/podname2 scope-error (cluster-to-namespaced), stuck",
					"Pod/ns2/good: Pod/podname2 solid, none",
				},
			},
		}},
		{"CD16 of two children of an absent owner the cluster-scoped one is kept, the good one first", []stage{
			{
				"the good child is gone already",
				[]st.Part{st.Listing(st.Node("bad", st.OwnedBy(owner))), st.Absent("v1", "Pod", "ns2/podname2")},
				[]string{"Node/bad: Pod/podname2 scope-error (cluster-to-namespaced), stuck"},
			},
		}},
		{"CD17 a child whose references change before its deletion is judged by the new ones", []stage{
			{
				"the owner is gone",
				[]st.Part{st.Listing(pod("child", st.To(st.Pod("ns1/old")))), st.Absent("v1", "Pod", "ns1/old")},
				[]string{"Pod/ns1/child: Pod/old dangling (missing), delete"},
			},
			{
				"the references now name a role that is missing too",
				[]st.Part{st.Listing(pod("child", st.To(role))), st.Absent("v1", "Pod", "ns1/old")},
				[]string{"Pod/ns1/child: Role/role1 dangling (missing), delete"},
			},
			{
				"the references now name a role that exists",
				[]st.Part{st.Listing(pod("child", st.To(role)), role), st.Absent("v1", "Pod", "ns1/old")},
				[]string{"Pod/ns1/child: Role/role1 solid, none"},
			},
		}},
	})
}

// Upstream's TestGetAlternateOwnerIdentity, about which identity of an absent owner the
// collector tries next. Here, every dependent is judged by its own reference.
func TestAlternateIdentities(t *testing.T) {
	const uid = "owner"
	name := st.Pod("ns1/name", st.UID(uid))
	widget := st.Object("example.com/v1", "Widget", "ns1/name", st.UID(uid))
	role := st.Role("ns1/name", st.UID(uid))
	cluster := st.Object("rbac.authorization.k8s.io/v1", "ClusterRole", "name", st.UID(uid))
	node := st.Node("name", st.UID(uid))
	claim := func(at string, r object.Reference) object.Object { return st.ConfigMap(at, st.Owned(r)) }

	run(t, []scenario{
		{"AI1 a namespaced owner is absent in one version and answers in another", []stage{{
			"",
			[]st.Part{
				st.Listing(claim("ns1/a", st.To(role)), claim("ns1/b", st.To(role, st.As(collectortest.RbacBeta, "Role")))),
				st.Absent(role.APIVersion, "Role", "ns1/name"), st.FoundAs(collectortest.RbacBeta, "Role", st.Role("ns1/name", st.UID(uid))),
			},
			[]string{"ConfigMap/ns1/a: Role/name dangling (missing), delete", "ConfigMap/ns1/b: Role/name solid, none"},
		}}},
		{"AI2 a namespaced owner is absent as one kind and answers as another", []stage{{
			"",
			[]st.Part{
				st.Listing(claim("ns1/a", st.To(name)), claim("ns1/b", st.To(widget))),
				st.Absent("v1", "Pod", "ns1/name"), st.Found(widget),
			},
			[]string{"ConfigMap/ns1/a: Pod/name dangling (mismatched), delete", "ConfigMap/ns1/b: Widget/name solid, none"},
		}}},
		{"AI3 a namespaced owner is absent in one namespace and answers in another", []stage{{
			"",
			[]st.Part{
				st.Listing(claim("ns1/a", st.To(name)), claim("ns2/b", st.To(name))),
				st.Absent("v1", "Pod", "ns1/name"), st.Found(st.Pod("ns2/name", st.UID(uid))),
			},
			[]string{"ConfigMap/ns1/a: Pod/name dangling (cross-namespace), delete", "ConfigMap/ns2/b: Pod/name solid, none"},
		}}},
		{"AI4 a namespaced owner is absent under one name and answers under another", []stage{{
			"",
			[]st.Part{
				st.Listing(claim("ns1/a", st.To(name)), claim("ns1/b", st.To(name, st.Named("other")))),
				st.Absent("v1", "Pod", "ns1/name"), st.Found(st.Pod("ns1/other", st.UID(uid))),
			},
			[]string{"ConfigMap/ns1/a: Pod/name dangling (mismatched), delete", "ConfigMap/ns1/b: Pod/other solid, none"},
		}}},
		{"AI5 a cluster-scoped owner is absent in one version and answers in another", []stage{{
			"",
			[]st.Part{
				st.Listing(claim("ns1/a", st.To(cluster)), claim("ns1/b", st.To(cluster, st.As(collectortest.RbacBeta, "ClusterRole")))),
				st.Absent(cluster.APIVersion, "ClusterRole", "name"), st.FoundAs(collectortest.RbacBeta, "ClusterRole", cluster),
			},
			[]string{"ConfigMap/ns1/a: ClusterRole/name dangling (missing), delete", "ConfigMap/ns1/b: ClusterRole/name solid, none"},
		}}},
		{"AI6 a cluster-scoped owner is absent as one kind and answers as another, in the child's namespace", []stage{{
			"",
			[]st.Part{
				st.Listing(claim("ns1/a", st.To(cluster)), claim("ns1/b", st.To(name))),
				st.Absent(cluster.APIVersion, "ClusterRole", "name"), st.Found(name),
			},
			[]string{"ConfigMap/ns1/a: ClusterRole/name dangling (mismatched), delete", "ConfigMap/ns1/b: Pod/name solid, none"},
		}}},
		{"AI7 a cluster-scoped owner is the same one for every namespace", []stage{{
			"",
			[]st.Part{
				st.Listing(claim("ns1/a", st.To(node)), claim("ns2/b", st.To(node))),
				st.Absent("v1", "Node", "name"),
			},
			[]string{"ConfigMap/ns1/a: Node/name dangling (missing), delete", "ConfigMap/ns2/b: Node/name dangling (missing), delete"},
		}}},
		{"AI8 a cluster-scoped owner is absent under one name and answers under another", []stage{{
			"",
			[]st.Part{
				st.Listing(claim("ns1/a", st.To(node)), claim("ns1/b", st.To(node, st.Named("other")))),
				st.Absent("v1", "Node", "name"), st.Found(st.Node("other", st.UID(uid))),
			},
			[]string{"ConfigMap/ns1/a: Node/name dangling (mismatched), delete", "ConfigMap/ns1/b: Node/other solid, none"},
		}}},
		{"AI9 of five versions claimed by namespaced children each is judged by itself, the first one served", fiveVersions(0, true)},
		{"AI10 of five versions claimed by namespaced children each is judged by itself, the last one served", fiveVersions(4, true)},
		{"AI11 of five versions claimed by cluster-scoped children each is judged by itself, the first one served", fiveVersions(0, false)},
		{"AI12 of five versions claimed by cluster-scoped children each is judged by itself, the last one served", fiveVersions(4, false)},
		{"AI13 a dependent of another UID at the same place is judged by its own UID", []stage{{
			"",
			[]st.Part{st.Listing(claim("ns1/a", st.To(name)), claim("ns1/b", st.To(name, st.WithUID("another")))), st.Found(st.Pod("ns1/name", st.UID("another")))},
			[]string{"ConfigMap/ns1/a: Pod/name dangling (replaced), delete", "ConfigMap/ns1/b: Pod/name solid, none"},
		}}},
		{"AI14 dependents that agree with the absent identity all dangle", []stage{{
			"",
			[]st.Part{st.Listing(claim("ns1/a", st.To(name)), claim("ns1/b", st.To(name)), claim("ns1/c", st.To(name))), st.Absent("v1", "Pod", "ns1/name")},
			[]string{
				"ConfigMap/ns1/a: Pod/name dangling (missing), delete",
				"ConfigMap/ns1/b: Pod/name dangling (missing), delete",
				"ConfigMap/ns1/c: Pod/name dangling (missing), delete",
			},
		}}},
		{"AI15 one claim made twice is one claim", []stage{{
			"",
			[]st.Part{st.Listing(claim("ns1/a", st.To(name)), st.ConfigMap("ns1/b", st.Owned(st.To(name), st.To(name)))), st.Absent("v1", "Pod", "ns1/name")},
			[]string{
				"ConfigMap/ns1/a: Pod/name dangling (missing), delete",
				"ConfigMap/ns1/b: Pod/name dangling (missing), delete",
				"ConfigMap/ns1/b: Pod/name dangling (missing), delete",
			},
		}}},
	})
}

// fiveVersions returns five dependents that name an owner in versions v1 to v5. One version
// is served.
func fiveVersions(served int, namespaced bool) []stage {
	prefix := ""
	if namespaced {
		prefix = "ns1/"
	}
	dependent := "ConfigMap/ns1/"
	versions := []string{"v1", "v2", "v3", "v4", "v5"}
	typ := snapshot.Type{
		Group: "five.example.com", Version: versions[served], Resource: "things", Kind: "Thing", Namespaced: namespaced,
		Verbs: []string{"delete", "get", "list", "watch"}, Preferred: true,
	}
	seen := []st.Part{st.Serving(typ), st.Found(st.Object("five.example.com/"+versions[served], "Thing", prefix+"x", st.UID("owner")))}
	var want []string
	for i, version := range versions {
		r := object.Reference{APIVersion: "five.example.com/" + version, Kind: "Thing", Name: "x", UID: "owner"}
		child := st.ConfigMap("ns1/"+version, st.Owned(r))
		if !namespaced {
			child, dependent = st.Node(version, st.Owned(r)), "Node/"
		}
		seen = append(seen, st.Listing(child))
		verdict := ": Thing/x unresolvable (unserved-version), stuck"
		if i == served {
			verdict = ": Thing/x solid, none"
		}
		want = append(want, dependent+version+verdict)
	}
	return []stage{{"", seen, want}}
}
