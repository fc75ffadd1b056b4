package collector_test

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector/collectortest"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

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
