package plan

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/repair"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Mode is what a plan is for.
type Mode string

// The modes.
const (
	Collect Mode = "collect" // one pass of the garbage collector
	Delete  Mode = "delete"  // requested deletions and what follows from them
	Repair  Mode = "repair"  // owner references are repaired
	Restore Mode = "restore" // objects are recreated from a backup

	// FinalizerRemoval is what repair does with one finalizer: it removes it, and the deletion that
	// it held continues.
	FinalizerRemoval Mode = "remove-finalizer"
)

// Cascades reports whether a plan of this mode has requested steps, and shows all that the
// cluster does because of them.
func (m Mode) Cascades() bool { return m == Delete || m == FinalizerRemoval }

// Action is what a step does. The words are part of the JSON contract.
type Action string

// The actions: those of the garbage collector, those of a repair and those of a restoration.
const (
	ActionDelete          = Action(collector.ActionDelete)
	ActionUnlink          = Action(collector.ActionUnlink)
	ActionUnblock         = Action(collector.ActionUnblock)
	ActionRemoveFinalizer = Action(collector.ActionRemoveFinalizer)

	ActionRelink        = Action(repair.Relink)
	ActionUpdateVersion = Action(repair.UpdateVersion)

	ActionCreate Action = "create" // an object is created from its backed up manifest
	ActionLink   Action = "link"   // references are added, or replace references to absent owners
)

// Plan is everything that a run will do. Its steps are in an order in which they can be done,
// other lists in the order of their objects. Steps, Outcomes and Blocked are never nil in a new plan.
type Plan struct {
	Mode     Mode
	Complete bool
	Gaps     []snapshot.Gap
	// AcceptedGaps are the words for the gaps that a person accepted.
	AcceptedGaps snapshot.AcceptedGaps

	Steps    []Step
	Outcomes []Outcome
	// LostObjects are in the order of Steps and then of Outcomes, and point into them: who shortens those
	// sets it again.
	LostObjects []Loss

	Blocked []Blocked
	// KeptByAdmission are those of Blocked that would be deleted if admission did not refuse it. They are backed up, as the
	// answer may have changed by the time of the deletion.
	KeptByAdmission []object.Identity

	Retained []Retained // dependents of what is deleted by request
	Kept     []Kept     // what a restoration leaves alone
	Lost     []Lost     // what it does not bring back

	// LostBackends are what the API server calls and the plan deletes. They are read in addition to the scan: see
	// AddLostBackends.
	LostBackends    []reason.BackendLost
	BackendsUnknown bool // some could not be read

	// Impacts are what a deletion means for others than dependents: see package usage. They are read in addition to the
	// scan, and not part of the digest: a Pod more or less does not change what was confirmed.
	Impacts []*reason.Reason

	digest string // see Digest
}

// ClaimsUnread reports whether there may be PersistentVolumeClaims that the scan did not read.
func (p *Plan) ClaimsUnread() bool { return slices.ContainsFunc(p.Gaps, snapshot.Gap.HidesClaims) }

// ObjectState is an object in the state that a step depends on.
type ObjectState struct {
	object.Identity `json:",inline"`
	ResourceVersion string `json:"resourceVersion"`
}

// Step is one write. It has one of the payloads Deletion, Patch and Creation.
type Step struct {
	ID         string // within the plan
	Pass       int
	Requested  bool // a person asked for it
	Action     Action
	Object     ObjectState
	Reason     *reason.Reason
	References []StepReference // those it adds, removes or changes, or all of an object that it deletes
	After      []string        // ids of the steps that must be done before
	Follows    string          // id of the step that causes it; may be empty
	// AcceptedGaps are the words for gaps that may hide what the step depends on.
	AcceptedGaps snapshot.AcceptedGaps
	// ManagedBy is who may recreate the object of a requested deletion; nil if unknown. It is read in
	// addition to the scan, and not part of the digest.
	ManagedBy *reason.ManagedBy

	Deletion *Deletion
	Patch    *Patch
	Creation *Creation
}

// Deletion deletes an object.
type Deletion struct {
	*simulate.Transition
	WaitsForKubelet bool // it is over when the kubelet has stopped the Pod
}

// Patch removes or changes owner references, or removes a finalizer.
type Patch struct {
	*simulate.Transition
	// Repairs are those of the references. Empty: the collector decides about them, or a person.
	Repairs []repair.Repair
	// InUse is what the removed finalizer protects the object for.
	InUse reason.InUse
}

// Creation creates an object from its manifest in a backup, or adds the references that it had there. References to
// objects that are yet to be created carry the UID of the deleted object.
type Creation struct {
	Manifest string     // the SHA-256 of the manifest; empty if only references are added
	Add      []Addition // the references that it is created with, or that are added
	// WaitForCaches says that the object is a controller and that the dependents which it
	// adopts were created shortly before: controllers must have them in their caches
	// first.
	WaitForCaches bool
	// OwnerAdopts says that the new owner is a controller that adopts the object
	// by itself after a while.
	OwnerAdopts bool
	// Grants says that the object gives rights, or decides which requests the API server accepts.
	Grants bool
	// Defines are the types that must be served before the step is done.
	Defines []snapshot.Type
}

// Addition is a reference that an object gets.
type Addition struct {
	object.Reference
	Replaces []object.Reference // those that it replaces
}

// Transition returns the simulated transition of a step that deletes or patches an object.
func (s *Step) Transition() *simulate.Transition {
	if s.Deletion != nil {
		return s.Deletion.Transition
	}
	return s.Patch.Transition
}

// IsRepair reports whether package repair decides about the step, and not the collector.
func (s *Step) IsRepair() bool { return s.Patch != nil && len(s.Patch.Repairs) > 0 }

// Finalizer returns the finalizer that the step removes, or an empty string.
func (s *Step) Finalizer() string {
	if s.Patch == nil {
		return ""
	}
	return s.Patch.Change.RemoveFinalizer
}

// OwnerUIDs returns the UIDs in References, without duplicates. It is never nil.
func (s *Step) OwnerUIDs() []types.UID {
	out := []types.UID{}
	seen := map[types.UID]bool{}
	for _, r := range s.References {
		if !seen[r.UID] {
			seen[r.UID] = true
			out = append(out, r.UID)
		}
	}
	return out
}

// StepReference is an owner reference and what was found of its owner.
type StepReference struct {
	object.Reference
	Verdict collector.Verdict `json:"verdict"`
	reason.Found
	Becomes *object.Reference `json:"becomes,omitempty"` // the repaired reference; nil if it is removed
}

// State is the state of an object after a run. The words are part of the JSON contract.
type State string

// The states.
const (
	Deleted     State = "deleted"
	Terminating State = "terminating"
	Changed     State = "changed"
	// Unchanged objects stay as they are in the order of events that the plan shows. Another order
	// changes or deletes them.
	Unchanged State = "unchanged"
)

// Deletes reports whether an object in this state is deleted, or will be without another step.
func (s State) Deletes() bool { return s == Deleted || s == Terminating }

// When is when an outcome is reached. The words are part of the JSON contract.
type When string

// The times.
const (
	Now   When = "now"   // at the end of the run
	Later When = "later" // once the finalizers are removed that WaitsFor names, and what After names is gone
)

// Outcome is the state of an object after the whole cascade. There is one for each object that the
// run changes, or that is deleted later because of it.
type Outcome struct {
	Object object.Identity `json:"object"`
	State  State           `json:"state"`
	When   When            `json:"when"`
	// Already reports that the object was being deleted before the run.
	Already bool `json:"-"`
	// WaitsFor are finalizers: of a terminating object those that remain, and of one that is deleted
	// later those of the objects that it goes after. Of a deleted object whose deletion was under way,
	// they are those that Kubernetes removes because of the run.
	WaitsFor []string `json:"waitsFor"`
	// After are the owners, or what else has to be gone before an object is deleted later.
	After []object.Identity `json:"after,omitempty"`
	// Follows is the id of the step that deletes the object without a step of its own: by deleting
	// its namespace, its CustomResourceDefinition or the Service of these Endpoints, or later. It is
	// empty for what only another run deletes.
	Follows string `json:"follows,omitempty"`
	// DeletedBy is which controller deletes the object later, by the inventory of another one; nil if none does.
	DeletedBy *reason.Reason `json:"deletedBy,omitzero"`
	// Inventory is what the controller of the object deletes with it; nil if none is known that does so.
	Inventory *Inventory `json:"inventory,omitempty"`
	// Data is what becomes of the data of a claim or a volume that is, or may be, deleted; nil for others.
	Data *simulate.Data `json:"data,omitempty"`
	// UsedBy is what still needs a deleted object after the run, and a terminating one waits for; as far as it
	// could be read.
	UsedBy []reason.User `json:"usedBy,omitempty"`
	// NotRecreated reports that a Pod goes with its Node, and no controller creates another one.
	NotRecreated bool `json:"notRecreated,omitempty"`
	// Nondeterministic is why the outcome may differ; nil if it cannot.
	Nondeterministic *reason.Reason `json:"nondeterministic,omitzero"`
	// MayBeDeleted reports that another order of events deletes the object.
	MayBeDeleted bool `json:"mayBeDeleted,omitempty"`
	// WithoutRepair is what the garbage collector would do with a repaired object without the
	// repair; empty for others.
	WithoutRepair collector.Consequence `json:"withoutRepair,omitempty"`
}

// Owner returns the owner that the reference names, with what was found of it.
func (r StepReference) Owner() reason.Owner {
	return reason.NewOwner(r.Reference, r.Found)
}

// Blocked is a deletion that the run does not complete, an object that would be deleted if a
// reference could be judged, or an object that a repair does not or not sufficiently repair.
type Blocked struct {
	Object object.Identity   `json:"object"`
	By     []object.Identity `json:"by"` // the dependents that block it; never nil
	*reason.Reason
	// Finalizers are those of others that hold the object itself; empty if something else blocks it.
	Finalizers []string `json:"-"`
}

// Kept is an object that a restoration leaves alone.
type Kept struct {
	Object object.Identity `json:"object"`
	*reason.Reason
}

// Lost is what a restoration does not bring back, and for which objects.
type Lost struct {
	*reason.Reason
	Objects []object.Identity `json:"objects,omitempty"`
}
