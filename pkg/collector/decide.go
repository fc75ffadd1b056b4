package collector

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// Action is what the collector does with one object when it comes to it. The words
// are part of the JSON contract.
type Action string

// The acts.
const (
	ActionNone             Action = ""                 // nothing
	ActionDelete           Action = "delete"           // a DELETE, with a policy
	ActionUnlink           Action = "unlink"           // references are dropped
	ActionUnblock          Action = "unblock"          // references stop blocking: what breaks a circle
	ActionRemoveFinalizer  Action = "remove-finalizer" // the collector's own finalizer goes
	ActionOrphanDependents Action = "orphan"           // every dependent loses its references to the object
)

// NoActionReason is why nothing is done with an object.
type NoActionReason int

// The holds.
const (
	ActionTaken         NoActionReason = iota // something is done
	ObjectGone                                // there is no such object
	NoOwners                                  // no references, nothing to judge
	AllOwnersSolid                            // every reference holds
	AlreadyTerminating                        // it is being deleted already, and not by the collector's finalizers
	ReferenceUnknown                          // a reference cannot be judged, and that keeps the whole object
	BlockedByDependents                       // dependents that block must go first
	DependentsUnknown                         // its dependents were not all seen, so no finalizer is removed
	ContentsUnknown                           // it would be deleted and take others along, which were not all listed
	UIDContested                              // another object has its UID, so that nobody can say which of them an owner or a dependent means
)

// DecisionInput is all that a decision rests on.
type DecisionInput struct {
	Object   *object.Object // as it is; nil: gone
	Verdicts []Verdict      // one per reference
	// What carries the object's UID in a reference, whatever else that reference
	// says. The object itself counts too.
	Dependents int // references
	Blockers   int // those that block its deletion
	Deleting   int // those of dependents that are in a foreground deletion themselves
	// Complete says that all dependents there may be were seen.
	Complete bool
	// DeletedBeforeOwner says that an owner waits which goes after the object, however much was
	// seen: see goesBefore. It is told only where not Whole.
	DeletedBeforeOwner bool
	// ContentsUnknown reports that not everything was listed that the deletion of the
	// object takes along, and that this program is about to delete it.
	ContentsUnknown bool
	Actor           Actor // who acts
}

// Decision is what is done with an object, or why nothing is.
type Decision struct {
	Action               Action
	Policy               metav1.DeletionPropagation // of Remove
	Change               object.Change              // of Detach, Unblock and FreeFinalizer
	NoAction             NoActionReason             // of Leave
	UndecidableReference int                        // the reference behind Undecidable, else -1
}

// Decide is the collector's table, docs/gc-semantics.md#decision: the one place
// that says what is done with an object. It follows attemptToDeleteItem,
// processDeletingDependentsItem and attemptToOrphanWorker, save where
// docs/differences.md says otherwise.
func Decide(s DecisionInput) Decision {
	o := s.Object
	switch {
	case o == nil:
		return DoNothing(ObjectGone)
	case o.Contested:
		return DoNothing(UIDContested)
	case o.Terminating():
		return finish(s)
	case len(o.Owners) == 0:
		return DoNothing(NoOwners)
	}
	w := Assess(o, s.Verdicts)
	switch {
	case w.UndecidableReference >= 0 || w.unknown:
		return Decision{NoAction: ReferenceUnknown, UndecidableReference: undecided(s.Verdicts)}
	case len(w.bad) == 0:
		return DoNothing(AllOwnersSolid)
	case w.Consequence() == ConsequenceUnlink:
		return Decision{Action: ActionUnlink, Change: object.Change{Drop: s.bad(w)}, UndecidableReference: -1}
	case s.ContentsUnknown:
		return DoNothing(ContentsUnknown)
	}
	return remove(s)
}

// finish decides on an object that is being deleted:
// docs/gc-semantics.md#foreground-deletion and #orphaning, which comes first.
func finish(s DecisionInput) Decision {
	orphaning, deleting := s.Object.Orphaning(), s.Object.DeletingDependents()
	switch {
	case !orphaning && !deleting:
		return DoNothing(AlreadyTerminating)
	case !s.Complete:
		return DoNothing(DependentsUnknown)
	case orphaning && s.Dependents > 0:
		return Decision{Action: ActionOrphanDependents, UndecidableReference: -1}
	case orphaning:
		return free(object.OrphanFinalizer)
	case s.Blockers > 0:
		return DoNothing(BlockedByDependents)
	}
	return free(object.ForegroundFinalizer)
}

// remove decides how an object without a solid owner is deleted, and the break
// of a circle (docs/gc-semantics.md#breaking-a-cycle), which comes first and
// alone.
func remove(s DecisionInput) Decision {
	o := s.Object
	if s.Dependents > 0 && len(indices(s.Verdicts, func(v Verdict) bool { return v == Waiting })) > 0 {
		if blocking := s.blocking(); s.Deleting > 0 && len(blocking) > 0 {
			return Decision{Action: ActionUnblock, Change: object.Change{Unblock: blocking}, UndecidableReference: -1}
		}
		// In a view that is not whole its owner is not released, and what it has itself must
		// not go on that account. But where the owner goes after it in any view, and it
		// outlasts either deletion, that is due all the same.
		if s.Complete || s.DeletedBeforeOwner && len(o.Finalizers) > 0 {
			return Decision{Action: ActionDelete, Policy: metav1.DeletePropagationForeground, UndecidableReference: -1}
		}
	}
	return Decision{Action: ActionDelete, Policy: ownPolicy(o), UndecidableReference: -1}
}

// ownPolicy is the one that an object's own finalizers ask for.
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

func DoNothing(why NoActionReason) Decision { return Decision{NoAction: why, UndecidableReference: -1} }

func free(finalizer string) Decision {
	return Decision{Action: ActionRemoveFinalizer, Change: object.Change{Release: finalizer}, UndecidableReference: -1}
}

// IsBad says whether a reference of that verdict is one that a solid owner's
// dependent loses.
func (v Verdict) IsBad() bool { return v == Dangling || v == Waiting }

func indices(verdicts []Verdict, want func(Verdict) bool) []int {
	var out []int
	for i, v := range verdicts {
		if want(v) {
			out = append(out, i)
		}
	}
	return out
}

func undecided(verdicts []Verdict) int {
	for i, v := range verdicts {
		if v == Unresolvable || v == ScopeError || v == Unknown {
			return i
		}
	}
	return -1
}

func blocks(o *object.Object) []int {
	var out []int
	for i, r := range o.Owners {
		if r.Blocks() {
			out = append(out, i)
		}
	}
	return out
}
