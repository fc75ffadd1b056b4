package collector_test

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector/collectortest"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// The cases of upstream's TestConflictingData that TestVerdictTable and TestVerdictDetails do not have.
// Upstream tests orders of events; here every stage is a snapshot, and every order of its objects must
// lead to the same verdicts (docs/gc-semantics.md#conflicting-claims).
func TestConflictingData(t *testing.T) {
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
		{"CD6 a child that names its owner in a served version which is not the preferred one lives as long as the owner", []stage{
			{
				"the owner answers in that version",
				[]st.Part{st.Listing(pod("child", asBeta)), st.FoundAs(collectortest.RbacBeta, "Role", st.Role("ns1/role1"))},
				[]string{"Pod/ns1/child: Role/role1 solid, none"},
			},
			{
				"the owner is deleted",
				[]st.Part{st.Listing(pod("child", asBeta)), st.Absent(collectortest.RbacBeta, "Role", "ns1/role1")},
				[]string{"Pod/ns1/child: Role/role1 dangling (missing), delete"},
			},
		}},
		{"CD9 of two children of an absent owner only the one in a served version is deleted", []stage{
			{
				"the owner is absent",
				[]st.Part{st.Listing(pod("bad", asExtension), pod("good", st.To(deployment))), st.Absent("apps/v1", "Deployment", "ns1/deployment1")},
				[]string{
					"Pod/ns1/bad: Deployment/deployment1 unresolvable (unknown-kind), stuck",
					"Pod/ns1/good: Deployment/deployment1 dangling (missing), delete",
				},
			},
		}},
		{"CD11 a child with the owner's UID and another kind is deleted, its sibling kept", []stage{
			{
				"the owner answers a GET and is in no list yet",
				[]st.Part{st.Listing(pod("bad", asSecret), pod("good", st.To(deployment))), st.Absent("v1", "Secret", "ns1/secretname"), st.Found(deployment)},
				[]string{
					"Pod/ns1/bad: Secret/secretname dangling (mismatched), delete",
					"Pod/ns1/good: Deployment/deployment1 solid, none",
				},
			},
		}},
		{"CD14 of two children of an absent owner the cluster-scoped one is kept, the other deleted", []stage{
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
