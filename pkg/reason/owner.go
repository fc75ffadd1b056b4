package reason

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// OwnerState is what was found of the owner that a reference names. The words are part
// of the JSON contract.
type OwnerState string

// The states of owners.
const (
	StateExists           OwnerState = "OwnerExists"
	StateMissing          OwnerState = "OwnerMissing"          // nothing has its UID, and nothing its name
	StateReplaced         OwnerState = "OwnerReplaced"         // another object has its name
	StateMismatched       OwnerState = "OwnerMismatched"       // its UID belongs to an object of another name or kind
	StateInOtherNamespace OwnerState = "OwnerInOtherNamespace" // its UID belongs to an object of another namespace
	StateWaiting          OwnerState = "OwnerWaiting"          // it is being deleted in the foreground and waits for its dependents
	StateNamespaced       OwnerState = "OwnerNamespaced"       // it is of a namespaced kind, and the dependent is cluster-scoped
	StateVersionNotServed OwnerState = "OwnerVersionNotServed" // the reference names a version that is not served
	StateKindUnknown      OwnerState = "OwnerKindUnknown"      // the server does not know the kind
	StateKindIsList       OwnerState = "OwnerKindIsList"       // the reference names the kind of a list, as PodList
	StateUnverified       OwnerState = "OwnerUnverified"       // whether it exists could not be found out
	StateDeletedBefore    OwnerState = "OwnerDeletedBefore"    // an earlier step of the plan deletes it
)

// Owner is an owner as a reference names it, with what was found of it.
type Owner struct {
	APIVersion string     `json:"apiVersion"`
	Kind       string     `json:"kind"`
	Name       string     `json:"name"`
	UID        types.UID  `json:"uid"`
	State      OwnerState `json:"state"`
	// UIDHolder has the reference's UID where its kind, name or namespace is another one.
	UIDHolder *object.Identity `json:"uidHolder,omitempty"`
	// NameHolder has the owner's name where its UID is another one.
	NameHolder *object.Identity `json:"nameHolder,omitempty"`
	// ServedVersions are those in which the kind is served, preferred first, where the
	// reference's own is not.
	ServedVersions []string `json:"servedVersions,omitempty"`
}

// String returns Kind/name.
func (o Owner) String() string { return o.Kind + "/" + o.Name }

// Predicate returns what was found of the owner, as what follows its name.
func (o Owner) Predicate() string {
	switch o.State {
	case StateExists:
		return "holds"
	case StateMissing:
		return "is gone"
	case StateReplaced:
		return "was replaced: another object has its name now"
	case StateMismatched:
		return fmt.Sprintf("is not whose UID it names: that is %s", o.UIDHolder)
	case StateInOtherNamespace:
		return fmt.Sprintf("is not in this namespace: it lives in %s", o.UIDHolder.Namespace)
	case StateWaiting:
		return "is being deleted in the foreground and waits for it"
	case StateNamespaced:
		return "is of a namespaced kind, and this object is cluster-scoped"
	case StateVersionNotServed:
		return "is named in a version that is not served"
	case StateKindUnknown:
		return "is of a kind that is not served"
	case StateKindIsList:
		return "names a kind of lists, which nothing serves"
	case StateUnverified:
		return "could not be verified"
	case StateDeletedBefore:
		return "goes before it"
	}
	return "is in state " + string(o.State)
}

// mostNamed is how many objects a sentence names before it counts the rest.
const mostNamed = 4

// facts returns what was found of each owner, the first few of them.
func facts(of []Owner) string {
	said := make([]string, len(of))
	for i, o := range of {
		said[i] = o.String() + " " + o.Predicate()
	}
	return strings.Join(firstFew(said), "; ")
}

// firstFew returns the first few of several phrases, and how many more there are.
func firstFew(phrases []string) []string {
	if more := len(phrases) - mostNamed; more > 0 {
		return append(append([]string{}, phrases[:mostNamed]...), fmt.Sprintf("and %d more", more))
	}
	return phrases
}
