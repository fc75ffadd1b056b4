package trust

import (
	"cmp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Type is a type that the server serves.
type Type struct {
	Group, Version, Resource, Kind string
	Namespaced                     bool
	createOnly                     bool // an access review, which is answered but not stored
}

// The types that the server always serves.
var (
	Namespaces  = Type{Version: "v1", Resource: "namespaces", Kind: "Namespace"}
	Secrets     = Type{Version: "v1", Resource: "secrets", Kind: "Secret", Namespaced: true}
	ConfigMaps  = Type{Version: "v1", Resource: "configmaps", Kind: "ConfigMap", Namespaced: true}
	Pods        = Type{Version: "v1", Resource: "pods", Kind: "Pod", Namespaced: true}
	Deployments = Type{Group: "apps", Version: "v1", Resource: "deployments", Kind: "Deployment", Namespaced: true}
	ReplicaSets = Type{Group: "apps", Version: "v1", Resource: "replicasets", Kind: "ReplicaSet", Namespaced: true}
	CRDs        = Type{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions", Kind: "CustomResourceDefinition"}
	APIServices = Type{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices", Kind: "APIService"}

	accessReviews = Type{Group: "authorization.k8s.io", Version: "v1", Resource: "selfsubjectaccessreviews", Kind: "SelfSubjectAccessReview", createOnly: true}
)

var builtIn = []Type{Namespaces, Secrets, ConfigMaps, Pods, Deployments, ReplicaSets, CRDs, APIServices, accessReviews}

// Widgets is a custom type. The server serves it after AddCRD(Widgets).
var Widgets = Type{Group: "example.com", Version: "v1", Resource: "widgets", Kind: "Widget", Namespaced: true}

// GroupVersion returns the group and version, as apiVersion spells them.
func (t Type) GroupVersion() schema.GroupVersion {
	return schema.GroupVersion{Group: t.Group, Version: t.Version}
}

// GroupResource returns the group and the plural name.
func (t Type) GroupResource() schema.GroupResource {
	return schema.GroupResource{Group: t.Group, Resource: t.Resource}
}

func (t Type) singular() string { return strings.ToLower(t.Kind) }

func (t Type) verbs() []string {
	if t.createOnly {
		return []string{"create"}
	}
	return []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}
}

// Path returns the path of the type in all namespaces, without a trailing slash.
func (t Type) Path() string {
	if t.Group == "" {
		return "/api/" + t.Version + "/" + t.Resource
	}
	return "/apis/" + t.Group + "/" + t.Version + "/" + t.Resource
}

// object returns an incomplete object of the type. A cluster-scoped one has an empty
// namespace.
func (t Type) object(namespace, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{}}
	o.SetAPIVersion(t.GroupVersion().String())
	o.SetKind(t.Kind)
	o.SetNamespace(namespace)
	o.SetName(name)
	return o
}

// crd returns the definition of a custom type.
func (t Type) crd() *unstructured.Unstructured {
	scope := "Cluster"
	if t.Namespaced {
		scope = "Namespaced"
	}
	names := map[string]any{"plural": t.Resource, "singular": t.singular(), "kind": t.Kind, "listKind": t.Kind + "List"}
	o := CRDs.object("", t.GroupResource().String())
	o.Object["spec"] = map[string]any{
		"group": t.Group, "scope": scope, "names": names,
		"versions": []any{map[string]any{
			"name": t.Version, "served": true, "storage": true,
			"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object"}},
		}},
	}
	o.Object["status"] = map[string]any{
		"acceptedNames": names, "storedVersions": []any{t.Version},
		"conditions": []any{
			map[string]any{"type": "NamesAccepted", "status": "True"},
			map[string]any{"type": "Established", "status": "True"},
		},
	}
	return o
}

// defined returns the custom type that a definition defines.
func defined(crd *unstructured.Unstructured) Type {
	field := func(path ...string) string {
		s, _, _ := unstructured.NestedString(crd.Object, append([]string{"spec"}, path...)...)
		return s
	}
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	version, _ := versions[0].(map[string]any)["name"].(string)
	return Type{Group: field("group"), Version: version, Resource: field("names", "plural"), Kind: field("names", "kind"), Namespaced: field("scope") == "Namespaced"}
}

// apiService returns the APIService of a group and version. If another server serves it, it
// names its Service; otherwise it has the API server's label.
func apiService(of schema.GroupVersion, aggregated bool) *unstructured.Unstructured {
	o := APIServices.object("", of.Version+"."+of.Group)
	spec := map[string]any{"group": of.Group, "version": of.Version, "groupPriorityMinimum": int64(1000), "versionPriority": int64(15)}
	o.Object["spec"] = spec
	reason := "Local"
	if aggregated {
		spec["service"] = map[string]any{"namespace": "kube-system", "name": "aggregated", "port": int64(443)}
		reason = "Passed"
	} else {
		o.SetLabels(map[string]string{"kube-aggregator.kubernetes.io/automanaged": "onstart"})
	}
	o.Object["status"] = map[string]any{"conditions": []any{map[string]any{"type": "Available", "status": "True", "reason": reason}}}
	return o
}

// typesNow returns all types: the built-in ones, those that another server
// serves, and those that the definitions in the store define.
func (s *Server) typesNow() []Type {
	out := append(slices.Clone(builtIn), s.aggregated...)
	for _, crd := range s.ofType(CRDs, "") {
		out = append(out, defined(crd))
	}
	slices.SortFunc(out, func(a, b Type) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Version, b.Version), cmp.Compare(a.Resource, b.Resource))
	})
	return out
}

// typeOf returns the type of an object.
func (s *Server) typeOf(o metav1.Type) Type {
	for _, t := range s.typesNow() {
		if t.GroupVersion().String() == o.GetAPIVersion() && t.Kind == o.GetKind() {
			return t
		}
	}
	panic("the server has no type " + o.GetAPIVersion() + " " + o.GetKind())
}

// syncAPIServices keeps an APIService for every group and version that is served,
// as an aggregating API server does: for all but its own group.
func (s *Server) syncAPIServices() {
	served := map[string]bool{}
	for _, t := range s.typesNow() {
		o := apiService(t.GroupVersion(), slices.Contains(s.aggregated, t))
		served[o.GetName()] = true
		if k := (key{APIServices.GroupResource(), "", o.GetName()}); t.Group != APIServices.Group && s.objects[k] == nil {
			s.put(k, o)
		}
	}
	for _, o := range s.ofType(APIServices, "") {
		if !served[o.GetName()] {
			delete(s.objects, key{APIServices.GroupResource(), "", o.GetName()})
		}
	}
}
