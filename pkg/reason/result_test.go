package reason_test

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

func TestTheSentencesOfResultsAndEvents(t *testing.T) {
	pod := object.Identity{APIVersion: "v1", Kind: "Pod", Namespace: "shop", Name: "web", UID: "u-1"}
	owner := object.Reference{APIVersion: "apps/v1", Kind: "Deployment", Name: "api", UID: "u-2"}
	gap := reason.Gap{Group: "apps", Resource: "deployments", ErrorClass: "forbidden"}
	failure := reason.Failure{ErrorClass: "forbidden", Detail: "delete Pod/web in namespace shop: no", Hint: "ask"}
	const failed = "delete Pod/web in namespace shop: no (ask)"
	for _, c := range []struct {
		reason reason.Reason
		want   string
	}{
		{reason.Interrupted, "the run ended before this step"},
		{reason.TimedOut, "the run ended before this step"},
		{reason.PrecedingStepNeverEnds, "it comes after a step that never completes"},
		{reason.RecordFailed{Failure: failure}, "not started: " + failed},
		{reason.NotPermitted{Verb: "patch", Type: "deployments.apps", Namespace: "shop"}, "not sent: you may not patch deployments.apps in namespace shop"},
		{reason.NotPermitted{Verb: "delete", Type: "nodes", Failure: &failure}, "not sent: you may not delete nodes: " + failed},
		{reason.OtherStepNotPermitted, "not sent, because another step would be refused"},
		{reason.LeftToCollector, "left to the cluster's garbage collector"},
		{reason.AlreadyGone, "already gone"},
		{reason.ObjectGone, "it no longer exists"},
		{reason.AlreadyTerminating, "it is already being deleted"},
		{reason.AlreadyDone, "nothing to do: it is already in this state"},
		{reason.ObjectChanged{Because: reason.Nested{Reason: reason.NoOwnerReferences}}, "it changed: it no longer has owners"},
		{reason.ChangedSincePlanned, "it changed since the plan was made"},
		{reason.OwnersChanged, "its owners now differ from the plan"},
		{reason.FinalizersChanged, "its finalizers now differ from the plan"},
		{reason.OwnerStillExists{Owner: owner}, "its owner Deployment/api exists"},
		{reason.OwnerNotResolved{Owner: owner}, "its owner Deployment/api cannot be resolved"},
		{reason.NoOwnerReferences, "it no longer has owners"},
		{reason.NoOwnerLeft, "it has no owner left, so it would be deleted now"},
		{reason.DependentExists{Dependent: &pod}, "Pod/web depends on it"},
		{reason.DependentExists{}, "something depends on it"},
		{reason.DependentBlocks{Dependent: &pod}, "Pod/web blocks its deletion"},
		{reason.DependentBlocks{}, "something blocks its deletion"},
		{reason.OtherFinalizerFirst{Finalizer: "orphan"}, "another finalizer must be removed first: orphan"},
		{reason.DecidedOtherwise{Action: "delete"}, "the garbage collector would now do something else with it: delete"},
		{reason.PrecedingStepNotDone{Action: "delete", Object: pod}, "delete Pod/web comes first, and was not done"},
		{reason.CausingStepNotDone, "not waited for: the step that causes it was not done"},
		{reason.NotCollectedInTime, "the cluster's garbage collector did not process it before the run ended"},
		{reason.OwnerNotRepairable{Owner: owner, Found: reason.Found{State: reason.StateExists}}, "its owner Deployment/api exists"},
		{reason.RepairedOtherwise{Owner: owner, Fix: "unlink"}, "its reference to Deployment/api now needs another fix: unlink"},
		{reason.NewOwnerGone{Owner: owner}, "Deployment/api, the planned new owner, no longer exists"},
		{reason.NewOwnerTerminating{Owner: owner}, "Deployment/api, the planned new owner, is being deleted"},
		{reason.DependentsNotListed{Failure: failure}, "its dependents could not be listed again: " + failed},
		{reason.DependentsIncomplete{Gap: &gap}, "not all of its dependents could be listed again: deployments.apps (forbidden)"},
		{reason.DependentsIncomplete{}, "not all of its dependents could be listed again"},
		{reason.ContentsNotListed{Failure: failure}, "refused: its contents could not be listed again: " + failed},
		{reason.ContentsIncomplete{Gap: gap}, "refused: not all of its contents could be listed again: deployments.apps (forbidden)"},
		{reason.ContentsAdded{Object: pod}, "refused: Pod/web in it was not in the plan, and would be deleted with it"},
		{reason.KeepsChanging{Attempts: 20}, "it keeps changing: gave up after 20 attempts"},
		{reason.BackupFailed{Failure: failure}, "not backed up: " + failed},
		{reason.WriteFailed{Failure: failure}, failed},
		{reason.RereadFailed{Failure: failure}, "it could not be read again: " + failed},
		{reason.RereadFailed{Failure: failure, Changed: true}, "it changed, and could not be read again: " + failed},
		{reason.DependencyReadFailed{Object: pod, Failure: failure}, "Pod/web, on which this step depends, could not be read again: " + failed},
		{reason.DeletionIncomplete{}, "still exists"},
		{reason.DeletionIncomplete{WaitsFor: &reason.Nested{Reason: reason.ContentsRemain{}}}, "still exists: waits for its contents to be deleted"},
		{
			reason.DeletionIncomplete{WaitsFor: &reason.Nested{Reason: reason.WaitsForKubelet}, Failure: &failure},
			"still exists: waits for the kubelet to stop it; " + failed,
		},

		{reason.AlreadyExists, "another object of that name exists now"},
		{reason.NotCreated, "it was not created"},
		{reason.OwnerNotCreated{Owner: owner}, "its owner Deployment/api was not created"},
		{reason.OwnerGone{Owner: owner}, "its owner Deployment/api no longer exists"},
		{reason.OwnerRereadFailed{Failure: failure}, "its owner could not be read again: " + failed},
		{reason.BackupUnreadable{Failure: failure}, "its backup could not be read: " + failed},
		{reason.ConflictingController{Owner: owner}, "Deployment/api controls it now"},
		{reason.PartlyLinked{Owner: owner}, "but its owner Deployment/api was not created"},
		{reason.AddressReplaced, "with another address, because the old one is taken"},
		{reason.CreatedUnrecorded{Failure: failure}, "created, but not recorded: " + failed},
		{reason.DefinitionNotServed, "created, but the types that it defines are not served yet"},
		{reason.DryRunImpossible{Missing: reason.ItsNamespace}, "cannot be tried before its namespace exists"},
		{reason.DryRunImpossible{Missing: reason.ItsType}, "cannot be tried before its type is served"},
		{reason.DryRunImpossible{Missing: reason.Itself}, "cannot be tried before it is created"},

		{reason.BackedUp{Saved: 1, Total: 2}, "backed up 1 of 2 objects to delete"},
		{reason.BackedUp{Saved: 1, Total: 2, Repair: true}, "backed up 1 of 2 objects to change"},
		{reason.NothingBackedUp{Failure: failure}, "nothing could be backed up: " + failed},
		{reason.WaitsForCollector, "waits for the cluster's garbage collector"},
		{reason.WaitsForKubelet, "waits for the kubelet to stop it"},
		{reason.WaitsForWatchers, "waits for controllers to see the objects that it adopts"},
		{reason.WaitsForTypes, "waits until the types that it defines are served"},
	} {
		if got := c.reason.Message(); got != c.want {
			t.Errorf("%s says %q, want %q", reason.CodeOf(c.reason), got, c.want)
		}
	}
}
