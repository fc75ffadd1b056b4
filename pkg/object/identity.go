package object

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Identity identifies an object. Namespace is empty for a cluster-scoped object. Two
// identities with one UID are one object served as two types
// (docs/gc-semantics.md#one-object-in-several-groups).
type Identity struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Namespace  string    `json:"namespace"`
	Name       string    `json:"name"`
	UID        types.UID `json:"uid"`
}

// Address is where an object is, whatever the version of the API that names it and whichever object of that name
// it is. Namespace is empty for a cluster-scoped type.
type Address struct {
	Type            schema.GroupResource
	Namespace, Name string
}

// GroupVersionKind parses APIVersion as the collector does: a malformed one becomes the
// empty group and version (schema.FromAPIVersionAndKind).
func (i Identity) GroupVersionKind() schema.GroupVersionKind {
	return schema.FromAPIVersionAndKind(i.APIVersion, i.Kind)
}

// IsNamespace reports whether the object is a Namespace, whose contents are deleted with it
// (docs/gc-semantics.md#contents-of-a-namespace).
func (i Identity) IsNamespace() bool {
	return i.GroupVersionKind().GroupKind() == schema.GroupKind{Kind: "Namespace"}
}

// DeleteForbidden reports whether the API server refuses every DELETE of an object: of the namespaces that
// NamespaceLifecycle protects (Register in plugin/namespace/lifecycle of k8s.io/apiserver), and of the priority classes
// of Kubernetes' own components (REST.Delete in pkg/registry/scheduling/priorityclass/storage).
func (i Identity) DeleteForbidden() bool {
	switch gk := i.GroupVersionKind().GroupKind(); {
	case i.IsNamespace():
		return slices.Contains([]string{metav1.NamespaceDefault, metav1.NamespaceSystem, metav1.NamespacePublic}, i.Name)
	case gk.Kind == "PriorityClass" && gk.Group == "scheduling.k8s.io":
		return i.Name == "system-node-critical" || i.Name == "system-cluster-critical"
	}
	return false
}

// InNamespace returns the namespace that the object counts for: a Namespace counts for itself. It is empty
// for other cluster-scoped objects.
func (i Identity) InNamespace() string {
	if i.IsNamespace() {
		return i.Name
	}
	return i.Namespace
}

// IsNode reports whether the object is a Node, whose Pods are deleted after it
// (docs/gc-semantics.md#pods-of-a-node).
func (i Identity) IsNode() bool { return i.APIVersion == "v1" && i.Kind == "Node" }

// IsPod reports whether the object is a Pod.
func (i Identity) IsPod() bool { return i.GroupVersionKind().GroupKind() == Pod }

// IsService reports whether the object is a Service.
func (i Identity) IsService() bool { return i.APIVersion == "v1" && i.Kind == "Service" }

// IsServiceAccount reports whether the object is a ServiceAccount.
func (i Identity) IsServiceAccount() bool { return i.APIVersion == "v1" && i.Kind == "ServiceAccount" }

// IsAttachment reports whether the object is a VolumeAttachment, which its storage driver removes before it lets the
// volume go.
func (i Identity) IsAttachment() bool { return i.GroupVersionKind().GroupKind() == VolumeAttachment }

// IsCRD reports whether the object is a CustomResourceDefinition, whose instances are
// deleted with it (docs/gc-semantics.md#instances-of-a-crd).
func (i Identity) IsCRD() bool {
	return i.GroupVersionKind().GroupKind() == schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}
}

// String returns Kind/name, which kubectl accepts as an argument. It is not escaped for
// terminals.
func (i Identity) String() string {
	return i.Kind + "/" + i.Name
}

// Compare orders identities by kind, namespace, name, UID and apiVersion, as all output is
// ordered.
func (i Identity) Compare(o Identity) int {
	switch { // cmp.Or would compare every field, for millions of pairs
	case i.Kind != o.Kind:
		return strings.Compare(i.Kind, o.Kind)
	case i.Namespace != o.Namespace:
		return strings.Compare(i.Namespace, o.Namespace)
	case i.Name != o.Name:
		return strings.Compare(i.Name, o.Name)
	case i.UID != o.UID:
		return strings.Compare(string(i.UID), string(o.UID))
	}
	return strings.Compare(i.APIVersion, o.APIVersion)
}
