package reason

import (
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// Why a step of a plan is taken.
var _ = register(
	Requested{}, OwnersLost{}, OwnerOrphansDependents{}, OwnersPartlyLost{}, CycleBroken{}, DependentsOrphaned{}, DependentsDeleted{},
	ReferencesRepaired{}, ReferencesDropped{},
)

// Cascade is what happens to the dependents of an object that is deleted: the API's
// propagation policy.
type Cascade string

// The cascades.
const (
	Background Cascade = "Background"
	Foreground Cascade = "Foreground"
	Orphan     Cascade = "Orphan"
)

// Requested means that somebody asked for this deletion.
type Requested struct {
	Terminating   bool             `json:"terminating,omitzero"`   // it is being deleted already
	Namespace     bool             `json:"namespace,omitzero"`     // it is a Namespace: everything in it is deleted, too
	Definition    bool             `json:"definition,omitzero"`    // it is a CustomResourceDefinition: all of its objects are deleted, too
	PolicyIgnored bool             `json:"policyIgnored,omitzero"` // the API server ignores the policy for this kind
	Dependents    Cascade          `json:"dependents,omitempty"`   // what happens to its dependents; empty where it has none
	RecreatedBy   *object.Identity `json:"recreatedBy,omitempty"`  // its controller, which stays and will likely create another
}

// Message implements Reason.
func (r Requested) Message() string {
	text := "asked for"
	if r.Terminating {
		text = "asked for, though it is being deleted already"
	}
	switch {
	case r.Namespace:
		text += ": everything in it goes along"
	case r.Definition:
		text += ": every object of its kind goes along"
	}
	switch {
	case r.PolicyIgnored:
		text += "; of this kind the API server ignores the policy"
	case r.Dependents == Foreground:
		text += "; its dependents go first (foreground)"
	case r.Dependents == Orphan:
		text += "; its dependents stay (orphan)"
	case r.Dependents == Background:
		text += "; its dependents follow (background)"
	}
	if r.RecreatedBy != nil {
		text += "; its controller " + r.RecreatedBy.String() + " stays, and will likely make another"
	}
	return text
}

// OwnersLost means that none of the object's owner references leads to a live owner.
type OwnersLost struct {
	Owners  []Owner `json:"owners"`
	Cascade Cascade `json:"cascade"`
}

// Message implements Reason.
func (r OwnersLost) Message() string {
	text := fmt.Sprintf("none of its %d owners holds: %s", len(r.Owners), facts(r.Owners))
	if len(r.Owners) == 1 {
		text = fmt.Sprintf("its only owner, %s, %s", r.Owners[0], r.Owners[0].Predicate())
	}
	switch r.Cascade {
	case Foreground:
		text += "; its own dependents go first (foreground)"
	case Orphan:
		text += "; its own dependents stay (orphan), as its finalizer asks"
	case Background:
	}
	return text
}

// OwnerOrphansDependents means that an owner of the object is being deleted with the
// policy Orphan, so its dependents lose their references to it.
type OwnerOrphansDependents struct {
	Owner object.Identity `json:"owner"`
}

// Message implements Reason.
func (r OwnerOrphansDependents) Message() string {
	return fmt.Sprintf("its owner %s is being deleted and lets go of its dependents (orphan)", r.Owner)
}

// Remaining is what keeps an object that loses references.
type Remaining struct {
	Count int    `json:"count"`          // references that resolve to a live owner and stay
	Only  string `json:"only,omitempty"` // Kind/name of that owner where there is one alone
	// Twin is set where a reference that stays has the UID of one that goes: the cluster's
	// own collector removes both.
	Twin bool `json:"twin,omitzero"`
}

func (r Remaining) phrase() string {
	text := fmt.Sprintf("%d owners remain", r.Count)
	switch r.Count {
	case 0:
		text = "the collector drops the good reference of the same UID too, so that no owner remains"
	case 1:
		text = r.Only + " remains"
	}
	if r.Twin {
		text += " (the cluster's own collector would drop the good reference of the same UID too)"
	}
	return text
}

// OwnersPartlyLost means that some of the object's owner references lead to no owner, and
// at least one leads to a live owner.
type OwnersPartlyLost struct {
	Owners    []Owner   `json:"owners"` // of the references that go
	Remaining Remaining `json:"remaining"`
}

// Message implements Reason.
func (r OwnersPartlyLost) Message() string { return facts(r.Owners) + "; " + r.Remaining.phrase() }

// CycleBroken means that the object waits in a cycle with what it owns, so its references
// stop blocking the deletion of their owners.
type CycleBroken struct{}

// Message implements Reason.
func (CycleBroken) Message() string {
	return "it waits in a circle with what it owns, which is being deleted in the foreground: its references stop blocking, so that both can go"
}

// DependentsOrphaned means that no dependent refers to the object any more, so its orphan
// finalizer can go.
type DependentsOrphaned struct{}

// Message implements Reason.
func (DependentsOrphaned) Message() string {
	return "no dependent refers to it any more: its deletion may end"
}

// DependentsDeleted means that nothing blocks the foreground deletion of the object any
// more, so its finalizer foregroundDeletion can go.
type DependentsDeleted struct{}

// Message implements Reason.
func (DependentsDeleted) Message() string {
	return "foreground deletion, and nothing blocks it any more"
}

// WithoutRepair is what the collector would do with an object if nothing were repaired.
type WithoutRepair string

// What the collector would do.
const (
	WouldDelete WithoutRepair = "delete"
	WouldUnlink WithoutRepair = "unlink"
	WouldSkip   WithoutRepair = "stuck"
)

func (w WithoutRepair) phrase() string {
	switch w {
	case WouldDelete:
		return " (the collector would delete it otherwise)"
	case WouldUnlink:
		return " (the collector would drop the reference otherwise)"
	case WouldSkip:
		return " (the collector cannot decide on it otherwise)"
	}
	return ""
}

// Repaired is a reference that a repair rewrites.
type Repaired struct {
	Owner
	Version  string `json:"version"`           // the apiVersion that it gets
	Relinked bool   `json:"relinked,omitzero"` // it gets another UID
}

// ReferencesRepaired means that references are rewritten so that they lead to a live owner.
type ReferencesRepaired struct {
	References    []Repaired    `json:"references"`
	Completes     []string      `json:"completes,omitempty"`     // Kind/name of owners whose deletion can end then
	WithoutRepair WithoutRepair `json:"withoutRepair,omitempty"` // empty: nothing
}

// Message implements Reason.
func (r ReferencesRepaired) Message() string {
	said := make([]string, len(r.References))
	for i, o := range r.References {
		switch {
		case !o.Relinked:
			said[i] = fmt.Sprintf("%s is named in %s, which is not served: in %s from now on", o, o.APIVersion, o.Version)
		case o.Version != o.APIVersion:
			said[i] = fmt.Sprintf("%s has another UID now, and is served in %s: points at that one", o, o.Version)
		default:
			said[i] = o.String() + " has another UID now: points at that one"
		}
	}
	return strings.Join(firstFew(said), "; ") + completes(r.Completes) + r.WithoutRepair.phrase()
}

func completes(owners []string) string {
	if len(owners) == 0 {
		return ""
	}
	return "; so the deletion of " + strings.Join(owners, ", ") + " can end"
}

// ReferencesDropped means that a repair removes references.
type ReferencesDropped struct {
	Owners        []Owner       `json:"owners"`
	Chosen        bool          `json:"chosen,omitzero"` // somebody named the references to give up
	Kept          Kept          `json:"kept"`            // what becomes of the object without them
	Completes     []string      `json:"completes,omitempty"`
	WithoutRepair WithoutRepair `json:"withoutRepair,omitempty"` // empty: nothing
}

// Kept is what becomes of an object that loses references to a repair.
type Kept struct {
	Terminating bool      `json:"terminating,omitzero"` // its own deletion goes on
	Ownerless   bool      `json:"ownerless,omitzero"`   // it has no reference left
	Unresolved  bool      `json:"unresolved,omitzero"`  // it has references left, and none leads to a live owner
	Remaining   Remaining `json:"remaining"`            // in all other cases
}

func (k Kept) phrase() string {
	switch {
	case k.Terminating:
		return "its own deletion goes on"
	case k.Ownerless:
		return "keeps it, and nothing will ever collect it"
	case k.Unresolved:
		return "its other references stay as they are"
	}
	return k.Remaining.phrase()
}

// Message implements Reason.
func (r ReferencesDropped) Message() string {
	said := make([]string, len(r.Owners))
	for i, o := range r.Owners {
		said[i] = o.String() + " " + o.Predicate()
		if r.Chosen {
			said[i] += ", and is given up"
		}
	}
	return strings.Join(firstFew(said), "; ") + "; " + r.Kept.phrase() + completes(r.Completes) + r.WithoutRepair.phrase()
}
