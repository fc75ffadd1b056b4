package apiserver

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Type is a resource that the server serves, in its preferred version.
type Type struct {
	schema.GroupVersionResource
	OtherVersions []string // in which the same objects are served
	Kind          string
	Namespaced    bool
	// Custom reports that a CustomResourceDefinition defines the type. Its objects cannot be
	// patched with a strategic merge patch.
	Custom bool
	// Aggregated reports that another server serves the type.
	Aggregated bool
	// OrphansByDefault reports that a DELETE without a policy orphans the dependents, as for
	// Jobs and ReplicationControllers.
	OrphansByDefault bool
	// IgnoresPolicy reports that a DELETE never sets a finalizer of the garbage collector, as
	// for Events.
	IgnoresPolicy bool
}

// Namespaced returns a namespaced type in version v1.
func Namespaced(group, resource, kind string) *Type {
	t := clusterScoped(group, resource, kind)
	t.Namespaced = true
	return t
}

func clusterScoped(group, resource, kind string) *Type {
	return &Type{GroupVersionResource: schema.GroupVersionResource{Group: group, Version: "v1", Resource: resource}, Kind: kind}
}

// Types of kube-apiserver.
var (
	Namespaces    = clusterScoped("", "namespaces", "Namespace")
	CRDs          = clusterScoped("apiextensions.k8s.io", "customresourcedefinitions", "CustomResourceDefinition")
	APIServices   = clusterScoped("apiregistration.k8s.io", "apiservices", "APIService")
	AccessReviews = clusterScoped("authorization.k8s.io", "selfsubjectaccessreviews", "SelfSubjectAccessReview")

	ConfigMaps  = Namespaced("", "configmaps", "ConfigMap")
	Pods        = Namespaced("", "pods", "Pod")
	Secrets     = Namespaced("", "secrets", "Secret")
	Deployments = Namespaced("apps", "deployments", "Deployment")
	ReplicaSets = Namespaced("apps", "replicasets", "ReplicaSet")
)

// The types that have rules of their own.
var (
	events                    = schema.GroupResource{Resource: "events"}
	pods                      = Pods.GroupResource()
	namespaces                = Namespaces.GroupResource()
	customResourceDefinitions = CRDs.GroupResource()
)

func (t *Type) singular() string { return strings.ToLower(t.Kind) }

func (t *Type) verbs() []string {
	if t.GroupVersionResource == AccessReviews.GroupVersionResource {
		return []string{"create"}
	}
	return []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}
}

// Path returns the path of the type in all namespaces, without a trailing slash.
func (t *Type) Path() string {
	if t.Group == "" {
		return "/api/" + t.Version + "/" + t.Resource
	}
	return "/apis/" + t.Group + "/" + t.Version + "/" + t.Resource
}

// Path returns the path of the object.
func (o *Object) Path() string {
	path := o.Type.Path()
	if o.Namespace != "" {
		path = strings.TrimSuffix(path, o.Type.Resource) + "namespaces/" + o.Namespace + "/" + o.Type.Resource
	}
	return path + "/" + o.Name
}

// Object returns an object of the type with no more than a name, and a Namespace also with its
// finalizer.
func (t *Type) Object(namespace, name string) *Object {
	o := &Object{Type: t}
	o.SetGroupVersionKind(t.GroupVersion().WithKind(t.Kind))
	o.Namespace, o.Name = namespace, name
	if o.isOf(namespaces) {
		o.SpecFinalizers = []string{"kubernetes"}
	}
	return o
}

// Definition returns the CustomResourceDefinition of the type.
func (t *Type) Definition() *Object {
	scope := "Cluster"
	if t.Namespaced {
		scope = "Namespaced"
	}
	version := func(name string) any {
		return map[string]any{
			"name": name, "served": true, "storage": name == t.Version,
			"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object"}},
		}
	}
	versions := []any{version(t.Version)}
	for _, name := range t.OtherVersions {
		versions = append(versions, version(name))
	}
	names := map[string]any{"plural": t.Resource, "singular": t.singular(), "kind": t.Kind, "listKind": t.Kind + "List"}
	o := CRDs.Object("", t.GroupResource().String())
	o.Fields = map[string]any{
		"spec": map[string]any{"group": t.Group, "scope": scope, "names": names, "versions": versions},
		"status": map[string]any{
			"acceptedNames": names, "storedVersions": []any{t.Version},
			"conditions": []any{
				map[string]any{"type": "NamesAccepted", "status": "True"},
				map[string]any{"type": "Established", "status": "True"},
			},
		},
	}
	return o
}

// defines returns the type that a CustomResourceDefinition defines, or nil if it is none or has no
// spec.
func (o *Object) defines() *Type {
	versions, found, _ := unstructured.NestedSlice(o.Fields, "spec", "versions")
	if !o.isOf(customResourceDefinitions) || !found {
		return nil
	}
	field := func(path ...string) string {
		s, _, _ := unstructured.NestedString(o.Fields, append([]string{"spec"}, path...)...)
		return s
	}
	t := clusterScoped(field("group"), field("names", "plural"), field("names", "kind"))
	t.Custom, t.Namespaced = true, field("scope") == "Namespaced"
	for i, v := range versions {
		name, _ := v.(map[string]any)["name"].(string)
		if i == 0 {
			t.Version = name
		} else {
			t.OtherVersions = append(t.OtherVersions, name)
		}
	}
	return t
}

// apiService returns the APIService of a type's group and version. If another server serves it, it
// names its Service; otherwise it has the API server's label.
func (t *Type) apiService() *Object {
	o := APIServices.Object("", t.Version+"."+t.Group)
	spec := map[string]any{"group": t.Group, "version": t.Version, "groupPriorityMinimum": int64(1000), "versionPriority": int64(15)}
	reason := "Local"
	if t.Aggregated {
		spec["service"] = map[string]any{"namespace": metav1.NamespaceSystem, "name": "aggregated", "port": int64(443)}
		reason = "Passed"
	} else {
		o.Labels = map[string]string{"kube-aggregator.kubernetes.io/automanaged": "onstart"}
	}
	available := map[string]any{"type": "Available", "status": "True", "reason": reason}
	o.Fields = map[string]any{"spec": spec, "status": map[string]any{"conditions": []any{available}}}
	return o
}
