package restore

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"

	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// verbs are those of every type that a CustomResourceDefinition defines.
var verbs = []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}

// defined are the types that a CustomResourceDefinition has served, the preferred
// one marked; none where it is not one as it should be.
func defined(m manifest) []snapshot.Type {
	var out []snapshot.Type
	group, plural, kind := m.text("spec", "group"), m.text("spec", "names", "plural"), m.text("spec", "names", "kind")
	if group == "" || kind == "" || plural+"."+group != m.text("metadata", "name") {
		return nil
	}
	for _, v := range m.list("spec", "versions") {
		f, _ := v.(map[string]any)
		if name := manifest(f).text("name"); name != "" && manifest(f).flag("served") {
			out = append(out, snapshot.Type{
				Group: group, Version: name, Resource: plural, Kind: kind, Singular: m.text("spec", "names", "singular"),
				Namespaced: m.text("spec", "scope") == "Namespaced", Verbs: verbs,
			})
		}
	}
	slices.SortFunc(out, func(a, b snapshot.Type) int {
		return cmp.Or(version.CompareKubeAwareVersionStrings(b.Version, a.Version), a.Compare(b))
	})
	if len(out) > 0 {
		out[0].Preferred = true
	}
	return out
}

func groupKind(t snapshot.Type) schema.GroupKind {
	return schema.GroupKind{Group: t.Group, Kind: t.Kind}
}
