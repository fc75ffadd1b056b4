package reason

import (
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// Why a step of a plan is taken.
var (
	CycleBroken = fixed("CycleBroken",
		"it waits in a cycle with its dependents, which are being deleted in the foreground: its references stop blocking, so the deletion can complete")
	// no dependent refers to the object anymore, so its orphan finalizer can be removed
	DependentsOrphaned = fixed("DependentsOrphaned", "no dependent refers to it anymore: its deletion can complete")
	// nothing blocks the foreground deletion of the object anymore, so its finalizer foregroundDeletion can be
	// removed
	DependentsDeleted = fixed("DependentsDeleted", "nothing blocks its foreground deletion anymore")
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

// Requested means that someone requested this deletion.
type Requested struct {
	Terminating   bool             `json:"terminating,omitzero"`   // it is being deleted already
	EndsWait      bool             `json:"endsWait,omitzero"`      // its deletion waited for its dependents, and does not any more
	Namespace     bool             `json:"namespace,omitzero"`     // it is a Namespace: everything in it is deleted, too
	Definition    bool             `json:"definition,omitzero"`    // it is a CustomResourceDefinition: all of its objects are deleted, too
	PolicyIgnored bool             `json:"policyIgnored,omitzero"` // the API server ignores the policy for this kind
	Dependents    Cascade          `json:"dependents,omitempty"`   // what happens to its dependents; empty where it has none
	RecreatedBy   *object.Identity `json:"recreatedBy,omitempty"`  // its controller, which stays and will likely create another
	Lost          *Reason          `json:"lost,omitzero"`          // what nobody brings back, where that is known
	NotRunning    bool             `json:"notRunning,omitzero"`    // it is a Pod that no kubelet runs: RecreatedBy replaces it only if it has not finished
	// GraceSeconds is the requested grace period of a Pod that its kubelet has to stop; nil: the Pod's own.
	GraceSeconds *int64 `json:"graceSeconds,omitempty"`
}

func (r Requested) Message() string {
	text := "requested"
	if r.Terminating {
		text = "requested, although it is already being deleted"
	}
	if r.EndsWait {
		text += ": it no longer waits for its dependents"
	}
	switch {
	case r.Namespace:
		text += ": deletes everything in it"
	case r.Definition:
		text += ": deletes every object of its kind"
	}
	switch {
	case r.PolicyIgnored:
		text += "; the API server ignores the policy for this kind"
	case r.Dependents == Foreground:
		text += "; its dependents go first, all at once and in no order (foreground)"
	case r.Dependents == Orphan:
		text += "; its dependents stay (orphan)"
	case r.Dependents == Background:
		text += "; its dependents follow (background)"
	}
	switch {
	case r.GraceSeconds == nil:
	case *r.GraceSeconds == 0:
		text += "; removed without waiting for its kubelet, so its containers may keep running"
	default:
		text += fmt.Sprintf("; with a grace period of %ds", *r.GraceSeconds)
	}
	switch {
	case r.Lost != nil:
		text += "; " + r.Lost.Message()
	case r.RecreatedBy == nil:
	case r.NotRunning:
		text += "; its controller " + r.RecreatedBy.String() + " stays, and will likely create another, unless this Pod has failed or completed"
	default:
		text += "; its controller " + r.RecreatedBy.String() + " stays, and will likely create another"
	}
	return text
}

// FinalizerRemoval means that someone requested the removal of this finalizer from an object that
// is being deleted.
type FinalizerRemoval struct {
	Finalizer  string           `json:"finalizer"`
	Controller string           `json:"controller,omitempty"` // whose cleanup is skipped: a noun, or the domain in the finalizer's name
	Known      bool             `json:"known,omitzero"`       // the controller is a noun
	Condition  string           `json:"condition,omitempty"`  // when the controller removes it; a clause
	Deletes    bool             `json:"deletes,omitzero"`     // nothing else holds the object, so it is deleted at once
	InUse      `json:",inline"` // what the finalizer protects the object for
	// Traces are what the scan shows of the controller; nil if that cannot be looked for.
	Traces *ControllerTraces `json:"traces,omitempty"`
}

func (r FinalizerRemoval) Message() string {
	text := "requested: removes its finalizer " + r.Finalizer
	switch {
	case r.Any():
		text += ", although it " + r.Phrase()
	case r.Condition != "":
		text += fmt.Sprintf(" and skips the cleanup of %s, which removes it only when %s", r.Controller, r.Condition)
	case r.Known:
		text += " and skips the cleanup of " + r.Controller
	case r.Controller != "":
		text += " and skips the cleanup of the controller behind " + r.Controller
	default:
		text += " and skips the cleanup of its controller, whichever that is"
	}
	if r.Deletes {
		text += "; this deletes the object at once"
	}
	return text
}

// OwnersLost means that none of the object's owner references leads to a live owner.
type OwnersLost struct {
	Owners  []Owner `json:"owners"`
	Cascade Cascade `json:"cascade"`
}

func (r OwnersLost) Message() string {
	text := fmt.Sprintf("no owner is left: %s", facts(r.Owners))
	if len(r.Owners) == 1 {
		text = fmt.Sprintf("its only owner, %s, %s", r.Owners[0], r.Owners[0].Predicate())
	}
	switch r.Cascade {
	case Foreground:
		text += "; its own dependents go first (foreground)"
	case Orphan:
		text += "; its own dependents stay (finalizer orphan)"
	case Background:
	}
	return text
}

// OwnerOrphansDependents means that an owner of the object is being deleted with the policy
// Orphan, so its dependents lose their references to it.
var OwnerOrphansDependents = with[object.Identity]("OwnerOrphansDependents", "owner", "its owner %s is being deleted and orphans its dependents")

// Remaining is what keeps an object that loses references.
type Remaining struct {
	Count int    `json:"count"`          // references that resolve to a live owner and stay
	Only  string `json:"only,omitempty"` // Kind/name of that owner where there is one alone
	// Twin is set where a reference that stays has the UID of one that is removed: the cluster's
	// garbage collector removes both.
	Twin bool `json:"twin,omitzero"`
}

func (r Remaining) phrase() string {
	text := fmt.Sprintf("%d owners remain", r.Count)
	switch r.Count {
	case 0:
		text = "the garbage collector also removes the valid reference with the same UID, so no owner remains"
	case 1:
		text = r.Only + " remains"
	}
	if r.Twin {
		text += " (the cluster's garbage collector would also remove the valid reference with the same UID)"
	}
	return text
}

// OwnersPartlyLost means that some of the object's owner references lead to no owner and are removed, and at least one
// leads to a live owner.
var OwnersPartlyLost = says2("OwnersPartlyLost", "owners remaining", func(owners []Owner, left Remaining) string {
	return facts(owners) + "; " + left.phrase()
})

// WithoutRepair is what the collector would do with an object if nothing were repaired.
type WithoutRepair string

// What the collector would do.
const (
	WouldDelete WithoutRepair = "delete"
	WouldUnlink WithoutRepair = "unlink"
	WouldSkip   WithoutRepair = "stuck"
)

// withoutRepairEndings are how a sentence about a repair ends.
var withoutRepairEndings = map[WithoutRepair]string{
	WouldDelete: " (otherwise the garbage collector deletes it)",
	WouldUnlink: " (otherwise the garbage collector removes the reference)",
	WouldSkip:   " (otherwise the garbage collector skips it)",
}

// Repaired is a reference that a repair rewrites.
type Repaired struct {
	Owner
	Version  string `json:"version"`           // the apiVersion that it gets
	Relinked bool   `json:"relinked,omitzero"` // it gets another UID
	Served   bool   `json:"served,omitzero"`   // its apiVersion is served, but not preferred
}

// ReferencesRepaired means that references are rewritten so that they lead to a live owner.
type ReferencesRepaired struct {
	References    []Repaired    `json:"references"`
	Completes     []string      `json:"completes,omitempty"`     // Kind/name of owners whose deletion can complete then
	WithoutRepair WithoutRepair `json:"withoutRepair,omitempty"` // empty: nothing
}

func (r ReferencesRepaired) Message() string {
	references := firstFew(r.References, func(o Repaired) string {
		switch {
		case o.Served:
			return fmt.Sprintf("%s is not the preferred version: the reference to %s becomes %s", o.APIVersion, o, o.Version)
		case !o.Relinked:
			return fmt.Sprintf("%s is not served: the reference to %s becomes %s", o.APIVersion, o, o.Version)
		case o.Version != o.APIVersion:
			return fmt.Sprintf("%s was replaced by a new one: the reference gets its UID and %s", o, o.Version)
		default:
			return o.String() + " was replaced by a new one: the reference gets its UID"
		}
	})
	return references + completes(r.Completes) + withoutRepairEndings[r.WithoutRepair]
}

func completes(owners []string) string {
	if len(owners) == 0 {
		return ""
	}
	return "; so the deletion of " + strings.Join(owners, ", ") + " can complete"
}

// ReferencesDropped means that a repair removes references.
type ReferencesDropped struct {
	Owners        []Owner       `json:"owners"`
	Chosen        bool          `json:"chosen,omitzero"` // someone named the references to remove
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
		return "its own deletion continues"
	case k.Ownerless:
		return "the object then has no owner and stays"
	case k.Unresolved:
		return "its other references stay unchanged"
	}
	return k.Remaining.phrase()
}

func (r ReferencesDropped) Message() string {
	references := firstFew(r.Owners, func(o Owner) string {
		if r.Chosen {
			return o.fact() + ", but you chose to remove this reference"
		}
		return o.fact()
	})
	return references + "; " + r.Kept.phrase() + completes(r.Completes) + withoutRepairEndings[r.WithoutRepair]
}
