package reason

import (
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// Why a step ended as it did. Each is said of the object of the step. A step that was done
// as planned has no reason.
var (
	// the step was not begun before the run was interrupted
	Interrupted = fixed("Interrupted", "the run ended before this step")
	// the step was not begun before the time of the run was over
	TimedOut = fixed("TimedOut", "the run ended before this step")
	// the step comes after one that is not in the plan, or that waits for it in turn
	PrecedingStepNeverEnds = fixed("PrecedingStepNeverEnds", "it comes after a step that never completes")
	OtherStepNotPermitted  = fixed("OtherStepNotPermitted", "not sent, because the API server would refuse another step")
	LeftToCollector        = fixed("LeftToCollector", "left to the cluster's garbage collector")
	CausingStepNotDone     = fixed("CausingStepNotDone", "skipped: the step that it depends on was not done")
	NotCollectedInTime     = fixed("NotCollectedInTime", "the cluster's garbage collector did not process it before the run ended")
	AlreadyGone            = fixed("AlreadyGone", "already gone")
	// the object was deleted after the plan was made
	ObjectGone         = fixed("ObjectGone", "it no longer exists")
	AlreadyTerminating = fixed("AlreadyTerminating", "it is already being deleted")
	AlreadyDone        = fixed("AlreadyDone", "nothing to do: it is already in this state")
	// the object is not as it was when the plan was made, so a dry run of the step would prove nothing
	ChangedSincePlanned = fixed("ChangedSincePlanned", "it changed since the plan was made")
	OwnersChanged       = fixed("OwnersChanged", "its owners now differ from the plan")
	FinalizersChanged   = fixed("FinalizersChanged", "its finalizers now differ from the plan")
	NoOwnerReferences   = fixed("NoOwnerReferences", "it no longer has owners")
	NoOwnerLeft         = fixed("NoOwnerLeft", "it has no owner left, so it would be deleted now")

	// the step was not begun, as the run could no longer record what it did
	RecordFailed = failed("RecordFailed", "not started: ")
	// the dependents of the object could not be listed again, so its finalizer stays
	DependentsNotListed = failed("DependentsNotListed", "this tool could not list its dependents again: ")
	// the contents of the Namespace or CustomResourceDefinition could not be listed again, so it is not deleted
	ContentsNotListed = failed("ContentsNotListed", "refused: this tool could not list its contents again: ")
	// the object, or one that is deleted with it, could not be backed up, so it is not written
	BackupFailed = failed("BackupFailed", "not backed up: ")
	// the API server refused the write, or it is not known whether it was carried out
	WriteFailed = failed("WriteFailed", "")

	// the object changed during the run, and the step no longer applies to it as it is now
	ObjectChanged = says("ObjectChanged", "because", func(why *Reason) string { return "it changed: " + why.Message() })
	// an owner of the object exists, so the reference to it stays
	OwnerStillExists = with[object.Reference]("OwnerStillExists", "owner", "its owner %s exists")
	// one of the object's owner references cannot be resolved now, so that the collector skips the whole object
	OwnerNotResolved    = with[object.Reference]("OwnerNotResolved", "owner", "the garbage collector cannot resolve its owner %s")
	NewOwnerGone        = with[object.Reference]("NewOwnerGone", "owner", "%s, the planned new owner, no longer exists")
	NewOwnerTerminating = with[object.Reference]("NewOwnerTerminating", "owner", "%s, the planned new owner, is being deleted")
	// a dependent refers to the object, so its finalizer orphan stays
	DependentExists = says("DependentExists", "dependent,omitzero", func(by *object.Identity) string { return nameOf(by) + " depends on it" })
	// a dependent blocks the deletion of the object, so its finalizer foregroundDeletion stays
	DependentBlocks = says("DependentBlocks", "dependent,omitzero", func(by *object.Identity) string { return nameOf(by) + " blocks its deletion" })
	// part of the contents of the Namespace or CustomResourceDefinition could not be listed again, so it is not deleted
	ContentsIncomplete = says("ContentsIncomplete", "gap", func(gap Gap) string {
		return "refused: this tool could not list all of its contents again: " + listGaps([]Gap{gap})
	})
	// the Namespace or CustomResourceDefinition contains an object that is not in the plan, so it is not deleted
	ContentsAdded       = with[object.Identity]("ContentsAdded", "object", "refused: it now contains %s, which was not in the plan and would be deleted with it")
	OtherFinalizerFirst = with[string]("OtherFinalizerFirst", "finalizer", "another finalizer must be removed first: %s")
	// the collector would do something else with the object now, with an action as in steps[].action
	DecidedOtherwise = with[string]("DecidedOtherwise", "action", "the garbage collector would now do something else with it: %s")
	// not every type that may depend on the object could be listed again, so its finalizer stays; without a gap, the
	// list as a whole proves nothing
	DependentsIncomplete = says("DependentsIncomplete", "gap,omitzero", func(gap *Gap) string {
		text := "this tool could not list all of its dependents again"
		if gap != nil {
			text += ": " + listGaps([]Gap{*gap})
		}
		return text
	})
	// another step has to be done before this one, and was not done
	PrecedingStepNotDone = says2("PrecedingStepNotDone", "action object", func(action string, of object.Identity) string {
		return fmt.Sprintf("%s %s comes first, and was not done", action, of)
	})
	// the reference to an owner needs another fix now than planned, as in findings[].fix
	RepairedOtherwise = says2("RepairedOtherwise", "owner fix", func(owner object.Reference, fix string) string {
		return fmt.Sprintf("its reference to %s now needs another fix: %s", owner, fix)
	})
	KeepsChanging = with[int]("KeepsChanging", "attempts", "it keeps changing: gave up after %d attempts")
)

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
	text := "not sent: you are not allowed to " + r.Right()
	if r.Failure != nil {
		text += ": " + r.Failure.Text()
	}
	return text
}

func nameOf(o *object.Identity) string {
	if o == nil {
		return "something"
	}
	return o.String()
}

// OwnerNotRepairable means that the reference to an owner cannot be repaired anymore.
type OwnerNotRepairable struct {
	Owner object.Reference `json:"owner"`
	Found
}

func (r OwnerNotRepairable) Message() string {
	return fmt.Sprintf("its owner %s %s", r.Owner, r.Predicate())
}

// RereadFailed means that the object could not be read again.
type RereadFailed struct {
	Failure
	Changed bool `json:"changed,omitzero"` // it had changed, so it had to be
}

func (r RereadFailed) Message() string {
	if r.Changed {
		return "it changed, and this tool could not read it again: " + r.Failure.Text()
	}
	return "this tool could not read it again: " + r.Failure.Text()
}

// DependencyReadFailed means that another object, on which the decision about this one rests, could not be read again.
type DependencyReadFailed struct {
	Object object.Identity `json:"object"`
	Failure
}

func (r DependencyReadFailed) Message() string {
	return fmt.Sprintf("this tool could not read %s again, on which this step depends: %s", r.Object, r.Failure.Text())
}

// DeletionIncomplete means that the object was deleted as planned, and still existed when the
// run ended or stopped to wait for it.
type DeletionIncomplete struct {
	WaitsFor *Reason `json:"waitsFor,omitempty"` // nil where that is not known
	*Failure         // why the run stopped to wait; nil: it ended
}

func (r DeletionIncomplete) Message() string {
	text := "still exists"
	if r.WaitsFor != nil {
		text += ": " + r.WaitsFor.Message()
	}
	if r.Failure != nil {
		text += "; " + r.Failure.Text()
	}
	return text
}
