package snapshot_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/restmapper"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

func TestMap(t *testing.T) {
	const nowhere = ""
	tests := []struct {
		name             string
		apiVersion, kind string
		want             string
		spelling         reason.Spelling
	}{
		{"a core kind", "v1", "Pod", "pods v1", reason.ExactSpelling},
		{"a kind of a group", "apps/v1", "Deployment", "deployments.apps v1", reason.ExactSpelling},
		{"a served version that is not the preferred one", "rbac.authorization.k8s.io/v1beta1", "Role", "roles.rbac.authorization.k8s.io v1beta1", reason.ExactSpelling},
		{"the core group spelled with its slash", "/v1", "Pod", "pods v1", reason.ExactSpelling},
		{"an unserved version has no fallback", "apps/v1beta1", "Deployment", nowhere, ""},
		{"an unknown group", "extensions/v1beta1", "Deployment", nowhere, ""},
		{"an unknown kind", "v1", "Foo", nowhere, ""},
		{"the kind in lower case", "v1", "pod", "pods v1", reason.LowerCaseKind},
		{"the kind in lower case, of several words", "v1", "configmap", "configmaps v1", reason.LowerCaseKind},
		{"the kind in upper case", "v1", "POD", nowhere, ""},
		{"the kind in another mixed case", "v1", "Configmap", nowhere, ""},
		{"the plural", "v1", "pods", nowhere, ""},
		{"the list kind leads to a guessed resource", "v1", "PodList", "podlists v1 guessed", reason.KindOfList},
		{"the list kind of a cluster-scoped kind", "v1", "NodeList", "nodelists v1 guessed", reason.KindOfList},
		{"the bare list", "v1", "List", "lists v1 guessed", reason.KindOfList},
		{"the bare list of a group", "apps/v1", "List", "lists.apps v1 guessed", reason.KindOfList},
		{"the bare list of an unserved version", "apps/v9", "List", nowhere, ""},
		{"the list of an unknown kind", "v1", "FooList", nowhere, ""},
		{"the list of a lower-case kind", "v1", "podList", nowhere, ""},
		{"a malformed apiVersion leads to the core group", "a/b/c", "Pod", "pods v1", reason.NoVersionInGroup},
		{"an empty apiVersion leads to the core group", "", "Pod", "pods v1", reason.NoVersionInGroup},
		{"a malformed apiVersion does not reach other groups", "a/b/c", "Deployment", nowhere, ""},
		{"an empty version of a group takes the preferred one", "rbac.authorization.k8s.io/", "Role", "roles.rbac.authorization.k8s.io v1", reason.NoVersionInGroup},
		{"the internal version is none", "__internal", "Pod", "pods v1", reason.NoVersionInGroup},
		{"an empty apiVersion and a lower-case kind", "", "pod", "pods v1", reason.NoVersionInGroup},
		{"an empty apiVersion and a list kind", "", "PodList", "podlists v1 guessed", reason.KindOfList},
		{"an empty apiVersion and the bare list", "", "List", "lists v1 guessed", reason.KindOfList},
		{"an empty kind", "v1", "", nowhere, ""},
	}
	mapper := snapshot.NewMapper(st.Types())
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := nowhere
			m, ok := mapper.Map(test.apiVersion, test.kind)
			if ok {
				got = m.Type.String() + " " + m.Type.Version
				if !m.Served {
					got += " guessed"
				}
			}
			if got != test.want || m.Spelling != test.spelling {
				t.Errorf("got %q (%q), want %q (%q)", got, m.Spelling, test.want, test.spelling)
			}
		})
	}
}

func TestMapListKindHasScopeOfItems(t *testing.T) {
	mapper := snapshot.NewMapper(st.Types())
	for kind, want := range map[string]bool{"PodList": true, "NodeList": false, "List": false} {
		if m, _ := mapper.Map("v1", kind); m.Type.Namespaced != want {
			t.Errorf("%s: namespaced %v, want %v", kind, m.Type.Namespaced, want)
		}
	}
}

func TestVersions(t *testing.T) {
	types := []snapshot.Type{
		{Group: "g", Version: "v1alpha1", Resource: "things", Kind: "Thing"},
		{Group: "g", Version: "v2", Resource: "things", Kind: "Thing"},
		{Group: "g", Version: "v1", Resource: "things", Kind: "Thing", Preferred: true},
	}
	for _, order := range [][]snapshot.Type{types, st.Reversed(types)} {
		var got []string
		for _, v := range snapshot.NewMapper(order).Versions("g", "Thing") {
			got = append(got, v.APIVersion())
		}
		if diff := cmp.Diff([]string{"g/v1", "g/v1alpha1", "g/v2"}, got); diff != "" {
			t.Error(diff)
		}
	}
}

func TestServes(t *testing.T) {
	mapper := snapshot.NewMapper(st.Types())
	for apiVersion, want := range map[string]bool{
		"v1": true, "apps/v1": true, "apps/v1beta1": false, "extensions/v1beta1": false, "": false, "a/b/c": false,
	} {
		if got := mapper.Serves(apiVersion); got != want {
			t.Errorf("%q: got %v, want %v", apiVersion, got, want)
		}
	}
}

// The collector uses restmapper.NewDiscoveryRESTMapper (docs/gc-semantics.md#kind-spelling).
// With the same discovery data both mappers must return the same resource and scope.
func TestMapEqualsRESTMapper(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		types, groups := drawDiscovery(t)
		mapper, real := snapshot.NewMapper(types), restmapper.NewDiscoveryRESTMapper(groups)
		for range 30 {
			apiVersion, kind := drawAPIVersion(t), drawKind(t)
			if want, got := realMapping(real, apiVersion, kind), ourMapping(mapper, apiVersion, kind); want != got {
				t.Fatalf("apiVersion %q, kind %q: the collector maps to %s, this package to %s", apiVersion, kind, want, got)
			}
		}
	})
}

func ourMapping(mapper *snapshot.Mapper, apiVersion, kind string) string {
	m, ok := mapper.Map(apiVersion, kind)
	if !ok {
		return "nothing"
	}
	return describe(schema.GroupVersionResource{Group: m.Type.Group, Version: m.Type.Version, Resource: m.Type.Resource}, m.Type.Namespaced, apiVersion, kind)
}

func realMapping(mapper meta.RESTMapper, apiVersion, kind string) string {
	gvk := schema.FromAPIVersionAndKind(apiVersion, kind)
	m, err := mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return "nothing"
	}
	return describe(m.Resource, m.Scope.Name() == meta.RESTScopeNameNamespace, apiVersion, kind)
}

// describe leaves out the version of a bare List whose reference names none:
// it maps to the group's preferred version, which types alone do not determine, and
// nothing is served there in any.
func describe(gvr schema.GroupVersionResource, namespaced bool, apiVersion, kind string) string {
	if v := schema.FromAPIVersionAndKind(apiVersion, kind).Version; kind == "List" && (v == "" || v == "__internal") {
		gvr.Version = "*"
	}
	if namespaced {
		return gvr.String() + ", namespaced"
	}
	return gvr.String()
}

var (
	discoverableGroups   = []string{"", "apps", "example.com"}
	discoverableVersions = []string{"v1", "v1beta1", "v2"}
	discoverableKinds    = []string{"Pod", "NetworkPolicy", "Endpoints", "Ingress", "AllowList", "widget", "X"}
)

// drawDiscovery returns the same random discovery data for both mappers.
func drawDiscovery(t *rapid.T) ([]snapshot.Type, []*restmapper.APIGroupResources) {
	var types []snapshot.Type
	var groups []*restmapper.APIGroupResources
	namespaced := map[string]bool{}
	for _, kind := range discoverableKinds {
		namespaced[kind] = rapid.Bool().Draw(t, "namespaced")
	}
	for _, name := range discoverableGroups {
		versions := discoverableVersions[:1]
		if name != "" {
			versions = rapid.Permutation(discoverableVersions).Draw(t, "versions")[:rapid.IntRange(1, 3).Draw(t, "count")]
		}
		group := &restmapper.APIGroupResources{
			Group:              metav1.APIGroup{Name: name, PreferredVersion: metav1.GroupVersionForDiscovery{Version: versions[0]}},
			VersionedResources: map[string][]metav1.APIResource{},
		}
		preferred := map[string]bool{}
		for _, version := range versions {
			group.Group.Versions = append(group.Group.Versions, metav1.GroupVersionForDiscovery{Version: version})
			resources := []metav1.APIResource{}
			for _, kind := range rapid.SliceOfDistinct(rapid.SampledFrom(discoverableKinds), rapid.ID[string]).Draw(t, "kinds") {
				plural, _ := meta.UnsafeGuessKindToResource(schema.GroupVersionKind{Kind: kind})
				resources = append(resources,
					metav1.APIResource{Name: plural.Resource, Kind: kind, Namespaced: namespaced[kind]},
					metav1.APIResource{Name: plural.Resource + "/status", Kind: "Subresource", Namespaced: namespaced[kind]})
				types = append(types, snapshot.Type{
					Group: name, Version: version, Resource: plural.Resource, Kind: kind,
					Namespaced: namespaced[kind], Preferred: !preferred[plural.Resource],
				})
				preferred[plural.Resource] = true
			}
			if len(resources) > 0 {
				group.VersionedResources[version] = resources
			}
		}
		groups = append(groups, group)
	}
	return types, groups
}

func drawAPIVersion(t *rapid.T) string {
	if rapid.IntRange(0, 9).Draw(t, "any apiVersion") == 0 {
		return rapid.String().Draw(t, "apiVersion")
	}
	group := rapid.SampledFrom(append(slices.Clone(discoverableGroups), "unknown", "a/b")).Draw(t, "group")
	version := rapid.SampledFrom(append(slices.Clone(discoverableVersions), "", "__internal", "v9")).Draw(t, "version")
	if group == "" {
		return rapid.SampledFrom([]string{"", "/"}).Draw(t, "slash") + version
	}
	return group + "/" + version
}

func drawKind(t *rapid.T) string {
	kind := rapid.SampledFrom(append(slices.Clone(discoverableKinds), "", "Unknown", "Subresource")).Draw(t, "kind")
	switch rapid.IntRange(0, 7).Draw(t, "spelling") {
	case 0:
		return strings.ToLower(kind)
	case 1:
		return strings.ToUpper(kind)
	case 2:
		return kind + "List"
	case 3:
		plural, _ := meta.UnsafeGuessKindToResource(schema.GroupVersionKind{Kind: kind})
		return plural.Resource
	case 4:
		return strings.ToLower(kind) + "List"
	case 5:
		return rapid.String().Draw(t, "any kind")
	}
	return kind
}
