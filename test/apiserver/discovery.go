package apiserver

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	apidiscovery "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const aggregatedForm = ";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

// Types returns the types that the server serves, sorted by group and resource.
func (s *Server) Types() []*Type {
	s.mu.Lock()
	defer s.mu.Unlock()
	var types []*Type
	for _, t := range s.types {
		if !slices.Contains(types, t) {
			types = append(types, t)
		}
	}
	slices.SortFunc(types, compareTypes)
	return types
}

// served returns what is served, each type in each of its versions, the preferred ones of a group
// first.
func (s *Server) served() []Type {
	var served []Type
	for gvr, t := range s.types {
		of := *t
		of.GroupVersionResource = gvr
		served = append(served, of)
	}
	preferred := func(t Type) int { return slices.Index(t.OtherVersions, t.Version) } // -1 for the preferred one
	slices.SortFunc(served, func(a, b Type) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), preferred(a)-preferred(b), cmp.Compare(a.Version, b.Version), cmp.Compare(a.Resource, b.Resource))
	})
	return served
}

// discovery answers what is served below /api or /apis: all groups with their types in one
// document if the client accepts that, else document by document.
func (s *Server) discovery(w http.ResponseWriter, r *http.Request, words []string) {
	types := s.below(words[0])
	switch {
	case len(words) > 1:
		legacyDocument(w, types, words)
	case s.Legacy || !strings.Contains(r.Header.Get("Accept"), "as=APIGroupDiscoveryList"):
		WriteJSON(w, http.StatusOK, legacyRoot(types, words[0]))
	default:
		WriteDiscovery(w, r, aggregatedDiscovery(types))
	}
}

// below returns what is served below a root, "api" or "apis".
func (s *Server) below(root string) []Type {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(s.served(), func(t Type) bool { return (t.Group == "") != (root == "api") })
}

// Groups returns the aggregated discovery below a root.
func (s *Server) Groups(root string) *apidiscovery.APIGroupDiscoveryList {
	return aggregatedDiscovery(s.below(root))
}

// WriteDiscovery answers with aggregated discovery, in protobuf if the client accepts that.
func WriteDiscovery(w http.ResponseWriter, r *http.Request, groups *apidiscovery.APIGroupDiscoveryList) {
	if strings.Contains(r.Header.Get("Accept"), InProtobuf+aggregatedForm) {
		WriteProtobuf(w, InProtobuf+aggregatedForm, http.StatusOK, groups)
		return
	}
	w.Header().Set("Content-Type", InJSON+aggregatedForm)
	WriteJSON(w, http.StatusOK, groups)
}

func aggregatedDiscovery(types []Type) *apidiscovery.APIGroupDiscoveryList {
	out := &apidiscovery.APIGroupDiscoveryList{
		TypeMeta: metav1.TypeMeta{APIVersion: "apidiscovery.k8s.io/v2", Kind: "APIGroupDiscoveryList"},
		Items:    []apidiscovery.APIGroupDiscovery{},
	}
	for i, t := range types {
		if i == 0 || types[i-1].Group != t.Group {
			out.Items = append(out.Items, apidiscovery.APIGroupDiscovery{ObjectMeta: metav1.ObjectMeta{Name: t.Group}})
		}
		versions := &out.Items[len(out.Items)-1].Versions
		if last := len(*versions) - 1; last < 0 || (*versions)[last].Version != t.Version {
			*versions = append(*versions, apidiscovery.APIVersionDiscovery{Version: t.Version, Freshness: apidiscovery.DiscoveryFreshnessCurrent})
		}
		scope := apidiscovery.ScopeCluster
		if t.Namespaced {
			scope = apidiscovery.ScopeNamespace
		}
		resources := &(*versions)[len(*versions)-1].Resources
		*resources = append(*resources, apidiscovery.APIResourceDiscovery{
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
	for i, t := range types {
		version := metav1.GroupVersionForDiscovery{GroupVersion: t.GroupVersion().String(), Version: t.Version}
		if i == 0 || types[i-1].Group != t.Group {
			out.Groups = append(out.Groups, metav1.APIGroup{Name: t.Group, PreferredVersion: version})
		}
		if of := &out.Groups[len(out.Groups)-1]; !slices.Contains(of.Versions, version) {
			of.Versions = append(of.Versions, version)
		}
	}
	return out
}

// legacyDocument answers for a version of a group (/api/v1, /apis/GROUP/VERSION).
func legacyDocument(w http.ResponseWriter, types []Type, words []string) {
	list := metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: strings.Join(words[1:], "/")}
	for _, t := range types {
		if t.GroupVersion().String() == list.GroupVersion {
			list.APIResources = append(list.APIResources, metav1.APIResource{
				Name: t.Resource, SingularName: t.singular(), Kind: t.Kind, Namespaced: t.Namespaced, Verbs: t.verbs(),
			})
		}
	}
	if len(list.APIResources) == 0 {
		http.Error(w, "404 page not found", http.StatusNotFound)
		return
	}
	WriteJSON(w, http.StatusOK, list)
}
