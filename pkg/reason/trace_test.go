package reason_test

import (
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

func TestTheSentencesAboutPastDeletions(t *testing.T) {
	when := time.Date(2026, 11, 20, 8, 0, 0, 500, time.UTC)
	alice := reason.Deleted{Object: job, By: "alice", At: when}
	owner := object.Reference{APIVersion: "batch/v1", Kind: "Job", Name: "import", UID: "u-2"}
	for _, c := range []struct {
		reason         briefSentence
		brief, message string
	}{
		{reason.AskedFor("alice"), "asked for", "alice asked for it"},
		{reason.InCollection("alice"), "in the collection", "alice deleted the collection"},
		{reason.ControllersDecision("the job-controller"), "the job-controller deleted it; the log does not say why", "the job-controller deleted it; the log does not say why"},
		{reason.OwnerDeleted(alice, false), "its owner is gone", "its owner Job/import was deleted by alice at 2026-11-20T08:00:00Z"},
		{reason.OwnerDeleted(reason.Deleted{Object: job}, true), "its owner waits for it (foreground)", "its owner Job/import was deleted and waited for it (foreground)"},
		{reason.OwnersAbsent([]reason.Owner{gone}), "its only owner, Deployment/api, does not exist", "its only owner, Deployment/api, does not exist"},
		{reason.OwnersAbsent([]reason.Owner{gone, named(reason.StateInOtherNamespace)}), "no owner is there: Deployment/api does not exist; Deployment/api is in another namespace (shop), which does not count", "no owner is there: Deployment/api does not exist; Deployment/api is in another namespace (shop), which does not count"},
		{reason.OwnerRemembered(owner, pod), "Job/import was remembered as absent because of Pod/web in namespace shop", "the garbage collector remembered Job/import as absent, because it had looked for it in namespace shop, on behalf of Pod/web; this object's own reference was right"},
		{reason.PerhapsRemembered(owner, pod), "unknown: the garbage collector took Job/import for absent, perhaps because it had looked for it in namespace shop, on behalf of Pod/web", "unknown: the garbage collector took Job/import for absent, perhaps because it had looked for it in namespace shop, on behalf of Pod/web"},
		{reason.NamespaceDeleted(alice), "its namespace was deleted", "Job/import was deleted by alice at 2026-11-20T08:00:00Z"},
		{reason.DefinitionDeleted(alice), "its CustomResourceDefinition was deleted", "Job/import was deleted by alice at 2026-11-20T08:00:00Z"},
		{reason.NodeDeleted(alice), "its Node was deleted", "its Job/import was deleted by alice at 2026-11-20T08:00:00Z"},
		{reason.Evicted("alice"), "evicted", "alice evicted it"},
		{reason.MayHaveAsked([]reason.Asked{{By: "alice", At: when, Doubt: reason.MayBeDryRun}}), "unknown: perhaps alice", "unknown: alice asked for it at 2026-11-20T08:00:00Z, perhaps as a dry run: the log does not tell"},
		{reason.MayHaveAsked([]reason.Asked{{By: "alice", At: when, Doubt: reason.UnknownResult, Code: 504}, {By: "bob", At: when}}), "unknown: one of alice, bob", "unknown: alice asked for it at 2026-11-20T08:00:00Z, perhaps in vain: the API server answered with 504; bob asked for it at 2026-11-20T08:00:00Z"},
		{reason.LinkedLater([]reason.Linked{{Owner: alice, Seen: when, By: "bob", Created: true}}), "it got a reference to an owner that was already gone", "it is first seen with a reference to Job/import after that was deleted by alice at 2026-11-20T08:00:00Z: bob created it so at 2026-11-20T08:00:00Z"},
		{reason.Contradicted(reason.Asked{By: "alice", At: when, Source: "a.log"}, reason.Asked{By: "bob", At: when, Source: "b.log"}), "unknown whether it was deleted: a.log has the deletion by alice at 2026-11-20T08:00:00Z, and by b.log it was there at 2026-11-20T08:00:00Z, not being deleted", "unknown whether it was deleted: a.log has the deletion by alice at 2026-11-20T08:00:00Z, and by b.log it was there at 2026-11-20T08:00:00Z, not being deleted"},
		{reason.PerhapsLinkedLater(owner), "nothing that was read shows that it referred to Job/import before that was deleted: whoever wrote the reference later may be the cause instead", "nothing that was read shows that it referred to Job/import before that was deleted: whoever wrote the reference later may be the cause instead"},
		{reason.LostOwner("bob", when), "after the deletion of that owner it still had another one, until 2026-11-20T08:00:00Z: the reference to that is gone in what bob wrote", "after the deletion of that owner it still had another one, until 2026-11-20T08:00:00Z: the reference to that is gone in what bob wrote"},
		{reason.PerhapsLast(alice), "which of its owners went last is not proven: Job/import was deleted by alice at 2026-11-20T08:00:00Z", "which of its owners went last is not proven: Job/import was deleted by alice at 2026-11-20T08:00:00Z"},
		{reason.PerhapsRelinked("bob", when), "what bob wrote at 2026-11-20T08:00:00Z is not in the log, and may have given it other owners", "what bob wrote at 2026-11-20T08:00:00Z is not in the log, and may have given it other owners"},
		{reason.OwnerHeld(owner), "finalizers held its owner Job/import when that was seen last, and nothing shows that it was gone", "finalizers held its owner Job/import when that was seen last, and nothing shows that it was gone"},
		{reason.PerhapsDone(reason.Asked{By: "alice", At: when, Doubt: reason.OtherObject}), "the log has no UID for the request of 2026-11-20T08:00:00Z: it may have been for another object of that name", "the log has no UID for the request of 2026-11-20T08:00:00Z: it may have been for another object of that name"},
		{reason.Freed(alice, when), "it lost its owner and stayed: the garbage collector removed the reference at 2026-11-20T08:00:00Z; Job/import was deleted by alice at 2026-11-20T08:00:00Z", "it lost its owner and stayed: the garbage collector removed the reference at 2026-11-20T08:00:00Z; Job/import was deleted by alice at 2026-11-20T08:00:00Z"},
		{reason.Orphaned([]object.Identity{pod}, true), "its dependents stayed, without an owner: Pod/web (orphaning is the default of its kind, when a request names no policy)", "its dependents stayed, without an owner: Pod/web (orphaning is the default of its kind, when a request names no policy)"},
		{reason.WasRefused(reason.Asked{By: "bob", At: when, Code: 403}), "the deletion that bob asked for at 2026-11-20T08:00:00Z was refused with 403", "the deletion that bob asked for at 2026-11-20T08:00:00Z was refused with 403"},
		{reason.NotDone(reason.Asked{By: "bob", At: when}, when), "the deletion that bob asked for at 2026-11-20T08:00:00Z was not done, or was a dry run: it was there at 2026-11-20T08:00:00Z, not being deleted", "the deletion that bob asked for at 2026-11-20T08:00:00Z was not done, or was a dry run: it was there at 2026-11-20T08:00:00Z, not being deleted"},
		{reason.MayBeAmong(reason.InCollectionOf{Request: reason.Asked{By: "bob", At: when, Doubt: reason.MayBeDryRun}, Resource: "secrets", Selector: "app=web"}), "it may be among the secrets with app=web whose deletion bob asked for at 2026-11-20T08:00:00Z, perhaps as a dry run: the log does not tell", "it may be among the secrets with app=web whose deletion bob asked for at 2026-11-20T08:00:00Z, perhaps as a dry run: the log does not tell"},
		{reason.SeenLast(time.Date(1, 1, 8, 9, 20, 2, 0, time.UTC)), "it was last seen at 01-08 09:20:02", "it was last seen at 01-08 09:20:02"},
		{reason.SeenLast(when), "it was last seen at 2026-11-20T08:00:00Z", "it was last seen at 2026-11-20T08:00:00Z"},
		{reason.PerhapsDone(reason.Asked{By: "alice", At: when, Doubt: reason.MayBeDryRun}), "whether the request of 2026-11-20T08:00:00Z was a dry run is not in the log", "whether the request of 2026-11-20T08:00:00Z was a dry run is not in the log"},
		{reason.OwnerDeletionNotInLog([]object.Reference{owner, owner}, nil), "unknown: what became of Job/import; Job/import is not in the log", "unknown: what became of Job/import; Job/import is not in the log"},
		{reason.LastOwnerUnknown([]reason.Deleted{alice, {Object: pod}}), "unknown: which of its owners went last is not clear: Job/import was deleted by alice at 2026-11-20T08:00:00Z; Pod/web was deleted", "unknown: which of its owners went last is not clear: Job/import was deleted by alice at 2026-11-20T08:00:00Z; Pod/web was deleted"},
		{reason.OwnerAmbiguous(owner), "unknown: several objects named Job/import were deleted, and the log does not tell which was its owner", "unknown: several objects named Job/import were deleted, and the log does not tell which was its owner"},
		{reason.NamespaceDeletionNotInLog("shop"), "unknown: who deleted Namespace/shop is not in the log", "unknown: who deleted Namespace/shop is not in the log"},
		{reason.CollectorRestarted(when), "the garbage collector had started at 2026-11-20T08:00:00Z", "the garbage collector had started at 2026-11-20T08:00:00Z"},
		{reason.AskedAgain(1), "1 more request for it in the log", "1 more request for it in the log"},
		{reason.NamespaceWasTerminating(alice), "at that time its namespace was being deleted: Job/import was deleted by alice at 2026-11-20T08:00:00Z", "at that time its namespace was being deleted: Job/import was deleted by alice at 2026-11-20T08:00:00Z"},
	} {
		if got := c.reason.Brief(); got != c.brief {
			t.Errorf("%#v says in short %q, want %q", c.reason, got, c.brief)
		}
		if got := c.reason.Message(); got != c.message {
			t.Errorf("%#v says %q, want %q", c.reason, got, c.message)
		}
	}
}
