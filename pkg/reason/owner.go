package reason

import (
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// OwnerState is what was found of the owner that a reference names. The words are part
// of the JSON contract.
type OwnerState string

// The states of owners.
const (
	StateExists           OwnerState = "OwnerExists"           // it exists under its name and UID
	StateMissing          OwnerState = "OwnerMissing"          // nothing has its UID, and nothing its name
	StateReplaced         OwnerState = "OwnerReplaced"         // another object has its name
	StateMismatched       OwnerState = "OwnerMismatched"       // its UID belongs to an object of another name or kind
	StateInOtherNamespace OwnerState = "OwnerInOtherNamespace" // its UID belongs to an object of another namespace
	StateWaiting          OwnerState = "OwnerWaiting"          // it is being deleted in the foreground and waits for its dependents
	StateNamespaced       OwnerState = "OwnerNamespaced"       // it is of a namespaced kind, and the dependent is cluster-scoped
	StateVersionNotServed OwnerState = "OwnerVersionNotServed" // the reference names a version that is not served
	StateKindUnknown      OwnerState = "OwnerKindUnknown"      // the server does not know the kind
	StateKindIsList       OwnerState = "OwnerKindIsList"       // the reference names the kind of a list, as PodList
	StateUnverified       OwnerState = "OwnerUnverified"       // it is unknown whether it exists
	StateDeletedBefore    OwnerState = "OwnerDeletedBefore"    // an earlier step of the plan deletes it

	// Of a restoration alone: what becomes of the owner, or of the reference.
	StateRecreated        OwnerState = "OwnerRecreated"        // this restoration creates it
	StateRecreatedBefore  OwnerState = "OwnerRecreatedBefore"  // an earlier restoration has created it
	StateSucceeded        OwnerState = "OwnerSucceeded"        // the reference leads to another object of its name now
	StateLeadsToSuccessor OwnerState = "OwnerLeadsToSuccessor" // the object's own reference leads to another object of its name already
	StateOtherController  OwnerState = "OtherController"       // the object has another controller now

	// Of a repair alone: why a reference cannot be rewritten, or not otherwise.
	StateMissingInVersion       OwnerState = "OwnerMissingInServedVersion"    // it does not exist in a served version either
	StateUnverifiedInVersion    OwnerState = "OwnerUnverifiedInServedVersion" // it is unknown whether it exists in a served version
	StateDependentContested     OwnerState = "DependentUIDContested"          // another object has the dependent's UID
	StateDependentTerminating   OwnerState = "DependentTerminating"           // the dependent is being deleted already
	StateTerminating            OwnerState = "OwnerTerminating"               // it is being deleted
	StateItself                 OwnerState = "OwnerIsDependent"               // it is the dependent itself
	StateReferencedTwice        OwnerState = "OwnerReferencedTwice"           // another reference leads to it already
	StateReferencedTwiceUnknown OwnerState = "OwnerReferencedTwiceUnknown"    // another reference names it, which could not be verified
	StateOwnedByDependent       OwnerState = "OwnerOwnedByDependent"          // it belongs to the dependent, so they would own each other
	StateReplacementContested   OwnerState = "ReplacementUIDContested"        // what has its name has a UID that another object has, too
	StateReplacementTerminating OwnerState = "ReplacementTerminating"         // what has its name is being deleted, too
)

// Found is what was found of an owner.
type Found struct {
	State OwnerState `json:"state"`
	// UIDHolder has the reference's UID where its kind, name or namespace is another one.
	UIDHolder *object.Identity `json:"uidHolder,omitempty"`
	// NameHolder has the owner's name where its UID is another one.
	NameHolder *object.Identity `json:"nameHolder,omitempty"`
	// ServedVersions are those in which the kind is served, preferred first, where the
	// reference's own is not.
	ServedVersions []string `json:"servedVersions,omitempty"`
	// OtherController is Kind/name of the controller that the object has in place of the owner.
	OtherController string `json:"otherController,omitempty"`
}

// Owner is an owner as a reference names it, with what was found of it.
type Owner struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Name       string    `json:"name"`
	UID        types.UID `json:"uid"`
	Found
}

// NewOwner returns the owner that a reference names, with what was found of it.
func NewOwner(r object.Reference, found Found) Owner {
	return Owner{APIVersion: r.APIVersion, Kind: r.Kind, Name: r.Name, UID: r.UID, Found: found}
}

// String returns Kind/name.
func (o Owner) String() string { return o.Kind + "/" + o.Name }

// holder returns the object that has the owner's UID; the zero value where it is not known,
// as in a file that someone wrote by hand.
func (o Found) holder() object.Identity { return orZero(o.UIDHolder) }

// replacement returns the object that has the owner's name, like holder.
func (o Found) replacement() object.Identity { return orZero(o.NameHolder) }

func orZero(o *object.Identity) object.Identity {
	if o == nil {
		return object.Identity{}
	}
	return *o
}

// predicates are what was found of an owner, as what follows its name.
var predicates = map[OwnerState]string{
	StateExists:                 "exists",
	StateMissing:                "does not exist",
	StateReplaced:               "was replaced by a new object with the same name",
	StateMismatched:             "is named with the UID of {uidHolder}",
	StateInOtherNamespace:       "is in another namespace ({namespace}), which does not count",
	StateWaiting:                "is being deleted in the foreground and waits for its dependents",
	StateNamespaced:             "is namespaced, but this object is cluster-scoped",
	StateVersionNotServed:       "is named in a version that the API server does not serve",
	StateKindUnknown:            "is of a kind that the API server does not serve",
	StateKindIsList:             "has a list kind, which the API server does not serve",
	StateUnverified:             "could not be verified",
	StateDeletedBefore:          "is deleted before it",
	StateRecreated:              "is recreated",
	StateRecreatedBefore:        "was recreated earlier",
	StateSucceeded:              "is a newer object with the same name",
	StateLeadsToSuccessor:       "was replaced: they already point at the newer object with the same name",
	StateOtherController:        "is no longer its controller: {otherController} is",
	StateMissingInVersion:       "does not exist in {servedVersions} either",
	StateUnverifiedInVersion:    "is named in a version that the API server does not serve, and could not be verified in {servedVersions}",
	StateDependentContested:     "cannot be repaired: another object has the UID of this one",
	StateDependentTerminating:   "needs no repair: the object is already being deleted",
	StateTerminating:            "is being deleted",
	StateItself:                 "is the object itself, which cannot own itself",
	StateReferencedTwice:        "is already its owner through another reference",
	StateReferencedTwiceUnknown: "is also named by another reference, which could not be verified",
	StateOwnedByDependent:       "is owned by this object, so they would own each other",
	StateReplacementContested:   "exists, with another UID, which a third object also has",
	StateReplacementTerminating: "exists, with another UID, but is being deleted",
}

// Predicate returns what was found of the owner, as what follows its name.
func (o Found) Predicate() string {
	text, known := predicates[o.State]
	switch {
	case !known:
		return "is in state " + string(o.State)
	case !strings.Contains(text, "{"):
		return text
	}
	return strings.NewReplacer("{uidHolder}", o.holder().String(), "{namespace}", o.holder().Namespace,
		"{otherController}", o.OtherController, "{servedVersions}", strings.Join(o.ServedVersions, ", ")).Replace(text)
}

// facts returns what was found of each owner, the first few of them.
func facts(of []Owner) string {
	return firstFew(of, Owner.fact)
}

// fact returns the owner with what was found of it, as in "Deployment/web does not exist".
func (o Owner) fact() string { return o.String() + " " + o.Predicate() }
