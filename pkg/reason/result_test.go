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
		reason sentence
		want   string
	}{
		{reason.RecordFailed(failure), "not started: " + failed},
		{reason.NotPermitted{Verb: "patch", Type: "deployments.apps", Namespace: "shop"}, "not sent: you are not allowed to patch deployments.apps in namespace shop"},
		{reason.NotPermitted{Verb: "delete", Type: "nodes", Failure: &failure}, "not sent: you are not allowed to delete nodes: " + failed},
		{reason.ObjectChanged(reason.NoOwnerReferences), "it changed: it no longer has owners"},
		{reason.OwnerStillExists(owner), "its owner Deployment/api exists"},
		{reason.OwnerNotResolved(owner), "the garbage collector cannot resolve its owner Deployment/api"},
		{reason.DependentExists(&pod), "Pod/web depends on it"},
		{reason.DependentExists(nil), "something depends on it"},
		{reason.DependentBlocks(&pod), "Pod/web blocks its deletion"},
		{reason.DependentBlocks(nil), "something blocks its deletion"},
		{reason.OtherFinalizerFirst("orphan"), "another finalizer must be removed first: orphan"},
		{reason.DecidedOtherwise("delete"), "the garbage collector would now do something else with it: delete"},
		{reason.PrecedingStepNotDone("delete", pod), "delete Pod/web comes first, and was not done"},
		{reason.OwnerNotRepairable{Owner: owner, Found: reason.Found{State: reason.StateExists}}, "its owner Deployment/api exists"},
		{reason.RepairedOtherwise(owner, "unlink"), "its reference to Deployment/api now needs another fix: unlink"},
		{reason.NewOwnerGone(owner), "Deployment/api, the planned new owner, no longer exists"},
		{reason.NewOwnerTerminating(owner), "Deployment/api, the planned new owner, is being deleted"},
		{reason.DependentsNotListed(failure), "this tool could not list its dependents again: " + failed},
		{reason.DependentsIncomplete(&gap), "this tool could not list all of its dependents again: deployments.apps (forbidden)"},
		{reason.DependentsIncomplete(nil), "this tool could not list all of its dependents again"},
		{reason.ContentsNotListed(failure), "refused: this tool could not list its contents again: " + failed},
		{reason.ContentsIncomplete(gap), "refused: this tool could not list all of its contents again: deployments.apps (forbidden)"},
		{reason.ContentsAdded(pod), "refused: it now contains Pod/web, which was not in the plan and would be deleted with it"},
		{reason.KeepsChanging(20), "it keeps changing: gave up after 20 attempts"},
		{reason.BackupFailed(failure), "not backed up: " + failed},
		{reason.WriteFailed(failure), failed},
		{reason.RereadFailed{Failure: failure}, "this tool could not read it again: " + failed},
		{reason.RereadFailed{Failure: failure, Changed: true}, "it changed, and this tool could not read it again: " + failed},
		{reason.DependencyReadFailed{Object: pod, Failure: failure}, "this tool could not read Pod/web again, on which this step depends: " + failed},
		{reason.DeletionIncomplete{}, "still exists"},
		{reason.DeletionIncomplete{WaitsFor: reason.ContentsRemain(reason.Since{})}, "still exists: waits for its contents to be deleted"},
		{
			reason.DeletionIncomplete{WaitsFor: reason.WaitsForKubelet, Failure: &failure},
			"still exists: waits for the kubelet to stop it; " + failed,
		},

		{reason.OwnerNotCreated(owner), "its owner Deployment/api was not created"},
		{reason.OwnerGone(owner), "its owner Deployment/api no longer exists"},
		{reason.OwnerRereadFailed(failure), "this tool could not read its owner again: " + failed},
		{reason.BackupUnreadable(failure), "this tool could not read its backup: " + failed},
		{reason.ConflictingController(owner), "Deployment/api controls it now"},
		{reason.PartlyLinked(owner), "but its owner Deployment/api was not created"},
		{reason.CreatedUnrecorded(failure), "created, but not recorded: " + failed},
		{reason.DryRunImpossible(reason.ItsNamespace), "the API server cannot try it before its namespace exists"},
		{reason.DryRunImpossible(reason.ItsType), "the API server cannot try it before its type is served"},
		{reason.DryRunImpossible(reason.Itself), "the API server cannot try it before it is created"},

		{reason.BackedUp{Saved: 1, Total: 2}, "backed up 1 of 2 objects to delete"},
		{reason.BackedUp{Saved: 1, Total: 2, Repair: true}, "backed up 1 of 2 objects to change"},
		{reason.NothingBackedUp(failure), "could not back up anything: " + failed},
	} {
		if got := c.reason.Message(); got != c.want {
			t.Errorf("%#v says %q, want %q", c.reason, got, c.want)
		}
	}
}
