package object

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Identity is where an object lives and which one it is. Namespace is empty for
// a cluster-scoped object. Two identities with one UID are one object served
// under two names (docs/gc-semantics.md#one-object-in-several-groups).
type Identity struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Namespace  string    `json:"namespace"`
	Name       string    `json:"name"`
	UID        types.UID `json:"uid"`
}

// GroupVersionKind parses APIVersion as the collector does: what cannot be
// parsed becomes the empty group and version (schema.FromAPIVersionAndKind).
func (i Identity) GroupVersionKind() schema.GroupVersionKind {
	return schema.FromAPIVersionAndKind(i.APIVersion, i.Kind)
}

// IsNamespace says whether the object is a namespace, which takes along what is
// in it (docs/gc-semantics.md#contents-of-a-namespace).
func (i Identity) IsNamespace() bool {
	return i.GroupVersionKind().GroupKind() == schema.GroupKind{Kind: "Namespace"}
}

// IsDefinition says whether the object is a CustomResourceDefinition, which takes
// its instances along (docs/gc-semantics.md#instances-of-a-crd).
func (i Identity) IsDefinition() bool {
	return i.GroupVersionKind().GroupKind() == schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}
}

// String is Kind/name, the form a person pastes behind kubectl. It is not
// escaped: see output/escape before it meets a terminal.
func (i Identity) String() string {
	return i.Kind + "/" + i.Name
}

// Compare orders identities by kind, namespace, name, UID and last by
// apiVersion: the order of every list this program prints.
func (i Identity) Compare(o Identity) int {
	switch { // not cmp.Or, which compares all that a look's million comparisons do not need
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
