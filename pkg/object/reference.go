package object

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Reference is one entry of metadata.ownerReferences, kept as it was written:
// an unset flag stays distinct from a false one, so that a reference can be put
// back exactly.
type Reference struct {
	APIVersion         string    `json:"apiVersion"`
	Kind               string    `json:"kind"`
	Name               string    `json:"name"`
	UID                types.UID `json:"uid"`
	Controller         *bool     `json:"controller,omitempty"`
	BlockOwnerDeletion *bool     `json:"blockOwnerDeletion,omitempty"`
}

// String is Kind/name as the reference claims them, unescaped.
func (r Reference) String() string {
	return r.Kind + "/" + r.Name
}

// GroupVersionKind is the claimed kind, parsed as the collector parses it.
func (r Reference) GroupVersionKind() schema.GroupVersionKind {
	return schema.FromAPIVersionAndKind(r.APIVersion, r.Kind)
}

// Controls says whether the reference names the managing controller.
func (r Reference) Controls() bool {
	return r.Controller != nil && *r.Controller
}

// Blocks says whether the dependent holds up a foreground deletion of its
// owner: only an explicit true does (docs/gc-semantics.md#words).
func (r Reference) Blocks() bool {
	return r.BlockOwnerDeletion != nil && *r.BlockOwnerDeletion
}

// LeadingTo is the reference with its flags as they are, and the owner of another.
func (r Reference) LeadingTo(other Reference) Reference {
	other.Controller, other.BlockOwnerDeletion = r.Controller, r.BlockOwnerDeletion
	return other
}

// SameOwner says whether two references name one owner, in the same words: the
// flags do not count.
func (r Reference) SameOwner(o Reference) bool {
	return r.UID == o.UID && r.Name == o.Name && r.Kind == o.Kind && r.APIVersion == o.APIVersion
}

// Flagless is the reference with no flag set. Of two that are SameOwner, it is equal:
// that is for maps.
func (r Reference) Flagless() Reference {
	r.Controller, r.BlockOwnerDeletion = nil, nil
	return r
}

// ReferencesOf copies the owner references of a metadata, in their order, which
// the collector honours. It answers nil when there are none.
func ReferencesOf(refs []metav1.OwnerReference) []Reference {
	if len(refs) == 0 {
		return nil
	}
	out := make([]Reference, len(refs))
	for i, r := range refs {
		out[i] = Reference{
			APIVersion: r.APIVersion, Kind: r.Kind, Name: r.Name, UID: r.UID,
			Controller: shared(r.Controller), BlockOwnerDeletion: shared(r.BlockOwnerDeletion),
		}
	}
	return out
}

var yes, no = true, false

// shared swaps a decoded flag for one of two constants, so that a snapshot does
// not keep an allocation per flag alive. Nobody may write through them.
func shared(b *bool) *bool {
	if b == nil {
		return nil
	}
	return Flag(*b)
}

// Flag is a set flag of a reference, as one of two constants: nobody may write
// through it.
func Flag(set bool) *bool {
	if set {
		return &yes
	}
	return &no
}
