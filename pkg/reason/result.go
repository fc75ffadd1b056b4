package reason

import (
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// Why a step ended as it did. Each is said of the object of the step. A step that was done
// as planned has no reason.
var _ = register(
	RecordFailed{}, NotPermitted{}, ObjectChanged{}, OwnerStillExists{}, OwnerNotResolved{},
	DependentExists{}, DependentBlocks{}, OtherFinalizerFirst{}, DecidedOtherwise{}, PrecedingStepNotDone{},
	OwnerNotRepairable{}, RepairedOtherwise{}, NewOwnerGone{}, NewOwnerTerminating{}, DependentsNotListed{},
	DependentsIncomplete{}, ContentsNotListed{}, ContentsIncomplete{}, ContentsAdded{}, KeepsChanging{}, BackupFailed{},
	WriteFailed{}, RereadFailed{}, DependencyReadFailed{}, DeletionIncomplete{},
)

// Those without parameters.
var (
	// the step was not begun before the run was interrupted
	Interrupted = fixed("Interrupted", "the run ended before this step")
	// the step was not begun before the time of the run was over
	TimedOut = fixed("TimedOut", "the run ended before this step")
	// the step comes after one that is not in the plan, or that waits for it in turn
	PrecedingStepNeverEnds = fixed("PrecedingStepNeverEnds", "it comes after a step that never completes")
	// nothing was sent, as the API server would refuse another step
	OtherStepNotPermitted = fixed("OtherStepNotPermitted", "not sent, because another step would be refused")
	// the step is left to the cluster's garbage collector, and the run does not wait for it
	LeftToCollector = fixed("LeftToCollector", "left to the cluster's garbage collector")
	// the step would follow from another, which was not done
	CausingStepNotDone = fixed("CausingStepNotDone", "not waited for: the step that causes it was not done")
	// the cluster's garbage collector did not do the step before the run ended
	NotCollectedInTime = fixed("NotCollectedInTime", "the cluster's garbage collector did not process it before the run ended")
	// the object to delete does not exist any more
	AlreadyGone = fixed("AlreadyGone", "already gone")
	// the object was deleted after the plan was made
	ObjectGone = fixed("ObjectGone", "it no longer exists")
	// the object is being deleted already
	AlreadyTerminating = fixed("AlreadyTerminating", "it is already being deleted")
	// the object is in the state already that the step would bring about
	AlreadyDone = fixed("AlreadyDone", "nothing to do: it is already in this state")
	// the object is not as it was when the plan was made, so a dry run of the step would prove nothing
	ChangedSincePlanned = fixed("ChangedSincePlanned", "it changed since the plan was made")
	// the object has other owner references than the plan shows
	OwnersChanged = fixed("OwnersChanged", "its owners now differ from the plan")
	// the object has other finalizers than the plan shows
	FinalizersChanged = fixed("FinalizersChanged", "its finalizers now differ from the plan")
	// the object has no owner references any more, so it is not garbage
	NoOwnerReferences = fixed("NoOwnerReferences", "it no longer has owners")
	// no owner of the object exists any more, so the collector would delete it and not remove references
	NoOwnerLeft = fixed("NoOwnerLeft", "it has no owner left, so it would be deleted now")
)

// The API server or the disk reported an error.
type (
	RecordFailed        struct{ Failure } // the step was not begun, as the run could no longer record what it did
	DependentsNotListed struct{ Failure } // the dependents of the object could not be listed again, so its finalizer stays
	ContentsNotListed   struct{ Failure } // the contents of the Namespace or CustomResourceDefinition could not be listed again, so it is not deleted
	BackupFailed        struct{ Failure } // the object, or one that is deleted along with it, could not be backed up, so it is not written
	WriteFailed         struct{ Failure } // the API server refused the write, or that it is not known whether it was carried out
)

func (r RecordFailed) Message() string { return "not started: " + r.Failure.Text() }
func (r DependentsNotListed) Message() string {
	return "its dependents could not be listed again: " + r.Failure.Text()
}

func (r ContentsNotListed) Message() string {
	return "refused: its contents could not be listed again: " + r.Failure.Text()
}
func (r BackupFailed) Message() string { return "not backed up: " + r.Failure.Text() }
func (r WriteFailed) Message() string  { return r.Failure.Text() }

// NotPermitted means that nothing was sent, as the API server would refuse this step.
type NotPermitted struct {
	Verb      string `json:"verb"`
	Type      string `json:"type"` // resource.group
	Namespace string `json:"namespace,omitempty"`
	*Failure         // of a dry run of the step; nil where it was not tried
}

// Right returns what is not permitted, such as "delete secrets in namespace shop".
func (r NotPermitted) Right() string {
	if r.Namespace == "" {
		return r.Verb + " " + r.Type
	}
	return r.Verb + " " + r.Type + " in namespace " + r.Namespace
}

func (r NotPermitted) Message() string {
	text := "not sent: you may not " + r.Right()
	if r.Failure != nil {
		text += ": " + r.Failure.Text()
	}
	return text
}

// ObjectChanged means that the object changed during the run, and the step no longer applies to it as it is now.
type ObjectChanged causeParameter

func (r ObjectChanged) Message() string { return "it changed: " + Message(r.Because.Reason) }

// Another object is not as the plan shows it.
type (
	OwnerStillExists    referenceParameter // an owner of the object exists, so the reference to it stays
	OwnerNotResolved    referenceParameter // one of the object's owner references cannot be resolved now, so that the collector skips the whole object
	NewOwnerGone        referenceParameter // the owner to which the reference would be rewritten does not exist any more
	NewOwnerTerminating referenceParameter // the owner to which the reference would be rewritten is being deleted
	DependentExists     dependentParameter // a dependent refers to the object, so its finalizer orphan stays
	DependentBlocks     dependentParameter // a dependent blocks the deletion of the object, so its finalizer foregroundDeletion stays
	ContentsIncomplete  gapParameter       // part of the contents of the Namespace or CustomResourceDefinition could not be listed again, so it is not deleted
	ContentsAdded       objectParameter    // the Namespace or CustomResourceDefinition contains an object that is not in the plan, so it is not deleted
)

func (r OwnerStillExists) Message() string { return fmt.Sprintf("its owner %s exists", r.Owner) }
func (r OwnerNotResolved) Message() string {
	return fmt.Sprintf("its owner %s cannot be resolved", r.Owner)
}

func (r NewOwnerGone) Message() string {
	return fmt.Sprintf("%s, the planned new owner, no longer exists", r.Owner)
}

func (r NewOwnerTerminating) Message() string {
	return fmt.Sprintf("%s, the planned new owner, is being deleted", r.Owner)
}
func (r DependentExists) Message() string { return nameOf(r.Dependent) + " depends on it" }
func (r DependentBlocks) Message() string { return nameOf(r.Dependent) + " blocks its deletion" }
func (r ContentsIncomplete) Message() string {
	return "refused: not all of its contents could be listed again: " + listGaps([]Gap{r.Gap})
}

func (r ContentsAdded) Message() string {
	return fmt.Sprintf("refused: %s in it was not in the plan, and would be deleted with it", r.Object)
}

func nameOf(o *object.Identity) string {
	if o == nil {
		return "something"
	}
	return o.String()
}

// OtherFinalizerFirst means that another finalizer of the collector has to be removed before this one.
type OtherFinalizerFirst struct {
	Finalizer string `json:"finalizer"`
}

func (r OtherFinalizerFirst) Message() string {
	return "another finalizer must be removed first: " + r.Finalizer
}

// DecidedOtherwise means that the collector would do something else with the object now.
type DecidedOtherwise struct {
	Action string `json:"action"` // as in steps[].action
}

func (r DecidedOtherwise) Message() string {
	return "the garbage collector would now do something else with it: " + r.Action
}

// PrecedingStepNotDone means that another step has to be done before this one, and was not done.
type PrecedingStepNotDone struct {
	Action string          `json:"action"`
	Object object.Identity `json:"object"`
}

func (r PrecedingStepNotDone) Message() string {
	return fmt.Sprintf("%s %s comes first, and was not done", r.Action, r.Object)
}

// OwnerNotRepairable means that the reference to an owner cannot be repaired any more.
type OwnerNotRepairable struct {
	Owner object.Reference `json:"owner"`
	Found
}

func (r OwnerNotRepairable) Message() string {
	return fmt.Sprintf("its owner %s %s", r.Owner, r.Predicate())
}

// RepairedOtherwise means that the reference to an owner needs another fix now than planned.
type RepairedOtherwise struct {
	Owner object.Reference `json:"owner"`
	Fix   string           `json:"fix"` // as in findings[].fix
}

func (r RepairedOtherwise) Message() string {
	return fmt.Sprintf("its reference to %s now needs another fix: %s", r.Owner, r.Fix)
}

// DependentsIncomplete means that not every type that may depend on the object could be
// listed again, so its finalizer stays.
type DependentsIncomplete struct {
	Gap *Gap `json:"gap,omitempty"` // the first type that could not be listed; nil where the list as a whole proves nothing
}

func (r DependentsIncomplete) Message() string {
	text := "not all of its dependents could be listed again"
	if r.Gap != nil {
		text += ": " + listGaps([]Gap{*r.Gap})
	}
	return text
}

// KeepsChanging means that the object changed before each attempt to write it.
type KeepsChanging struct {
	Attempts int `json:"attempts"`
}

func (r KeepsChanging) Message() string {
	return fmt.Sprintf("it keeps changing: gave up after %d attempts", r.Attempts)
}

// RereadFailed means that the object could not be read again.
type RereadFailed struct {
	Failure
	Changed bool `json:"changed,omitzero"` // it had changed, so it had to be
}

func (r RereadFailed) Message() string {
	if r.Changed {
		return "it changed, and could not be read again: " + r.Failure.Text()
	}
	return "it could not be read again: " + r.Failure.Text()
}

// DependencyReadFailed means that another object, on which the decision about this one rests, could not be read again.
type DependencyReadFailed struct {
	Object object.Identity `json:"object"`
	Failure
}

func (r DependencyReadFailed) Message() string {
	return fmt.Sprintf("%s, on which this step depends, could not be read again: %s", r.Object, r.Failure.Text())
}

// DeletionIncomplete means that the object was deleted as planned, and still existed when the
// run ended or stopped to wait for it.
type DeletionIncomplete struct {
	WaitsFor *Nested `json:"waitsFor,omitempty"` // nil where that is not known
	*Failure         // why the run stopped to wait; nil: it ended
}

func (r DeletionIncomplete) Message() string {
	text := "still exists"
	if r.WaitsFor != nil {
		text += ": " + Message(r.WaitsFor.Reason)
	}
	if r.Failure != nil {
		text += "; " + r.Failure.Text()
	}
	return text
}
