package trust

import (
	"net/http"
	"slices"
	"strings"

	apidiscovery "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	discoveryJSON     = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
	discoveryProtobuf = "application/vnd.kubernetes.protobuf;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
)

// discovery responds with what is served, below /api or /apis: all groups with their types
// in one document if the client accepts that, else document by document.
func (s *Server) discovery(w http.ResponseWriter, r *http.Request, words []string) {
	types := s.typesBelow(words[0])
	accept := r.Header.Get("Accept")
	switch {
	case len(words) > 1:
		legacyDocument(w, types, words)
	case s.Legacy || !strings.Contains(accept, "as=APIGroupDiscoveryList"):
		writeJSON(w, http.StatusOK, legacyRoot(types, words[0]))
	case strings.Contains(accept, discoveryProtobuf):
		writeProtobuf(w, discoveryProtobuf, http.StatusOK, aggregatedDiscovery(types))
	default:
		w.Header().Set("Content-Type", discoveryJSON)
		writeJSON(w, http.StatusOK, aggregatedDiscovery(types))
	}
}

// typesBelow returns the types below a root, "api" or "apis".
func (s *Server) typesBelow(root string) []Type {
	return slices.DeleteFunc(s.typesNow(), func(t Type) bool { return (t.Group == "") != (root == "api") })
}

func aggregatedDiscovery(types []Type) *apidiscovery.APIGroupDiscoveryList {
	out := &apidiscovery.APIGroupDiscoveryList{
		TypeMeta: metav1.TypeMeta{APIVersion: "apidiscovery.k8s.io/v2", Kind: "APIGroupDiscoveryList"},
		Items:    []apidiscovery.APIGroupDiscovery{},
	}
	for _, t := range types {
		group := slices.IndexFunc(out.Items, func(g apidiscovery.APIGroupDiscovery) bool { return g.Name == t.Group })
		if group < 0 {
			group = len(out.Items)
			out.Items = append(out.Items, apidiscovery.APIGroupDiscovery{ObjectMeta: metav1.ObjectMeta{Name: t.Group}})
		}
		versions := &out.Items[group].Versions
		version := slices.IndexFunc(*versions, func(v apidiscovery.APIVersionDiscovery) bool { return v.Version == t.Version })
		if version < 0 {
			version = len(*versions)
			*versions = append(*versions, apidiscovery.APIVersionDiscovery{Version: t.Version, Freshness: apidiscovery.DiscoveryFreshnessCurrent})
		}
		scope := apidiscovery.ScopeCluster
		if t.Namespaced {
			scope = apidiscovery.ScopeNamespace
		}
		(*versions)[version].Resources = append((*versions)[version].Resources, apidiscovery.APIResourceDiscovery{
			Resource: t.Resource, SingularResource: t.singular(), Scope: scope, Verbs: t.verbs(),
			ResponseKind: &metav1.GroupVersionKind{Group: t.Group, Version: t.Version, Kind: t.Kind},
		})
	}
	return out
}

// legacyRoot is the document of /api or /apis, which names no types.
func legacyRoot(types []Type, root string) any {
	if root == "api" {
		return metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"}}
	}
	out := metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}, Groups: []metav1.APIGroup{}}
	for _, t := range types {
		if last := len(out.Groups) - 1; last < 0 || out.Groups[last].Name != t.Group {
			out.Groups = append(out.Groups, legacyGroup(types, t.Group))
		}
	}
	return out
}

// legacyGroup is the document of a group. Every group here has one version.
func legacyGroup(types []Type, group string) metav1.APIGroup {
	i := slices.IndexFunc(types, func(t Type) bool { return t.Group == group })
	version := metav1.GroupVersionForDiscovery{GroupVersion: types[i].GroupVersion().String(), Version: types[i].Version}
	return metav1.APIGroup{Name: group, Versions: []metav1.GroupVersionForDiscovery{version}, PreferredVersion: version}
}

// legacyDocument responds for one group (/apis/GROUP), or for one version of it (/api/v1,
// /apis/GROUP/VERSION).
func legacyDocument(w http.ResponseWriter, types []Type, words []string) {
	version := words[len(words)-1]
	group := strings.Join(words[1:len(words)-1], "")
	if words[0] == "apis" && len(words) == 2 {
		group, version = words[1], ""
	}
	list := metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, APIResources: []metav1.APIResource{}}
	for _, t := range types {
		if t.Group == group && (version == "" || t.Version == version) {
			list.GroupVersion = t.GroupVersion().String()
			list.APIResources = append(list.APIResources, metav1.APIResource{
				Name: t.Resource, SingularName: t.singular(), Kind: t.Kind, Namespaced: t.Namespaced, Verbs: t.verbs(),
			})
		}
	}
	switch {
	case len(list.APIResources) == 0:
		http.Error(w, "404 page not found", http.StatusNotFound)
	case version == "":
		writeJSON(w, http.StatusOK, legacyGroup(types, group))
	default:
		writeJSON(w, http.StatusOK, list)
	}
}
