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
		{reason.RecordFailed.Of(failure), "not started: " + failed},
		{reason.NotPermitted{Verb: "patch", Type: "deployments.apps", Namespace: "shop"}, "not sent: you are not allowed to patch deployments.apps in namespace shop"},
		{reason.NotPermitted{Verb: "delete", Type: "nodes", Failure: &failure}, "not sent: you are not allowed to delete nodes: " + failed},
		{reason.OtherStepNotPermitted, "not sent, because the API server would refuse another step"},
		{reason.LeftToCollector, "left to the cluster's garbage collector"},
		{reason.AlreadyGone, "already gone"},
		{reason.ObjectGone, "it no longer exists"},
		{reason.AlreadyTerminating, "it is already being deleted"},
		{reason.AlreadyDone, "nothing to do: it is already in this state"},
		{reason.ObjectChanged.Of(reason.Nested{Reason: reason.NoOwnerReferences}), "it changed: it no longer has owners"},
		{reason.ChangedSincePlanned, "it changed since the plan was made"},
		{reason.OwnersChanged, "its owners now differ from the plan"},
		{reason.FinalizersChanged, "its finalizers now differ from the plan"},
		{reason.OwnerStillExists.Of(owner), "its owner Deployment/api exists"},
		{reason.OwnerNotResolved.Of(owner), "the garbage collector cannot resolve its owner Deployment/api"},
		{reason.NoOwnerReferences, "it no longer has owners"},
		{reason.NoOwnerLeft, "it has no owner left, so it would be deleted now"},
		{reason.DependentExists.Of(&pod), "Pod/web depends on it"},
		{reason.DependentExists.Of(nil), "something depends on it"},
		{reason.DependentBlocks.Of(&pod), "Pod/web blocks its deletion"},
		{reason.DependentBlocks.Of(nil), "something blocks its deletion"},
		{reason.OtherFinalizerFirst.Of("orphan"), "another finalizer must be removed first: orphan"},
		{reason.DecidedOtherwise.Of("delete"), "the garbage collector would now do something else with it: delete"},
		{reason.PrecedingStepNotDone.Of("delete", pod), "delete Pod/web comes first, and was not done"},
		{reason.CausingStepNotDone, "skipped: the step that it depends on was not done"},
		{reason.NotCollectedInTime, "the cluster's garbage collector did not process it before the run ended"},
		{reason.OwnerNotRepairable{Owner: owner, Found: reason.Found{State: reason.StateExists}}, "its owner Deployment/api exists"},
		{reason.RepairedOtherwise.Of(owner, "unlink"), "its reference to Deployment/api now needs another fix: unlink"},
		{reason.NewOwnerGone.Of(owner), "Deployment/api, the planned new owner, no longer exists"},
		{reason.NewOwnerTerminating.Of(owner), "Deployment/api, the planned new owner, is being deleted"},
		{reason.DependentsNotListed.Of(failure), "this tool could not list its dependents again: " + failed},
		{reason.DependentsIncomplete.Of(&gap), "this tool could not list all of its dependents again: deployments.apps (forbidden)"},
		{reason.DependentsIncomplete.Of(nil), "this tool could not list all of its dependents again"},
		{reason.ContentsNotListed.Of(failure), "refused: this tool could not list its contents again: " + failed},
		{reason.ContentsIncomplete.Of(gap), "refused: this tool could not list all of its contents again: deployments.apps (forbidden)"},
		{reason.ContentsAdded.Of(pod), "refused: it now contains Pod/web, which was not in the plan and would be deleted with it"},
		{reason.KeepsChanging.Of(20), "it keeps changing: gave up after 20 attempts"},
		{reason.BackupFailed.Of(failure), "not backed up: " + failed},
		{reason.WriteFailed.Of(failure), failed},
		{reason.RereadFailed{Failure: failure}, "this tool could not read it again: " + failed},
		{reason.RereadFailed{Failure: failure, Changed: true}, "it changed, and this tool could not read it again: " + failed},
		{reason.DependencyReadFailed{Object: pod, Failure: failure}, "this tool could not read Pod/web again, on which this step depends: " + failed},
		{reason.DeletionIncomplete{}, "still exists"},
		{reason.DeletionIncomplete{WaitsFor: &reason.Nested{Reason: reason.ContentsRemain.Of(reason.Since{})}}, "still exists: waits for its contents to be deleted"},
		{
			reason.DeletionIncomplete{WaitsFor: &reason.Nested{Reason: reason.WaitsForKubelet}, Failure: &failure},
			"still exists: waits for the kubelet to stop it; " + failed,
		},

		{reason.AlreadyExists, "an object with this name exists already"},
		{reason.NotCreated, "it was not created"},
		{reason.OwnerNotCreated.Of(owner), "its owner Deployment/api was not created"},
		{reason.OwnerGone.Of(owner), "its owner Deployment/api no longer exists"},
		{reason.OwnerRereadFailed.Of(failure), "this tool could not read its owner again: " + failed},
		{reason.BackupUnreadable.Of(failure), "this tool could not read its backup: " + failed},
		{reason.ConflictingController.Of(owner), "Deployment/api controls it now"},
		{reason.PartlyLinked.Of(owner), "but its owner Deployment/api was not created"},
		{reason.AddressReplaced, "with another address, because the old one is taken"},
		{reason.CreatedUnrecorded.Of(failure), "created, but not recorded: " + failed},
		{reason.DefinitionNotServed, "created, but the API server does not serve its types yet"},
		{reason.DryRunImpossible.Of(reason.ItsNamespace), "the API server cannot try it before its namespace exists"},
		{reason.DryRunImpossible.Of(reason.ItsType), "the API server cannot try it before its type is served"},
		{reason.DryRunImpossible.Of(reason.Itself), "the API server cannot try it before it is created"},

		{reason.BackedUp{Saved: 1, Total: 2}, "backed up 1 of 2 objects to delete"},
		{reason.BackedUp{Saved: 1, Total: 2, Repair: true}, "backed up 1 of 2 objects to change"},
		{reason.NothingBackedUp.Of(failure), "could not back up anything: " + failed},
		{reason.WaitsForCollector, "waits for the cluster's garbage collector"},
		{reason.WaitsForKubelet, "waits for the kubelet to stop it"},
		{reason.WaitsForWatchers, "waits for controllers to see the objects that it adopts"},
		{reason.WaitsForTypes, "waits until the API server serves its types"},
	} {
		if got := c.reason.Message(); got != c.want {
			t.Errorf("%s says %q, want %q", reason.CodeOf(c.reason), got, c.want)
		}
	}
}
