package object

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Reference is an entry of metadata.ownerReferences. An unset flag differs from a false one,
// so that the reference can be restored exactly.
type Reference metav1.OwnerReference

// String returns Kind/name as the reference has them, not escaped for terminals.
func (r Reference) String() string {
	return r.Kind + "/" + r.Name
}

// GroupVersionKind parses APIVersion as Identity.GroupVersionKind does.
func (r Reference) GroupVersionKind() schema.GroupVersionKind {
	return schema.FromAPIVersionAndKind(r.APIVersion, r.Kind)
}

// OwnerIn returns the owner that the reference names, in a namespace.
func (r Reference) OwnerIn(namespace string) Identity {
	return Identity{APIVersion: r.APIVersion, Kind: r.Kind, Namespace: namespace, Name: r.Name, UID: r.UID}
}

// Controls reports whether the reference names the managing controller.
func (r Reference) Controls() bool {
	return r.Controller != nil && *r.Controller
}

// Blocks reports whether the dependent blocks a foreground deletion of its owner. An unset
// flag does not (docs/gc-semantics.md#words).
func (r Reference) Blocks() bool {
	return r.BlockOwnerDeletion != nil && *r.BlockOwnerDeletion
}

// WithOwner returns the reference with its own flags and the owner of another.
func (r Reference) WithOwner(other Reference) Reference {
	other.Controller, other.BlockOwnerDeletion = r.Controller, r.BlockOwnerDeletion
	return other
}

// SameOwner reports whether two references are equal except for their flags.
func (r Reference) SameOwner(o Reference) bool {
	return r.UID == o.UID && r.Name == o.Name && r.Kind == o.Kind && r.APIVersion == o.APIVersion
}

// Equivalent reports whether two references are the same to the garbage collector.
func (r Reference) Equivalent(o Reference) bool { return r.SameOwner(o) && r.Blocks() == o.Blocks() }

// Equal reports whether two references are equal, flags included. An unset flag differs from a
// false one. The API server drops references that equal an earlier one.
func (r Reference) Equal(o Reference) bool {
	return r.SameOwner(o) && equalFlags(r.Controller, o.Controller) && equalFlags(r.BlockOwnerDeletion, o.BlockOwnerDeletion)
}

func equalFlags(a, b *bool) bool { return (a == nil) == (b == nil) && (a == nil || *a == *b) }

// ReferencesOf copies owner references in their order, which matters to the collector. It
// returns nil if there are none.
func ReferencesOf(refs []metav1.OwnerReference) []Reference {
	if len(refs) == 0 {
		return nil
	}
	out := make([]Reference, len(refs))
	for i, r := range refs {
		r.Controller, r.BlockOwnerDeletion = sharedFlag(r.Controller), sharedFlag(r.BlockOwnerDeletion)
		out[i] = Reference(r)
	}
	return out
}

var yes, no = true, false

// sharedFlag replaces a decoded flag by a shared one, so that a snapshot does not keep an
// allocation per flag.
func sharedFlag(b *bool) *bool {
	if b == nil {
		return nil
	}
	return Flag(*b)
}

// Flag returns a flag of a reference. It is shared and must not be written through.
func Flag(set bool) *bool {
	if set {
		return &yes
	}
	return &no
}
