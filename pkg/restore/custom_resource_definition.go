package restore

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/version"

	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// customResourceVerbs are the verbs of every custom resource.
var customResourceVerbs = []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}

// definedTypes returns the types that a CustomResourceDefinition serves, the
// preferred one first; none if the manifest is not valid.
func definedTypes(m manifest) []snapshot.Type {
	var out []snapshot.Type
	group, plural, kind := m.text("spec", "group"), m.text("spec", "names", "plural"), m.text("spec", "names", "kind")
	if group == "" || kind == "" || plural+"."+group != m.text("metadata", "name") {
		return nil
	}
	for _, v := range m.list("spec", "versions") {
		fields, _ := v.(map[string]any)
		if name := manifest(fields).text("name"); name != "" && manifest(fields).flag("served") {
			out = append(out, snapshot.Type{
				Group: group, Version: name, Resource: plural, Kind: kind, Singular: m.text("spec", "names", "singular"),
				Namespaced: m.text("spec", "scope") == "Namespaced", Verbs: customResourceVerbs,
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
