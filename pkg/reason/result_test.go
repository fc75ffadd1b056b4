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
		{reason.Interrupted{}, "the run ended before it"},
		{reason.TimedOut{}, "the run ended before it"},
		{reason.PrecedingStepNeverEnds{}, "it comes after a step that is never over"},
		{reason.PlanNotRevalidated{}, "the plan has to be renewed before it is executed"},
		{reason.RecordFailed{Failure: failure}, "not begun: " + failed},
		{reason.NotPermitted{Verb: "patch", Type: "deployments.apps", Namespace: "shop"}, "not sent: you may not patch deployments.apps in namespace shop"},
		{reason.NotPermitted{Verb: "delete", Type: "nodes", Failure: &failure}, "not sent: you may not delete nodes: " + failed},
		{reason.OtherStepNotPermitted{}, "not sent, as another step would be refused"},
		{reason.StepRefused{Because: reason.Nested{Reason: reason.ChangedSincePlanned{}}}, "refused: it changed since the plan was made"},
		{reason.LeftToCollector{}, "left to the cluster's own collector"},
		{reason.AlreadyGone{}, "already gone"},
		{reason.ObjectGone{}, "gone meanwhile"},
		{reason.AlreadyTerminating{}, "it is being deleted already"},
		{reason.AlreadyDone{}, "nothing left to do: it is so already"},
		{reason.ObjectChanged{Because: reason.Nested{Reason: reason.NoOwnerReferences{}}}, "it changed: it has no owners any more"},
		{reason.ChangedSincePlanned{}, "it changed since the plan was made"},
		{reason.OwnersChanged{}, "it has other owners now than were shown"},
		{reason.FinalizersChanged{}, "it has other finalizers now than were shown"},
		{reason.OwnerStillExists{Owner: owner}, "its owner Deployment/api is there"},
		{reason.OwnerNotResolved{Owner: owner}, "its owner Deployment/api cannot be judged"},
		{reason.NoOwnerReferences{}, "it has no owners any more"},
		{reason.NoOwnerLeft{}, "no owner of it is left, so it would be deleted now"},
		{reason.DependentExists{Dependent: &pod}, "Pod/web depends on it"},
		{reason.DependentExists{}, "something depends on it"},
		{reason.DependentBlocks{Dependent: &pod}, "Pod/web blocks its deletion"},
		{reason.DependentBlocks{}, "something blocks its deletion"},
		{reason.OtherFinalizerFirst{Finalizer: "orphan"}, "another finalizer has to go first: orphan"},
		{reason.DecidedOtherwise{Action: "delete"}, "the collector would do something else with it now: delete"},
		{reason.PrecedingStepNotDone{Action: "delete", Object: pod}, "delete Pod/web comes first, and was not done"},
		{reason.CausingStepNotDone{}, "not waited for: what it follows was not done"},
		{reason.NotCollectedInTime{}, "the cluster's own collector did not come to it before the run ended"},
		{reason.OwnerNotRepairable{Owner: owner, Found: reason.Found{State: reason.StateExists}}, "its owner Deployment/api exists"},
		{reason.RepairedOtherwise{Owner: owner, Fix: "unlink"}, "something else mends its reference to Deployment/api now: unlink"},
		{reason.NewOwnerGone{Owner: owner}, "Deployment/api, to which its reference was to lead, is gone"},
		{reason.NewOwnerTerminating{Owner: owner}, "Deployment/api, to which its reference was to lead, is being deleted"},
		{reason.DependentsNotListed{Failure: failure}, "what depends on it could not be seen again: " + failed},
		{reason.DependentsIncomplete{Gap: &gap}, "what depends on it could not all be seen again: deployments.apps (forbidden)"},
		{reason.DependentsIncomplete{}, "what depends on it could not all be seen again"},
		{reason.ContentsNotListed{Failure: failure}, "refused: its contents could not be listed again: " + failed},
		{reason.ContentsIncomplete{Gap: gap}, "refused: its contents could not all be listed again: deployments.apps (forbidden)"},
		{reason.ContentsAdded{Object: pod}, "refused: Pod/web in it was not in the plan, and would go along"},
		{reason.KeepsChanging{Attempts: 20}, "it keeps changing: given up after 20 attempts"},
		{reason.BackupFailed{Failure: failure}, "not saved: " + failed},
		{reason.WriteFailed{Failure: failure}, failed},
		{reason.RereadFailed{Failure: failure}, "it could not be read again: " + failed},
		{reason.RereadFailed{Failure: failure, Changed: true}, "it changed, and could not be read again: " + failed},
		{reason.DependencyReadFailed{Object: pod, Failure: failure}, "read Pod/web again, on which it rests: " + failed},
		{reason.DeletionIncomplete{}, "still there"},
		{reason.DeletionIncomplete{WaitsFor: &reason.Nested{Reason: reason.ContentsRemain{}}}, "still there: waits for what is in it to go"},
		{
			reason.DeletionIncomplete{WaitsFor: &reason.Nested{Reason: reason.WaitsForKubelet{}}, Failure: &failure},
			"still there: waits for its kubelet to stop it; " + failed,
		},

		{reason.AlreadyExists{}, "another is there by now"},
		{reason.NotCreated{}, "it was not made"},
		{reason.OwnerNotCreated{Owner: owner}, "its owner Deployment/api was not made"},
		{reason.OwnerGone{Owner: owner}, "its owner Deployment/api is gone by now"},
		{reason.OwnerRereadFailed{Failure: failure}, "read its owner again: " + failed},
		{reason.BackupUnreadable{Failure: failure}, "read what was saved: " + failed},
		{reason.ConflictingController{Owner: owner}, "Deployment/api controls it by now"},
		{reason.PartlyLinked{Owner: owner}, "but its owner Deployment/api was not made"},
		{reason.AddressReplaced{}, "with another address, as the old one is taken"},
		{reason.CreatedUnrecorded{Failure: failure}, "made, but not noted: " + failed},
		{reason.DefinitionNotServed{}, "made, but what it defines is not served yet"},
		{reason.DryRunImpossible{Missing: reason.ItsNamespace}, "cannot be tried before its namespace is there"},
		{reason.DryRunImpossible{Missing: reason.ItsType}, "cannot be tried before its type is served"},
		{reason.DryRunImpossible{Missing: reason.Itself}, "cannot be tried before it is made"},

		{reason.BackedUp{Saved: 1, Total: 2}, "saved 1 of 2 objects that are to go"},
		{reason.BackedUp{Saved: 1, Total: 2, Repair: true}, "saved 1 of 2 objects that are to change"},
		{reason.NothingBackedUp{Failure: failure}, "nothing could be saved: " + failed},
		{reason.WaitsForCollector{}, "for the cluster's own collector"},
		{reason.WaitsForKubelet{}, "waits for its kubelet to stop it"},
		{reason.WaitsForWatchers{}, "lets what it adopts be seen"},
		{reason.WaitsForTypes{}, "waits until what it defines is served"},
	} {
		if got := c.reason.Message(); got != c.want {
			t.Errorf("%s says %q, want %q", reason.CodeOf(c.reason), got, c.want)
		}
	}
}
