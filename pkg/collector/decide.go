package collector

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// Actor is the collector whose decisions are wanted. The zero value is none.
type Actor int

const (
	// ActorClient is this program. It is more careful than the cluster's collector:
	// see docs/differences.md.
	ActorClient Actor = iota + 1
	// ActorControllerManager is the cluster's own collector, errors included. It runs
	// all the time, next to the other controllers of Kubernetes, and sees objects that
	// a scan could not read.
	ActorControllerManager
)

// Action is what the collector does with one object. The values are part of the JSON
// contract.
type Action string

const (
	ActionNone             Action = ""
	ActionDelete           Action = "delete"
	ActionUnlink           Action = "unlink"           // removes references
	ActionUnblock          Action = "unblock"          // clears blockOwnerDeletion of references, which breaks a cycle
	ActionRemoveFinalizer  Action = "remove-finalizer" // removes the collector's own finalizer
	ActionOrphanDependents Action = "orphan"           // removes every dependent's references to the object
)

// NoActionReason explains why the collector leaves an object alone.
type NoActionReason int

const (
	ActionTaken         NoActionReason = iota // there is an action
	ObjectGone                                // the object does not exist
	NoOwners                                  // the object has no owner references
	AllOwnersSolid                            // every owner reference resolves to a live owner
	AlreadyTerminating                        // deletion is under way and waits for someone else's finalizer
	ReferenceUnknown                          // one owner reference cannot be resolved; the collector then skips the whole object
	BlockedByDependents                       // dependents with blockOwnerDeletion must go first
	DependentsUnknown                         // not all dependents were listed, so no finalizer may be removed
	ContentsUnknown                           // deletion would delete others too, and those were not all listed
	UIDContested                              // another object has the same UID, so references to it are ambiguous
	PatchRejected                             // the API server rejects the patch
	WriteRefused                              // admission refuses the deletion or the patch
)

// DecisionInput is everything that a decision depends on.
type DecisionInput struct {
	Object   *object.Object // in its present state; nil if it is gone
	Verdicts []Verdict      // one per reference
	// The next three count references with the object's UID, whatever else those
	// references say, and including the object's references to itself.
	Dependents int // all of them
	Blockers   int // with blockOwnerDeletion
	Deleting   int // of dependents that are in foreground deletion themselves
	// Complete reports whether every possible dependent was listed. It is called only if the
	// decision depends on that.
	Complete func() bool
	// DeletedBeforeOwner reports that the object is deleted before one of its waiting
	// owners, whatever was not listed. It matters only if Complete reports false.
	DeletedBeforeOwner bool
	// ContentsUnknown reports that this program is about to delete the object and that
	// not everything was listed that its deletion deletes too.
	ContentsUnknown bool
	// Custom reports that a CustomResourceDefinition defines the object's type, so that it
	// takes no strategic merge patch.
	Custom bool
	Actor  Actor
}

// Decision is the collector's action on an object, or the reason why there is none.
type Decision struct {
	Action               Action
	Policy               metav1.DeletionPropagation // of ActionDelete
	GraceSeconds         *int64                     // of a deletion that a person requested; nil, as in every decision of the collector: the object's own
	Change               object.Change              // of ActionUnlink, ActionUnblock and ActionRemoveFinalizer
	NoAction             NoActionReason             // of ActionNone
	UndecidableReference int                        // of ReferenceUnknown: the reference that cannot be resolved
}

// Decide returns the collector's decision on an object
// (docs/gc-semantics.md#decision). It follows attemptToDeleteItem,
// processDeletingDependentsItem and attemptToOrphanWorker, except where
// docs/differences.md says otherwise.
func Decide(in DecisionInput) Decision {
	d := decide(in)
	if !d.Change.Empty() {
		if after := d.Change.Apply(*in.Object); UpdateRejected(&after) {
			return Decision{NoAction: PatchRejected}
		}
	}
	return d
}

func decide(in DecisionInput) Decision {
	o := in.Object
	switch {
	case o == nil:
		return Decision{NoAction: ObjectGone}
	case o.Contested:
		return Decision{NoAction: UIDContested}
	case o.Terminating():
		return decideTerminating(in)
	case len(o.Owners) == 0:
		return Decision{NoAction: NoOwners}
	}
	a := Assess(o, in.Verdicts)
	switch {
	case a.UndecidableReference >= 0 || a.unknown:
		i := slices.IndexFunc(in.Verdicts, func(v Verdict) bool { return v == VerdictUnresolvable || v == VerdictScopeError || v == VerdictUnknown })
		return Decision{NoAction: ReferenceUnknown, UndecidableReference: i}
	case len(a.bad) == 0:
		return Decision{NoAction: AllOwnersSolid}
	case a.ConsequenceIfDecidable() == ConsequenceUnlink:
		return Decision{Action: ActionUnlink, Change: object.Change{Drop: in.removedReferences(a)}}
	case in.ContentsUnknown:
		return Decision{NoAction: ContentsUnknown}
	}
	return decideDelete(in)
}

// decideTerminating follows docs/gc-semantics.md#foreground-deletion and #orphaning.
// Orphaning comes first.
func decideTerminating(in DecisionInput) Decision {
	orphaning, deleting := in.Object.Orphaning(), in.Object.DeletingDependents()
	switch {
	case !orphaning && !deleting:
		return Decision{NoAction: AlreadyTerminating}
	case !in.Complete() && (in.Actor == ActorClient || !orphaning || in.Dependents == 0):
		return Decision{NoAction: DependentsUnknown}
	case orphaning && in.Dependents > 0:
		return Decision{Action: ActionOrphanDependents}
	case orphaning:
		return Decision{Action: ActionRemoveFinalizer, Change: object.Change{RemoveFinalizer: object.OrphanFinalizer}}
	case in.Blockers > 0:
		return Decision{NoAction: BlockedByDependents}
	}
	return Decision{Action: ActionRemoveFinalizer, Change: object.Change{RemoveFinalizer: object.ForegroundFinalizer}}
}

// decideDelete returns how an object without a solid owner is deleted. If the object may
// be part of a cycle, breaking that cycle comes first
// (docs/gc-semantics.md#breaking-a-cycle).
func decideDelete(in DecisionInput) Decision {
	o := in.Object
	if in.Dependents > 0 && slices.Contains(in.Verdicts, VerdictWaiting) {
		if blocking := in.blockingReferences(); in.Deleting > 0 && len(blocking) > 0 {
			return Decision{Action: ActionUnblock, Change: object.Change{Unblock: blocking}}
		}
		// After an incomplete scan the owner's finalizer is not removed, so the object's
		// own dependents must not be deleted in the foreground on its account, unless the
		// object is deleted before its owner anyway and finalizers hold it.
		if in.Complete() || in.DeletedBeforeOwner && len(o.Finalizers) > 0 {
			return Decision{Action: ActionDelete, Policy: metav1.DeletePropagationForeground}
		}
	}
	return Decision{Action: ActionDelete, Policy: ownPolicy(o)}
}

// removedReferences returns the references that a dependent with a solid owner loses.
// The cluster's collector names UIDs in its patch, so a solid reference goes with a
// dangling one of the same UID (docs/gc-semantics.md#removing-references).
func (in DecisionInput) removedReferences(a Assessment) []int {
	return indices(in.Object.Owners, func(i int, r object.Reference) bool {
		if in.Actor == ActorClient {
			return in.Verdicts[i].IsDanglingOrWaiting()
		}
		return a.bad[r.UID]
	})
}

// blockingReferences returns the references whose blockOwnerDeletion is cleared to break
// a cycle. The strategic merge patch of the cluster's collector merges two references with one
// UID into the first, so the second keeps blocking; the merge patch that custom resources
// take clears all (docs/gc-semantics.md#breaking-a-cycle).
func (in DecisionInput) blockingReferences() []int {
	seen := map[types.UID]bool{}
	return indices(in.Object.Owners, func(_ int, r object.Reference) bool {
		first := !seen[r.UID]
		seen[r.UID] = true
		return r.Blocks() && (first || in.Custom || in.Actor == ActorClient)
	})
}

func indices(owners []object.Reference, want func(int, object.Reference) bool) []int {
	var out []int
	for i, r := range owners {
		if want(i, r) {
			out = append(out, i)
		}
	}
	return out
}

// ownPolicy returns the propagation policy that an object's finalizers ask for.
func ownPolicy(o *object.Object) metav1.DeletionPropagation {
	policy := metav1.DeletePropagationBackground
	for _, f := range o.Finalizers {
		switch f {
		case object.OrphanFinalizer:
			return metav1.DeletePropagationOrphan
		case object.ForegroundFinalizer:
			policy = metav1.DeletePropagationForeground
		}
	}
	return policy
}
