package garbagecollector

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/restmapper"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/oracle/_build/scenario"
)

// mapper is the REST mapper of the garbage collector, as its discovery client makes it.
type mapper struct{ meta.RESTMapper }

// Reset implements meta.ResettableRESTMapper.
func (mapper) Reset() {}

func newMapper(types []scenario.Type) mapper {
	groups := map[string]*restmapper.APIGroupResources{}
	var order []string
	for _, t := range types {
		g := groups[t.Group]
		if g == nil {
			g = &restmapper.APIGroupResources{
				Group:              metav1.APIGroup{Name: t.Group, PreferredVersion: version(t.Group, t.Version)},
				VersionedResources: map[string][]metav1.APIResource{},
			}
			groups[t.Group] = g
			order = append(order, t.Group)
		}
		for _, v := range append([]string{t.Version}, t.OtherVersions...) {
			if _, known := g.VersionedResources[v]; !known {
				g.Group.Versions = append(g.Group.Versions, version(t.Group, v))
			}
			g.VersionedResources[v] = append(g.VersionedResources[v], apiResource(t))
		}
	}
	var all []*restmapper.APIGroupResources
	for _, name := range order {
		all = append(all, groups[name])
	}
	return mapper{restmapper.NewDiscoveryRESTMapper(all)}
}

func version(group, version string) metav1.GroupVersionForDiscovery {
	return metav1.GroupVersionForDiscovery{GroupVersion: schema.GroupVersion{Group: group, Version: version}.String(), Version: version}
}

func apiResource(t scenario.Type) metav1.APIResource {
	verbs := metav1.Verbs{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}
	if t.Unwatchable {
		verbs = slices.DeleteFunc(verbs, func(v string) bool { return v == "watch" })
	}
	return metav1.APIResource{Name: t.Resource, Kind: t.Kind, Namespaced: t.Namespaced, Verbs: verbs}
}

// namespacedResources is what the namespace controller discovers: the namespaced
// resources in their preferred versions, and an error for groups that cannot be reached.
func (c *cluster) namespacedResources() ([]*metav1.APIResourceList, error) {
	out := []*metav1.APIResourceList{{GroupVersion: "v1"}} // without any, the controller gives up
	for _, t := range c.served {
		if t.Namespaced {
			gv := schema.GroupVersion{Group: t.Group, Version: t.Version}.String()
			out = append(out, &metav1.APIResourceList{GroupVersion: gv, APIResources: []metav1.APIResource{apiResource(t)}})
		}
	}
	if len(c.scenario.UnreachableGroups) == 0 {
		return out, nil
	}
	failed := map[schema.GroupVersion]error{}
	for _, g := range c.scenario.UnreachableGroups {
		failed[schema.GroupVersion{Group: g, Version: "v1"}] = errUnreachable
	}
	return out, &discovery.ErrGroupDiscoveryFailed{Groups: failed}
}
