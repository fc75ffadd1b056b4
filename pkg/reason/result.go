package reason

import (
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// Why a step ended as it did. Each is said of the object of the step. A step that was done
// as planned has no reason.
var _ = register(
	Interrupted{}, TimedOut{}, PrecedingStepNeverEnds{}, PlanNotRevalidated{}, RecordFailed{}, NotPermitted{}, OtherStepNotPermitted{}, StepRefused{},
	LeftToCollector{}, AlreadyGone{}, ObjectGone{}, AlreadyTerminating{}, AlreadyDone{}, ObjectChanged{}, ChangedSincePlanned{}, OwnersChanged{},
	FinalizersChanged{}, OwnerStillExists{}, OwnerNotResolved{}, NoOwnerReferences{}, NoOwnerLeft{}, DependentExists{}, DependentBlocks{},
	OtherFinalizerFirst{}, DecidedOtherwise{}, PrecedingStepNotDone{}, CausingStepNotDone{}, NotCollectedInTime{}, OwnerNotRepairable{},
	RepairedOtherwise{}, NewOwnerGone{}, NewOwnerTerminating{}, DependentsNotListed{}, DependentsIncomplete{}, ContentsNotListed{},
	ContentsIncomplete{}, ContentsAdded{}, KeepsChanging{}, BackupFailed{}, WriteFailed{}, RereadFailed{}, DependencyReadFailed{}, DeletionIncomplete{},
)

// Failure is an error of the API server or of the disk.
type Failure struct {
	// ErrorClass is as in gaps[].reason, or conflict, gone, invalid, refused or exists;
	// empty where the error has none of these classes.
	ErrorClass string `json:"errorClass,omitempty"`
	Detail     string `json:"detail"`         // the text of the error
	Hint       string `json:"hint,omitempty"` // what a person may do about it
}

// Text returns the text of the error and the hint.
func (f Failure) Text() string {
	if f.Hint != "" {
		return f.Detail + " (" + f.Hint + ")"
	}
	return f.Detail
}

// Interrupted means that the step was not begun before the run was interrupted.
type Interrupted struct{}

// Message implements Reason.
func (Interrupted) Message() string { return "the run ended before this step" }

// TimedOut means that the step was not begun before the time of the run was over.
type TimedOut struct{}

// Message implements Reason.
func (TimedOut) Message() string { return "the run ended before this step" }

// PrecedingStepNeverEnds means that the step comes after one that is not in the plan, or
// that waits for it in turn.
type PrecedingStepNeverEnds struct{}

// Message implements Reason.
func (PrecedingStepNeverEnds) Message() string { return "it comes after a step that never completes" }

// PlanNotRevalidated means that the plan was read from a file and not compared with a scan.
type PlanNotRevalidated struct{}

// Message implements Reason.
func (PlanNotRevalidated) Message() string {
	return "the plan must be compared with a new scan before it is run"
}

// RecordFailed means that the step was not begun, as the run could no longer record what
// it did.
type RecordFailed struct{ Failure }

// Message implements Reason.
func (r RecordFailed) Message() string { return "not started: " + r.Failure.Text() }

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

// Message implements Reason.
func (r NotPermitted) Message() string {
	text := "not sent: you may not " + r.Right()
	if r.Failure != nil {
		text += ": " + r.Failure.Text()
	}
	return text
}

// OtherStepNotPermitted means that nothing was sent, as the API server would refuse
// another step.
type OtherStepNotPermitted struct{}

// Message implements Reason.
func (OtherStepNotPermitted) Message() string {
	return "not sent, because another step would be refused"
}

// StepRefused means that the step of a saved plan does not fit the cluster any more.
type StepRefused struct {
	Because Nested `json:"because"`
}

// Message implements Reason.
func (r StepRefused) Message() string { return "refused: " + Message(r.Because.Reason) }

// LeftToCollector means that the step is left to the cluster's garbage collector, and the
// run does not wait for it.
type LeftToCollector struct{}

// Message implements Reason.
func (LeftToCollector) Message() string { return "left to the cluster's garbage collector" }

// AlreadyGone means that the object to delete does not exist any more.
type AlreadyGone struct{}

// Message implements Reason.
func (AlreadyGone) Message() string { return "already gone" }

// ObjectGone means that the object was deleted after the plan was made.
type ObjectGone struct{}

// Message implements Reason.
func (ObjectGone) Message() string { return "it no longer exists" }

// AlreadyTerminating means that the object is being deleted already.
type AlreadyTerminating struct{}

// Message implements Reason.
func (AlreadyTerminating) Message() string { return "it is already being deleted" }

// AlreadyDone means that the object is in the state already that the step would bring about.
type AlreadyDone struct{}

// Message implements Reason.
func (AlreadyDone) Message() string { return "nothing to do: it is already in this state" }

// ObjectChanged means that the object changed during the run, and the step no longer
// applies to it as it is now.
type ObjectChanged struct {
	Because Nested `json:"because"` // why it does not apply
}

// Message implements Reason.
func (r ObjectChanged) Message() string { return "it changed: " + Message(r.Because.Reason) }

// ChangedSincePlanned means that the object changed since the plan was made, and only
// unchanged objects are written.
type ChangedSincePlanned struct{}

// Message implements Reason.
func (ChangedSincePlanned) Message() string { return "it changed since the plan was made" }

// OwnersChanged means that the object has other owner references than the plan shows.
type OwnersChanged struct{}

// Message implements Reason.
func (OwnersChanged) Message() string { return "its owners now differ from the plan" }

// FinalizersChanged means that the object has other finalizers than the plan shows.
type FinalizersChanged struct{}

// Message implements Reason.
func (FinalizersChanged) Message() string { return "its finalizers now differ from the plan" }

// OwnerStillExists means that an owner of the object exists, so the reference to it stays.
type OwnerStillExists struct {
	Owner object.Reference `json:"owner"`
}

// Message implements Reason.
func (r OwnerStillExists) Message() string { return fmt.Sprintf("its owner %s exists", r.Owner) }

// OwnerNotResolved means that one of the object's owner references cannot be resolved now,
// so that the collector skips the whole object.
type OwnerNotResolved struct {
	Owner object.Reference `json:"owner"`
}

// Message implements Reason.
func (r OwnerNotResolved) Message() string {
	return fmt.Sprintf("its owner %s cannot be resolved", r.Owner)
}

// NoOwnerReferences means that the object has no owner references any more, so it is not
// garbage.
type NoOwnerReferences struct{}

// Message implements Reason.
func (NoOwnerReferences) Message() string { return "it no longer has owners" }

// NoOwnerLeft means that no owner of the object exists any more, so the collector would
// delete it and not remove references.
type NoOwnerLeft struct{}

// Message implements Reason.
func (NoOwnerLeft) Message() string { return "it has no owner left, so it would be deleted now" }

// DependentExists means that a dependent refers to the object, so its finalizer orphan
// stays.
type DependentExists struct {
	Dependent *object.Identity `json:"dependent,omitempty"` // nil where it is not known which
}

// Message implements Reason.
func (r DependentExists) Message() string { return nameOf(r.Dependent) + " depends on it" }

// DependentBlocks means that a dependent blocks the deletion of the object, so its
// finalizer foregroundDeletion stays.
type DependentBlocks struct {
	Dependent *object.Identity `json:"dependent,omitempty"` // nil where it is not known which
}

// Message implements Reason.
func (r DependentBlocks) Message() string { return nameOf(r.Dependent) + " blocks its deletion" }

func nameOf(o *object.Identity) string {
	if o == nil {
		return "something"
	}
	return o.String()
}

// OtherFinalizerFirst means that another finalizer of the collector has to be removed
// before this one.
type OtherFinalizerFirst struct {
	Finalizer string `json:"finalizer"`
}

// Message implements Reason.
func (r OtherFinalizerFirst) Message() string {
	return "another finalizer must be removed first: " + r.Finalizer
}

// DecidedOtherwise means that the collector would do something else with the object now.
type DecidedOtherwise struct {
	Action string `json:"action"` // as in steps[].action
}

// Message implements Reason.
func (r DecidedOtherwise) Message() string {
	return "the garbage collector would now do something else with it: " + r.Action
}

// PrecedingStepNotDone means that another step has to be done before this one, and was
// not done.
type PrecedingStepNotDone struct {
	Action string          `json:"action"`
	Object object.Identity `json:"object"`
}

// Message implements Reason.
func (r PrecedingStepNotDone) Message() string {
	return fmt.Sprintf("%s %s comes first, and was not done", r.Action, r.Object)
}

// CausingStepNotDone means that the step would follow from another, which was not done.
type CausingStepNotDone struct{}

// Message implements Reason.
func (CausingStepNotDone) Message() string {
	return "not waited for: the step that causes it was not done"
}

// NotCollectedInTime means that the cluster's garbage collector did not do the step before
// the run ended.
type NotCollectedInTime struct{}

// Message implements Reason.
func (NotCollectedInTime) Message() string {
	return "the cluster's garbage collector did not process it before the run ended"
}

// OwnerNotRepairable means that the reference to an owner cannot be repaired any more.
type OwnerNotRepairable struct {
	Owner object.Reference `json:"owner"`
	Found
}

// Message implements Reason.
func (r OwnerNotRepairable) Message() string {
	return fmt.Sprintf("its owner %s %s", r.Owner, r.Predicate())
}

// RepairedOtherwise means that the reference to an owner needs another fix now than planned.
type RepairedOtherwise struct {
	Owner object.Reference `json:"owner"`
	Fix   string           `json:"fix"` // as in findings[].fix
}

// Message implements Reason.
func (r RepairedOtherwise) Message() string {
	return fmt.Sprintf("its reference to %s now needs another fix: %s", r.Owner, r.Fix)
}

// NewOwnerGone means that the owner to which the reference would be rewritten does not
// exist any more.
type NewOwnerGone struct {
	Owner object.Reference `json:"owner"`
}

// Message implements Reason.
func (r NewOwnerGone) Message() string {
	return fmt.Sprintf("%s, the planned new owner, no longer exists", r.Owner)
}

// NewOwnerTerminating means that the owner to which the reference would be rewritten is
// being deleted.
type NewOwnerTerminating struct {
	Owner object.Reference `json:"owner"`
}

// Message implements Reason.
func (r NewOwnerTerminating) Message() string {
	return fmt.Sprintf("%s, the planned new owner, is being deleted", r.Owner)
}

// DependentsNotListed means that the dependents of the object could not be listed again,
// so its finalizer stays.
type DependentsNotListed struct{ Failure }

// Message implements Reason.
func (r DependentsNotListed) Message() string {
	return "its dependents could not be listed again: " + r.Failure.Text()
}

// DependentsIncomplete means that not every type that may depend on the object could be
// listed again, so its finalizer stays.
type DependentsIncomplete struct {
	Gap *Gap `json:"gap,omitempty"` // the first type that could not be listed; nil where the list as a whole proves nothing
}

// Message implements Reason.
func (r DependentsIncomplete) Message() string {
	text := "not all of its dependents could be listed again"
	if r.Gap != nil {
		text += ": " + listGaps([]Gap{*r.Gap})
	}
	return text
}

// ContentsNotListed means that the contents of the Namespace or CustomResourceDefinition
// could not be listed again, so it is not deleted.
type ContentsNotListed struct{ Failure }

// Message implements Reason.
func (r ContentsNotListed) Message() string {
	return "refused: its contents could not be listed again: " + r.Failure.Text()
}

// ContentsIncomplete means that part of the contents of the Namespace or
// CustomResourceDefinition could not be listed again, so it is not deleted.
type ContentsIncomplete struct {
	Gap Gap `json:"gap"`
}

// Message implements Reason.
func (r ContentsIncomplete) Message() string {
	return "refused: not all of its contents could be listed again: " + listGaps([]Gap{r.Gap})
}

// ContentsAdded means that the Namespace or CustomResourceDefinition contains an object
// that is not in the plan, so it is not deleted.
type ContentsAdded struct {
	Object object.Identity `json:"object"`
}

// Message implements Reason.
func (r ContentsAdded) Message() string {
	return fmt.Sprintf("refused: %s in it was not in the plan, and would be deleted with it", r.Object)
}

// KeepsChanging means that the object changed before each attempt to write it.
type KeepsChanging struct {
	Attempts int `json:"attempts"`
}

// Message implements Reason.
func (r KeepsChanging) Message() string {
	return fmt.Sprintf("it keeps changing: gave up after %d attempts", r.Attempts)
}

// BackupFailed means that the object, or one that is deleted along with it, could not be
// backed up, so it is not written.
type BackupFailed struct{ Failure }

// Message implements Reason.
func (r BackupFailed) Message() string { return "not backed up: " + r.Failure.Text() }

// WriteFailed means that the API server refused the write, or that it is not known whether
// it was carried out.
type WriteFailed struct{ Failure }

// Message implements Reason.
func (r WriteFailed) Message() string { return r.Failure.Text() }

// RereadFailed means that the object could not be read again.
type RereadFailed struct {
	Failure
	Changed bool `json:"changed,omitzero"` // it had changed, so it had to be
}

// Message implements Reason.
func (r RereadFailed) Message() string {
	if r.Changed {
		return "it changed, and could not be read again: " + r.Failure.Text()
	}
	return "it could not be read again: " + r.Failure.Text()
}

// DependencyReadFailed means that another object, on which the decision about this one
// rests, could not be read again.
type DependencyReadFailed struct {
	Object object.Identity `json:"object"`
	Failure
}

// Message implements Reason.
func (r DependencyReadFailed) Message() string {
	return fmt.Sprintf("%s, on which this step depends, could not be read again: %s", r.Object, r.Failure.Text())
}

// DeletionIncomplete means that the object was deleted as planned, and still existed when the
// run ended or stopped to wait for it.
type DeletionIncomplete struct {
	WaitsFor *Nested `json:"waitsFor,omitempty"` // nil where that is not known
	*Failure         // why the run stopped to wait; nil: it ended
}

// Message implements Reason.
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
