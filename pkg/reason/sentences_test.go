package reason_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// sentence is a reason, or the parameters of one.
type sentence interface{ Message() string }

// briefSentence is a sentence with a short form.
type briefSentence interface {
	sentence
	Brief() string
}

// Parameters of the sentences.
var (
	pod    = object.Identity{APIVersion: "v1", Kind: "Pod", Namespace: "shop", Name: "web", UID: "u-1"}
	job    = object.Identity{APIVersion: "batch/v1", Kind: "Job", Namespace: "shop", Name: "import", UID: "u-2"}
	gap    = reason.Gap{Group: "apps", Resource: "deployments", ErrorClass: "forbidden"}
	gone   = named(reason.StateMissing)
	minute = reason.Since{Deleted: time.Unix(0, 0).UTC(), Scanned: time.Unix(60, 0).UTC()}
	held   = reason.Of(reason.HeldByFinalizers{Finalizers: []string{"x/a"}})
	lost   = reason.Of(reason.OwnersLost{Owners: []reason.Owner{gone}})
)

// named returns an owner in that state.
func named(state reason.OwnerState) reason.Owner {
	return reason.Owner{APIVersion: "apps/v1", Kind: "Deployment", Name: "api", UID: "u-3", Found: reason.Found{
		State: state, UIDHolder: &pod, NameHolder: &job, ServedVersions: []string{"apps/v2"}, OtherController: "Job/import",
	}}
}

func overdueOn(state object.NodeState, since time.Time) reason.PodOverdue {
	return reason.PodOverdue{Since: minute, Node: &object.PodNode{Name: "worker-3", State: state, Since: since}}
}

func TestTheSentencesOfBlockers(t *testing.T) {
	for _, c := range []struct {
		reason  sentence
		message string
	}{
		{reason.HeldByFinalizers{Finalizers: []string{"x/a", "x/b"}}, "is held by x/a, x/b"},
		{reason.HeldByFinalizers{Finalizers: []string{"x/a"}, Since: minute}, "has been held by x/a for 60s"},
		{reason.HeldByFinalizers{Finalizers: []string{"x/a"}, Due: &reason.DueFinalizer{Finalizer: "x/a", Controller: "the a controller"}}, "is held by x/a; the a controller will remove its finalizer within seconds"},
		{reason.HeldByFinalizers{Finalizers: []string{"x/a"}, Since: minute, Due: &reason.DueFinalizer{Finalizer: "x/a", Controller: "the a controller", Late: true}}, "has been held by x/a for 60s; the a controller should have removed its finalizer by now"},
		{reason.HeldByFinalizers{Finalizers: []string{"x/a"}, InUse: reason.InUse{UsedBy: []reason.User{{Identity: job, Use: reason.Uses}}}}, "is held by x/a, because Job/import uses it"},
		{reason.GracePeriod(minute), "has been stopping for 60s"},
		{reason.PodOverdue{Since: minute}, "has been past its grace period for 60s: its kubelet has not confirmed that it stopped, so its node may be down or gone"},
		{overdueOn(object.NodeAbsent, time.Time{}), "has been past its grace period for 60s: it waits for the kubelet of Node worker-3, which does not exist"},
		{overdueOn(object.NodeNotReady, time.Unix(30, 0)), "has been past its grace period for 60s: it waits for the kubelet of Node worker-3, which has not been ready for 30s"},
		{overdueOn(object.NodeNotReady, time.Time{}), "has been past its grace period for 60s: it waits for the kubelet of Node worker-3, which is not ready"},
		{overdueOn(object.NodeReady, time.Time{}), "has been past its grace period for 60s: it waits for the kubelet of Node worker-3, which is ready"},
		{overdueOn(object.NodeUnknown, time.Time{}), "has been past its grace period for 60s: it waits for the kubelet of Node worker-3, whose state is unknown"},
		{reason.WaitsForDependents(pod, 0), "waits for Pod/web, which the garbage collector processes first"},
		{reason.WaitsForDependents(pod, 2), "waits for Pod/web and 2 more, which the garbage collector processes first"},
		{reason.ContentsRemain(reason.Since{}), "waits for its contents to be deleted"},
		{reason.ContentsRemain(minute), "has waited for 60s for its contents to be deleted"},
		{reason.OwnerUndecidable(named(reason.StateKindIsList)), "stays: its reference to Deployment/api names a list kind, probably by mistake"},
		{reason.OwnerUndecidable(named(reason.StateNamespaced)), "stays: it is cluster-scoped and cannot have the namespaced owner Deployment/api, so the garbage collector skips it"},
		{reason.OwnerUndecidable(named(reason.StateVersionNotServed)), "stays until apps/v1 Deployment is served: only then can the garbage collector resolve its owner Deployment/api"},
		{reason.OwnerUndecidable(named(reason.StateKindUnknown)), "stays until apps/v1 Deployment is served: only then can the garbage collector resolve its owner Deployment/api"},
		{reason.OwnerUndecidable(named(reason.StateUnverified)), "may stay: it is unknown whether its owner Deployment/api exists"},
		{reason.ContentsUnknown([]reason.Gap{gap}), "is not deleted, because this tool could not list its contents: deployments.apps (forbidden)"},
		{reason.GroupsUndiscoverable([]reason.Gap{{Group: "metrics.k8s.io", Resource: "*", ErrorClass: "unavailable"}}), "stays while the API server cannot discover API group metrics.k8s.io (unavailable), even if it is empty"},
		{reason.ContentsUnlistable([]reason.Gap{{Group: "example.com", Resource: "widgets", ErrorClass: "conversion-webhook"}}), "waits for its contents to be deleted, and may stay because this tool could not list all of them: widgets.example.com (conversion-webhook)"},
		{reason.UIDContested{}, "stays: another object has the same UID"},
		{reason.UIDContested{Objects: []object.Identity{pod}}, "stays: the API server returned Pod shop/web (v1) twice, with UID u-1 and different creation times"},
		{reason.UIDContested{Objects: []object.Identity{pod, job}}, "stays: Pod shop/web (v1) and Job shop/import (batch/v1) are different objects with the same UID u-1"},
		{reason.BlockedByDependents{By: pod, RootCause: pod, Because: held}, "is blocked by Pod/web, which is held by x/a"},
		{reason.BlockedByDependents{By: pod, RootCause: job, Because: held}, "is blocked by Pod/web (root cause: Job/import is held by x/a)"},
	} {
		if got := c.reason.Message(); got != c.message {
			t.Errorf("%#v says %q, want %q", c.reason, got, c.message)
		}
	}
}

func TestTheSentencesAboutStuckNamespaces(t *testing.T) {
	metrics := reason.Gap{Group: "metrics.k8s.io", Resource: "*", ErrorClass: "unavailable"}
	types := []reason.TypeCount{{Type: "configmaps", Objects: 2}, {Type: "secrets", Objects: 1}}
	for _, c := range []struct {
		reason  sentence
		message string
	}{
		{reason.DiscoveryFails{}, "stays while the namespace controller cannot discover every API group"},
		{reason.DiscoveryFails{Gaps: []reason.Gap{metrics}}, "stays while the namespace controller cannot discover API group metrics.k8s.io (unavailable)"},
		{reason.DiscoveryFails{Gaps: []reason.Gap{metrics}, APIServices: []string{"v1.a", "v1.b", "v1.c", "v1.d"}}, "stays while the namespace controller cannot discover API group metrics.k8s.io (unavailable): see APIService v1.a, APIService v1.b, APIService v1.c, and 1 more"},
		{reason.DiscoveryFails{Outdated: true}, "stayed because the namespace controller could not discover every API group, but now every API group answers"},
		{reason.ContentsDeletionFails{}, "stays while the namespace controller cannot delete some of its contents"},
		{reason.ContentsDeletionFails{Undeleted: types}, "stays while the namespace controller cannot delete configmaps (2), secrets (1)"},
		{reason.ContentsDeletionFails{Undeleted: types, Gaps: []reason.Gap{gap}}, "stays while the API server cannot list deployments.apps (forbidden), and while the namespace controller cannot delete configmaps (2), secrets (1)"},
		{reason.ContentsDeletionFails{Gaps: []reason.Gap{gap}}, "stays while the API server cannot list deployments.apps (forbidden)"},
		{reason.ContentsDeletionFails{Outdated: true}, "stayed because the namespace controller could not delete some of its contents, which are gone now"},
		{reason.ContentsLeft{Types: types}, "still contains configmaps (2), secrets (1)"},
		{reason.ContentsLeft{Types: types, Finalizers: []reason.FinalizerCount{{Finalizer: "x/a", Objects: 2, First: pod}, {Finalizer: "x/b", Objects: 1, First: pod}}, OverduePods: 2}, "still contains configmaps (2), secrets (1); finalizer x/a holds Pod/web and 1 more, finalizer x/b holds Pod/web; 2 Pods should have stopped"},
		{reason.HeldBySpecFinalizers([]string{"x/a", "x/b"}), "is held by spec.finalizers: x/a, x/b"},
	} {
		if got := c.reason.Message(); got != c.message {
			t.Errorf("%#v says %q, want %q", c.reason, got, c.message)
		}
	}
}

func TestTheSentencesOfCaveatsAndEvidence(t *testing.T) {
	for r, message := range map[sentence]string{
		reason.VersionAssumed{Known: "1.37"}:                                  "the server's version is unknown: predictions are for Kubernetes 1.37",
		reason.NotProcessed(metav1.Duration{Duration: 90 * time.Second}):      "1m30s later, the garbage collector had not done this",
		reason.NotReadAgain("forbidden"):                                      "this tool could not read the object again: forbidden",
		reason.VersionAssumed{Server: "v1.39.0", Known: "1.37"}:               "Kubernetes v1.39.0 is newer than this tool: predictions are for 1.37",
		reason.VersionAssumed{Server: "v1.19.16", Known: "1.28", Older: true}: "Kubernetes v1.19.16 is older than this tool supports: predictions are for 1.28",
	} {
		if got := r.Message(); got != message {
			t.Errorf("%#v says %q, want %q", r, got, message)
		}
	}
}

func TestTheSentencesOfEffects(t *testing.T) {
	for _, c := range []struct {
		reason         briefSentence
		brief, message string
	}{
		{reason.RemovesReference(0), "kept, loses this reference", "the garbage collector will remove this reference and keep the object, which then has no owner left and is never collected"},
		{reason.RemovesReference(1), "kept, loses this reference", "the garbage collector will remove this reference and keep the object, which then has 1 owner left"},
		{reason.RemovesReference(2), "kept, loses this reference", "the garbage collector will remove this reference and keep the object, which then has 2 owners left"},
		{reason.CannotDecide{}, "kept, never collected", "the garbage collector cannot resolve this owner, so it keeps the object"},
		{reason.CannotDecide{Culprit: &gone}, "kept, never collected", "the garbage collector cannot resolve the object's reference to Deployment/api, so it keeps the object"},
		{reason.CannotDecide{Culprit: &gone, Repaired: reason.DeletesObject}, "kept, never collected", "the garbage collector cannot resolve the object's reference to Deployment/api, so it keeps the object; once that is repaired, it may delete this object"},
		{reason.CannotDecide{Culprit: &gone, Repaired: reason.RemovesReference(0)}, "kept, never collected", "the garbage collector cannot resolve the object's reference to Deployment/api, so it keeps the object; once that is repaired, it may remove this reference"},
		{reason.NoEffect(false), "nothing", "the garbage collector does nothing about it"},
		{reason.NoEffect(true), "already being deleted", "the object is already being deleted, so the garbage collector does nothing about it"},
		{reason.NeverCollected(false), "kept, never collected", "each has an existing owner, so the garbage collector never collects any of them until someone deletes one"},
		{reason.NeverCollected(true), "kept, never collected", "the garbage collector never collects it, and if the reference blocks, a foreground deletion of the object would never complete"},
		{reason.NeverCompletes(false), "deletion never completes", "all of them are being deleted in the foreground and each waits for another, so their deletion never completes"},
		{reason.NeverCompletes(true), "deletion never completes", "it is being deleted in the foreground and waits for itself, so its deletion never completes"},
		{reason.Waits{}, "waits", ""},
		{reason.Waits{Forever: true}, "waits forever", ""},
		{reason.Waits{Idle: true}, "not processed yet, or lost", ""},
		{reason.Waits{Unknown: true}, "unknown", ""},
	} {
		if got := c.reason.Brief(); got != c.brief {
			t.Errorf("%#v says in short %q, want %q", c.reason, got, c.brief)
		}
		if got := c.reason.Message(); got != c.message {
			t.Errorf("%#v says %q, want %q", c.reason, got, c.message)
		}
	}
}

func TestTheSentencesOfFindings(t *testing.T) {
	notInFile := &reason.Gap{Resource: "pods", ErrorClass: "not-in-file"}
	of := func(uidHolder, nameHolder *object.Identity) reason.Owner {
		return reason.Owner{APIVersion: "apps/v1", Kind: "Deployment", Name: "api", UID: "u-3", Found: reason.Found{UIDHolder: uidHolder, NameHolder: nameHolder}}
	}
	for _, c := range []struct {
		reason         briefSentence
		brief, message string
	}{
		{reason.OwnerVersionOutdated(gone, "apps/v2"), "apps/v1 Deployment/api, preferred: apps/v2", "its reference names Deployment/api as apps/v1; the API server serves that version, but prefers apps/v2"},
		{reason.OwnerMissing(gone, true), "Deployment/api does not exist", "its owner Deployment/api does not exist, and no object has its UID"},
		{reason.OwnerMissing(gone, false), "Deployment/api does not exist", "its owner Deployment/api does not exist, and nothing that this tool could read has its UID"},
		{reason.OwnerReplaced(named(reason.StateReplaced)), "Deployment/api was replaced by a new one", "its owner Deployment/api was replaced: the reference names UID u-3, the existing object has UID u-2"},
		{reason.OwnerMismatched(named(reason.StateMismatched)), "Deployment/api: UID belongs to Pod/web", "its reference names apps/v1 Deployment/api, but the UID belongs to v1 Pod/web"},
		{reason.OwnerInOtherNamespace(named(reason.StateInOtherNamespace), "far"), "Deployment/api: UID belongs to Pod/web in shop", "its owner Pod/web is in namespace shop, but an owner must be in the dependent's own namespace or cluster-scoped; this object is in namespace far"},
		{reason.OwnerInOtherNamespace(reason.Owner{Kind: "Pod", Name: "web", Found: reason.Found{UIDHolder: &pod}}, ""), "owner Pod/web is in namespace shop", "its owner Pod/web is in namespace shop, but an owner must be in the dependent's own namespace or cluster-scoped; this object is in no namespace (cluster-scoped)"},
		{reason.OwnerNamespaced(named(reason.StateNamespaced)), "owner Deployment/api is namespaced, the object is not", "this object is cluster-scoped and names the namespaced Deployment/api as its owner, which is in namespace shop; since Kubernetes 1.20 the garbage collector never acts on such an object"},
		{reason.OwnerVersionNotServed(named(reason.StateVersionNotServed)), "apps/v1 Deployment/api: version not served (served: apps/v2)", "its reference names Deployment/api as apps/v1, which is not served (served: apps/v2)"},
		{reason.OwnerKindUnknown(gone), "apps/v1 Deployment/api: no such kind", "its reference names apps/v1 Deployment/api, a kind that the API server does not know"},
		{reason.OwnerUnverified{Owner: gone}, "Deployment/api: not scanned", "it is unknown whether its owner Deployment/api exists: its type was not part of this scan"},
		{reason.OwnerUnverified{Owner: gone, Gap: &gap}, "Deployment/api: you are not allowed to list deployments.apps", "it is unknown whether its owner Deployment/api exists: listing deployments.apps is forbidden"},
		{reason.OwnerUnverified{Owner: of(nil, nil), Gap: notInFile}, "Deployment/api: not in the file", "it is unknown whether its owner Deployment/api exists: it is not in the file"},
		{reason.OwnerUnverified{Owner: of(nil, &pod), Gap: notInFile}, "Deployment/api: another UID in the file", "it is unknown whether its owner Deployment/api exists: the file has only one with another UID"},
		{reason.OwnerUnverified{Owner: of(&object.Identity{APIVersion: "apps/v2", Kind: "Deployment", Name: "api"}, nil), Gap: notInFile}, "Deployment/api: in the file as apps/v2 Deployment", "it is unknown whether the garbage collector finds its owner Deployment/api: the file has it as apps/v2 Deployment, and does not show whether it is served as apps/v1 too"},
		{reason.OwnerUnverified{Owner: of(&pod, nil), Gap: notInFile}, "Deployment/api: in the file as v1 Pod", "it is unknown whether the garbage collector finds its owner Deployment/api: the file has it as v1 Pod, and does not show whether it is served as apps/v1 too"},
		{reason.OwnerUnverified{Owner: gone, Gap: &reason.Gap{Resource: "pods", ErrorClass: "timeout"}}, "Deployment/api: pods: timeout", "it is unknown whether its owner Deployment/api exists: pods could not be read (timeout)"},
		{reason.OwnerUnverified{Owner: gone, ErrorClass: "bad-name"}, "Deployment/api: invalid name", "it is unknown whether its owner Deployment/api exists: no object can have this name, so this tool did not request it"},
		{reason.OwnerUnverified{Owner: gone, ErrorClass: "timeout", Detail: "no answer"}, "Deployment/api: timeout", "it is unknown whether its owner Deployment/api exists: reading it failed (timeout): no answer"},
		{reason.OwnerWaiting(gone), "Deployment/api is being deleted (foreground)", "its owner Deployment/api is being deleted in the foreground and waits for its dependents"},
		{reason.OwnersInCycle([]object.Identity{pod, job}), "2 objects own each other: Pod/web, Job/import", "2 objects own each other: Pod/web, Job/import"},
		{reason.OwnersInCycle([]object.Identity{pod, pod, pod, pod, job}), "5 objects own each other: Pod/web, Pod/web, Pod/web, Pod/web, 1 more", "5 objects own each other: Pod/web, Pod/web, Pod/web, Pod/web, 1 more"},
		{reason.OwnerDuplicated{Earlier: gone, Later: gone, LaterIndex: 1}, "Deployment/api and Deployment/api have the same UID", "its references 1 and 2, Deployment/api and Deployment/api, have the same UID"},
		{reason.TwoControllers(gone, gone), "Deployment/api and Deployment/api both control it", "Deployment/api and Deployment/api both claim to be its controller, so the API server refuses every update that keeps both"},
		{reason.DeletionBlocked(held), "its deletion is held by x/a", "it is being deleted, and is held by x/a"},
		{reason.FinalizerStuck{HeldByFinalizers: reason.HeldByFinalizers{Finalizers: []string{"x/a"}, Since: minute}}, "terminating 60s, held by x/a", "it has been terminating since 1970-01-01T00:00:00Z, held by x/a"},
		{reason.NamespaceStuck{Since: minute, Causes: []*reason.Reason{reason.VersionParsingFails, held}}, "terminating 60s, stays while the namespace controller cannot parse the version of an API group", "it has been terminating since 1970-01-01T00:00:00Z; it stays while the namespace controller cannot parse the version of an API group; it is held by x/a"},
		{reason.NamespaceStuck{Since: minute, Causes: []*reason.Reason{held}, Conditions: []reason.ReportedCondition{{Type: object.ContentFailure, Message: `no "way"; it is fine`}, {Type: object.ContentRemaining, Message: "1"}}}, "terminating 60s, is held by x/a", `it has been terminating since 1970-01-01T00:00:00Z; it is held by x/a; the namespace controller reports NamespaceDeletionContentFailure: "no \"way\"; it is fine"`},
		{reason.OwnerNotMonitored(gone, "deployments.apps"), "Deployment/api: the garbage collector does not watch its kind", "its owner Deployment/api exists, but the garbage collector does not watch deployments.apps, so it notices the owner's deletion late"},
		{reason.OwnerKindMisspelled{Owner: gone, Spelling: reason.LowerCaseKind, Resolved: "Deployment"}, "Deployment/api: lower-case kind", "kind \"Deployment\" is in lower case; this works by accident, the kind is Deployment"},
		{reason.OwnerKindMisspelled{Owner: gone, Spelling: reason.NoVersionInGroup, Resolved: "apps/v1"}, "Deployment/api: empty or malformed apiVersion", "apiVersion \"apps/v1\" names no version; the garbage collector reads it as apps/v1"},
		{reason.OwnerKindMisspelled{Owner: gone, Spelling: reason.KindOfList, Resolved: "pods"}, "Deployment/api: list kind", "kind \"Deployment\" is a list kind; the garbage collector looks for the owner among pods"},
		{reason.OwnerKindMisspelled{Owner: gone, Spelling: reason.KindOfList, Resolved: "pods", Unserved: true}, "Deployment/api: list kind", "kind \"Deployment\" is a list kind; the garbage collector looks for the owner among pods, which the API server does not serve, so it never finds the owner"},
	} {
		if got := c.reason.Brief(); got != c.brief {
			t.Errorf("%#v says in short %q, want %q", c.reason, got, c.brief)
		}
		if got := c.reason.Message(); got != c.message {
			t.Errorf("%#v says %q, want %q", c.reason, got, c.message)
		}
	}
}

func TestTheSentencesOfWhatAPlanKeeps(t *testing.T) {
	for _, c := range []struct {
		reason  sentence
		message string
	}{
		{reason.OwnerLossUndecided(named(reason.StateKindUnknown)), "would lose an owner, but stays until apps/v1 Deployment is served: only then can the garbage collector resolve its owner Deployment/api"},
		{reason.CascadeRefused(pod, []reason.Gap{gap}), "is not deleted, because this would also delete Pod/web, and this tool could not list its contents: deployments.apps (forbidden)"},
		{reason.OrphanedByOwner(job, nil), "Job/import orphans it, and no owner remains"},
		{reason.OrphanedByOwner(job, []object.Identity{pod}), "Job/import orphans it, and Pod/web remains"},
		{reason.OwnersRemain([]object.Identity{pod, job}), "is also owned by Pod/web and 1 more"},
		{reason.OrderMatters{Orphaned: true}, "it depends on which of its references the garbage collector removes first"},
		{reason.OrderMatters{}, "it depends on the order in which the garbage collector processes objects"},
		{reason.OrderMatters{Owner: &job, Released: true, UnderWay: true}, "it does not block Job/import, which is already being deleted, so it may stay until Job/import is gone"},
		{reason.OrderMatters{Owner: &job, Released: true}, "whether its own dependents go first depends on when the garbage collector processes it"},
		{reason.OrderMatters{Owner: &job, Released: true, OwnerHeld: true}, "whether it stays depends on when the garbage collector processes it"},
		{reason.OrderMatters{Owner: &job, Released: true, Unblocked: true}, "whether its own dependents go first depends on when the garbage collector processes it"},
		{reason.OrderMatters{Owner: &job, Released: true, Unblocked: true, OwnerHeld: true}, "whether it stays depends on when the garbage collector processes it"},
		{reason.DependsOn(pod), "it depends on what happens to Pod/web"},
		{reason.NotRepaired([]reason.Unrepaired{{Owner: gone}, {Owner: named(reason.StateKindUnknown), ByHand: true}}), "Deployment/api does not exist; Deployment/api is of a kind that the API server does not serve (to remove the reference anyway: --fix unlink)"},
		{reason.RepairMayDeleteOwner(object.Identity{Kind: "Deployment", Name: "web"}), "is not repaired: the garbage collector might then find Deployment/web, and delete it because of its own owners"},
		{reason.RepairWouldDelete(false), "is not repaired: the garbage collector keeps it now, but would delete it after a partial repair"},
		{reason.RepairWouldDelete(true), "is not repaired: the garbage collector keeps it now, but might delete it after the repair (this tool could not read everything)"},
		{reason.DeletedDespiteRepair(lost, false), "would be deleted even if it is repaired: its only owner, Deployment/api, does not exist"},
		{reason.PerhapsDeletedDespiteRepair(lost), "may be deleted even if it is repaired: its only owner, Deployment/api, does not exist"},
		{reason.DeletedDespiteRepair(lost, true), "would be deleted because other objects are repaired, even if it is not: its only owner, Deployment/api, does not exist"},
		{reason.Several([]*reason.Reason{held, lost}), "is held by x/a; its only owner, Deployment/api, does not exist"},
	} {
		if got := c.reason.Message(); got != c.message {
			t.Errorf("%#v says %q, want %q", c.reason, got, c.message)
		}
	}
}

func TestTheSentencesOfSteps(t *testing.T) {
	for _, c := range []struct {
		reason  sentence
		message string
	}{
		{reason.Requested{}, "requested"},
		{reason.Requested{Terminating: true, Dependents: reason.Foreground}, "requested, although it is already being deleted; its dependents go first, all at once and in no order (foreground)"},
		{reason.Requested{Namespace: true, Dependents: reason.Orphan}, "requested: deletes everything in it; its dependents stay (orphan)"},
		{reason.Requested{Definition: true, PolicyIgnored: true}, "requested: deletes every object of its kind; the API server ignores the policy for this kind"},
		{reason.Requested{Dependents: reason.Background, RecreatedBy: &job}, "requested; its dependents follow (background); its controller Job/import stays, and will likely create another"},
		{reason.Requested{GraceSeconds: new(int64)}, "requested; removed without waiting for its kubelet, so its containers may keep running"},
		{reason.Requested{Lost: reason.FinishedForGood(job)}, "requested; it has finished, so Job/import will not create another: its status and logs are lost"},
		{reason.RollbackLost(job, 1), "Job/import will not create it again, and cannot be rolled back to revision 1 without it"},
		{reason.DeletedWithLeader{Controller: "the token controller", Leader: job}, "the token controller deletes it once Job/import is gone"},
		{reason.DeletedWithLeader{Controller: "the token controller", Leader: job, Missing: true}, "the token controller deletes it, since Job/import does not exist"},
		{reason.DeletedByRun{Command: "delete", Time: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC), Backup: "/b"}, "kubectl gc delete deleted it at 2026-11-20 12:00:00 UTC"},
		{reason.DeletedInTime{Controller: "the TTL controller", TTL: 60}, "the TTL controller deletes it 60s after it finishes"},
		{reason.DeletedInTime{Controller: "the TTL controller", TTL: 60, After: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)}, "the TTL controller deletes it after 2026-11-20 12:00:00 UTC"},
		{reason.DeletedAsOld{Controller: "the Deployment controller", Owner: job, Keeps: 10}, "the Deployment controller deletes it once 10 newer ReplicaSets of Job/import are old, too"},
		{reason.DeletedAsOld{Controller: "the CronJob controller", Owner: job, Keeps: 3, Ended: "Complete"}, "the CronJob controller deletes it once 3 newer Jobs of Job/import have succeeded"},
		{reason.DeletedAsOld{Controller: "the CronJob controller", Owner: job, Keeps: 1, Ended: "Failed"}, "the CronJob controller deletes it once 1 newer Job of Job/import has failed"},
		{reason.Requested{GraceSeconds: new(int64(5)), RecreatedBy: &job}, "requested; with a grace period of 5s; its controller Job/import stays, and will likely create another"},
		{reason.FinalizerRemoval{Finalizer: "x/y", Controller: "the Job controller", Known: true, Condition: "the Job is being deleted"}, "requested: removes its finalizer x/y and skips the cleanup of the Job controller, which removes it only when the Job is being deleted"},
		{reason.FinalizerRemoval{Finalizer: "velero.io/y", Controller: "Velero", Known: true, Deletes: true}, "requested: removes its finalizer velero.io/y and skips the cleanup of Velero; this deletes the object at once"},
		{reason.FinalizerRemoval{Finalizer: "x.io/y", Controller: "x.io"}, "requested: removes its finalizer x.io/y and skips the cleanup of the controller behind x.io"},
		{reason.FinalizerRemoval{Finalizer: "y"}, "requested: removes its finalizer y and skips the cleanup of its controller, whichever that is"},
		{reason.OwnersLost{Owners: []reason.Owner{gone}, Cascade: reason.Foreground}, "its only owner, Deployment/api, does not exist; its own dependents go first (foreground)"},
		{reason.OwnersLost{Owners: []reason.Owner{gone, gone}, Cascade: reason.Orphan}, "no owner is left: Deployment/api does not exist; Deployment/api does not exist; its own dependents stay (finalizer orphan)"},
		{reason.OwnerOrphansDependents(job), "its owner Job/import is being deleted and orphans its dependents"},
		{reason.OwnersPartlyLost([]reason.Owner{gone}, reason.Remaining{}), "Deployment/api does not exist; the garbage collector also removes the valid reference with the same UID, so no owner remains"},
		{reason.OwnersPartlyLost([]reason.Owner{gone}, reason.Remaining{Count: 1, Only: "Job/import"}), "Deployment/api does not exist; Job/import remains"},
		{reason.OwnersPartlyLost([]reason.Owner{gone}, reason.Remaining{Count: 2, Twin: true}), "Deployment/api does not exist; 2 owners remain (the cluster's garbage collector would also remove the valid reference with the same UID)"},
		{reason.ReferencesRepaired{References: []reason.Repaired{{Owner: gone, Version: "apps/v2"}}, WithoutRepair: reason.WouldSkip}, "apps/v1 is not served: the reference to Deployment/api becomes apps/v2 (otherwise the garbage collector skips it)"},
		{reason.ReferencesRepaired{References: []reason.Repaired{{Owner: gone, Version: "apps/v2", Relinked: true}}, WithoutRepair: reason.WouldDelete}, "Deployment/api was replaced by a new one: the reference gets its UID and apps/v2 (otherwise the garbage collector deletes it)"},
		{reason.ReferencesRepaired{References: []reason.Repaired{{Owner: gone, Version: "apps/v1", Relinked: true}}, WithoutRepair: reason.WouldUnlink, Completes: []string{"Job/a", "Job/b"}}, "Deployment/api was replaced by a new one: the reference gets its UID; so the deletion of Job/a, Job/b can complete (otherwise the garbage collector removes the reference)"},
		{reason.ReferencesDropped{Owners: []reason.Owner{gone}, Kept: reason.Kept{Ownerless: true}}, "Deployment/api does not exist; the object then has no owner and stays"},
		{reason.ReferencesDropped{Owners: []reason.Owner{gone}, Chosen: true, Kept: reason.Kept{Terminating: true}}, "Deployment/api does not exist, but you chose to remove this reference; its own deletion continues"},
		{reason.ReferencesDropped{Owners: []reason.Owner{gone}, Kept: reason.Kept{Unresolved: true}}, "Deployment/api does not exist; its other references stay unchanged"},
		{reason.ReferencesDropped{Owners: []reason.Owner{gone}, Kept: reason.Kept{Remaining: reason.Remaining{Count: 2}}}, "Deployment/api does not exist; 2 owners remain"},
	} {
		if got := c.reason.Message(); got != c.message {
			t.Errorf("%#v says %q, want %q", c.reason, got, c.message)
		}
	}
}

func TestTheSentencesOfARestoration(t *testing.T) {
	for _, c := range []struct {
		reason  sentence
		message string
	}{
		{reason.Restored([]reason.RestoredReference{{Owner: gone, Dropped: true}}), "without its reference to Deployment/api, which does not exist"},
		{reason.Restored([]reason.RestoredReference{{Owner: gone, Effect: reason.EffectDelete}, {Owner: gone, Effect: reason.EffectUnlink}, {Owner: gone, Effect: reason.EffectOther}}), "with its reference to Deployment/api, which does not exist (the garbage collector will delete the object because of it); with its reference to Deployment/api, which does not exist (the garbage collector will remove it again); with its reference to Deployment/api, which does not exist (it is unknown what the garbage collector does about it)"},
		{reason.Restored([]reason.RestoredReference{{Owner: gone, Adopted: true}, {Owner: named(reason.StateRecreated)}}), "adopted by Deployment/api; owned by Deployment/api, which is recreated"},
		{reason.ManifestUnreadable("no JSON"), "this tool cannot read its manifest: no JSON"},
		{reason.NameTaken(time.Unix(0, 0)), "an object with this name exists already, created 1970-01-01 00:00:00"},
		{reason.TypeUnverified(gap), "this tool could not verify its type: deployments.apps (forbidden)"},
		{reason.TypeNotServed{APIVersion: "x/v1", Kind: "Y"}, "x/v1 Y is no longer served"},
		{reason.TypeNotServed{APIVersion: "x/v1", Kind: "Y", ServedVersions: []string{"x/v2"}}, "x/v1 Y is no longer served, only x/v2"},
		{reason.ControllerCreatesPods("Job/import"), "its controller Job/import exists and creates the Pods that it needs"},
		{reason.ComesWithNamespace(false), "a controller creates it in every namespace"},
		{reason.ComesWithNamespace(true), "a controller creates it in every namespace; anything added to it is not restored"},
		{reason.OtherScope(false), "its manifest names a namespace, but objects of its type are in none"},
		{reason.OtherScope(true), "its manifest has no namespace, but its type needs one"},
		{reason.ReferencesLost(gone), "references to Deployment/api, which does not exist"},
		{reason.ClaimVolumeUnverified("pv-1"), "it is unknown whether PersistentVolume/pv-1 still exists: its claim names it, and waits forever if it does not"},
		{reason.ClaimVolumeBound("pv-1"), "PersistentVolume/pv-1 still names the UID of its old claim, and the new claim waits until you remove spec.claimRef.uid from it"},
	} {
		if got := c.reason.Message(); got != c.message {
			t.Errorf("%#v says %q, want %q", c.reason, got, c.message)
		}
	}
}

func TestTheSentencesOfOwnerStates(t *testing.T) {
	for state, want := range map[reason.OwnerState]string{
		reason.StateExists:                 "exists",
		reason.StateMissing:                "does not exist",
		reason.StateReplaced:               "was replaced by a new object with the same name",
		reason.StateMismatched:             "is named with the UID of Pod/web",
		reason.StateInOtherNamespace:       "is in another namespace (shop), which does not count",
		reason.StateWaiting:                "is being deleted in the foreground and waits for its dependents",
		reason.StateNamespaced:             "is namespaced, but this object is cluster-scoped",
		reason.StateVersionNotServed:       "is named in a version that the API server does not serve",
		reason.StateKindUnknown:            "is of a kind that the API server does not serve",
		reason.StateKindIsList:             "has a list kind, which the API server does not serve",
		reason.StateUnverified:             "could not be verified",
		reason.StateDeletedBefore:          "is deleted before it",
		reason.StateRecreated:              "is recreated",
		reason.StateRecreatedBefore:        "was recreated earlier",
		reason.StateSucceeded:              "is a newer object with the same name",
		reason.StateLeadsToSuccessor:       "was replaced: they already point at the newer object with the same name",
		reason.StateOtherController:        "is no longer its controller: Job/import is",
		reason.StateMissingInVersion:       "does not exist in apps/v2 either",
		reason.StateUnverifiedInVersion:    "is named in a version that the API server does not serve, and could not be verified in apps/v2",
		reason.StateDependentContested:     "cannot be repaired: another object has the UID of this one",
		reason.StateDependentTerminating:   "needs no repair: the object is already being deleted",
		reason.StateTerminating:            "is being deleted",
		reason.StateItself:                 "is the object itself, which cannot own itself",
		reason.StateReferencedTwice:        "is already its owner through another reference",
		reason.StateReferencedTwiceUnknown: "is also named by another reference, which could not be verified",
		reason.StateOwnedByDependent:       "is owned by this object, so they would own each other",
		reason.StateReplacementContested:   "exists, with another UID, which a third object also has",
		reason.StateReplacementTerminating: "exists, with another UID, but is being deleted",
	} {
		want = "references to Deployment/api, which " + want
		if got := reason.ReferencesLost(named(state)).Message(); got != want {
			t.Errorf("of %s it says %q, want %q", state, got, want)
		}
	}
}

func TestTheSentencesOfDiagnoses(t *testing.T) {
	seconds := func(n int) metav1.Duration { return metav1.Duration{Duration: time.Duration(n) * time.Second} }
	apiService := reason.Backend{Serves: "metrics.k8s.io/v1", Object: object.Identity{Kind: "APIService", Name: "v1.metrics.k8s.io"}, Service: "ops/metrics"}
	in := func(b reason.Backend, state reason.BackendState, detail string) []reason.Backend {
		b.State, b.Detail = state, detail
		return []reason.Backend{b}
	}
	crd := reason.Backend{Serves: "widgets.example.com", Object: object.Identity{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"}, Service: "ops/convert", State: reason.BackendMissing}
	for _, c := range []struct {
		reason  sentence
		message string
	}{
		{reason.NotChecked("forbidden"), "not checked: forbidden"},
		{reason.GroupsUnavailable([]reason.Gap{gap}, nil), "deployments.apps (forbidden)"},
		{reason.GroupsUnavailable(nil, in(apiService, reason.BackendMissing, "")), "metrics.k8s.io/v1: APIService/v1.metrics.k8s.io, service ops/metrics does not exist"},
		{reason.GroupsUnavailable(nil, in(apiService, reason.BackendNoEndpoints, "")), "metrics.k8s.io/v1: APIService/v1.metrics.k8s.io, service ops/metrics has no endpoints"},
		{reason.GroupsUnavailable(nil, in(apiService, reason.BackendReady, "timeout")), "metrics.k8s.io/v1: APIService/v1.metrics.k8s.io, service ops/metrics has endpoints, but does not answer (timeout)"},
		{reason.GroupsUnavailable(nil, in(apiService, reason.BackendUnknown, "forbidden")), "metrics.k8s.io/v1: APIService/v1.metrics.k8s.io (forbidden)"},
		{reason.GroupsUnavailable(nil, in(apiService, reason.BackendExternal, "")), "metrics.k8s.io/v1: APIService/v1.metrics.k8s.io"},
		{reason.TypesListed(57), "57 of 57 types"},
		{reason.TypesNotListed{Types: 57, Gaps: []reason.Gap{gap}}, "56 of 57 types; could not list deployments.apps (forbidden)"},
		{reason.TypesNotListed{Types: 57, Gaps: []reason.Gap{gap}, Backends: []reason.Backend{crd}}, "56 of 57 types; could not list deployments.apps (forbidden); widgets.example.com: conversion webhook, service ops/convert does not exist"},
		{reason.LeaderRenewsLease("master-0"), "master-0 renews its lease"},
		{reason.ManagerRuns(seconds(2)), "the controller manager renewed its lease 2s ago"},
		{reason.LeaseReleased(seconds(2)), "the controller manager released its lease 2s ago, and no other has taken it yet"},
		{reason.ManagerSilent(seconds(10800)), "the controller manager may be down: it last renewed its lease 3h ago"},
		{reason.LeaderSilent{Holder: "master-0", Renewed: time.Unix(0, 0), Watched: seconds(15)}, "master-0 has not renewed its lease for at least 15s, since 1970-01-01T00:00:00Z"},
		{reason.GarbageProcessed(2, seconds(30)), "the garbage collector processed 2 objects within 30s"},
		{reason.GarbageProcessedSlowly{Processed: 2, Left: 3, After: seconds(30)}, "the garbage collector processed 2 objects within 30s, and left 3"},
		{reason.GarbageLeft{Objects: 1, First: pod, After: seconds(30)}, "1 object to collect, not processed for at least 30s, such as Pod/web in shop"},
		{reason.DeletionsIdle{Objects: 2, Oldest: pod, Since: minute}, "2 deletions that only the garbage collector has to complete; Pod/web in shop has been terminating for 60s"},
		{reason.DeletionsWait{Objects: 1, Oldest: pod, Since: minute, Because: held}, "1 long deletion; Pod/web in shop has been terminating for 60s: it is held by x/a"},
		{reason.DeletionsWait{Objects: 1, Oldest: object.Identity{Kind: "Node", Name: "n"}, Since: minute}, "1 long deletion; Node/n has been terminating for 60s"},
		{reason.OwnersInOtherNamespaces(1, pod), "OwnerRefInvalidNamespace Events about 1 object, such as Pod/web in shop"},
		{reason.CanaryCollected(seconds(1)), "the garbage collector deleted a dependent 1s after its owner"},
		{reason.CanaryNotCollected(seconds(30)), "a dependent still existed 30s after its owner was deleted"},
		{reason.BehaviorKnown("v1.36.3"), "v1.36.3"},
		{reason.CollectorIdle(false), "the garbage collector has not done its work, and this tool could not see whether kube-controller-manager runs"},
		{reason.CollectorIdle(true), "the garbage collector does nothing, although kube-controller-manager is running: it is switched off, has not started yet, or waits for a type that it cannot list"},
		{reason.CollectorWorks(false), "the garbage collector works"},
		{reason.CollectorWorks(true), "the garbage collector works, but see the warnings"},
		{reason.CollectorUnverified(false), "no problems found, but there was no garbage to collect, so this does not prove that the garbage collector works"},
		{reason.CollectorUnverified(true), "see the warnings; there was no garbage to collect, so this does not prove that the garbage collector works"},
		{reason.CollectorHindered(false), "the garbage collector may be running, but cannot do everything"},
		{reason.CollectorHindered(true), "the garbage collector is running, but cannot do everything"},
	} {
		if got := c.reason.Message(); got != c.message {
			t.Errorf("%#v says %q, want %q", c.reason, got, c.message)
		}
	}
}

func TestTheSentencesOfControllerTraces(t *testing.T) {
	for _, c := range []struct {
		traces   reason.ControllerTraces
		sentence string
	}{
		{reason.ControllerTraces{Domain: "x.io"}, "Nothing of x.io is installed (no type, APIService, webhook or Deployment): its controller may be gone"},
		{reason.ControllerTraces{Domain: "x.io", Own: true, Watched: true}, "Nothing else of x.io is installed (no type, APIService, webhook or Deployment; no write, Event or Lease in the last hour): its controller may be gone"},
		{reason.ControllerTraces{Domain: "x.io", Unread: []reason.Gap{gap}}, "Found nothing of x.io, but could not read everything: deployments.apps (forbidden)"},
		{reason.ControllerTraces{Domain: "x.io", Found: []string{"type a.x.io"}}, "The controller of x.io may still be installed: found type a.x.io. This tool cannot see whether it runs"},
		{reason.ControllerTraces{Domain: "x.io", Found: []string{"Deployment/x", "type a.x.io"}, More: 3}, "The controller of x.io may still be installed: found Deployment/x, type a.x.io and 3 more. This tool cannot see whether it runs"},
		{reason.ControllerTraces{Domain: "x.io", Found: []string{"type a.x.io"}, Active: []string{"a write by manager", "an Event from x", "Lease x"}}, "The controller of x.io was active in the last hour: a write by manager, an Event from x, 1 more"},
	} {
		if got := c.traces.Sentence(); got != c.sentence {
			t.Errorf("%#v says %q, want %q", c.traces, got, c.sentence)
		}
	}
}

func TestTheSentencesOfWebhooks(t *testing.T) {
	webhook := object.Identity{APIVersion: "admissionregistration.k8s.io/v1", Kind: "ValidatingWebhookConfiguration", Name: "guard", UID: "u-4"}
	for want, r := range map[string]reason.WebhookRefuses{
		"ValidatingWebhookConfiguration/guard refuses deletions: its Service ops/guard does not exist":                               {State: reason.BackendMissing, Operation: "DELETE"},
		"ValidatingWebhookConfiguration/guard may refuse updates: its Service ops/guard has no ready endpoint":                       {State: reason.BackendNoEndpoints, Operation: "UPDATE", Uncertain: true},
		"ValidatingWebhookConfiguration/guard refuses the deletion of Pod/web: its Service ops/guard does not exist":                 {State: reason.BackendMissing, Operation: "DELETE", First: pod},
		"ValidatingWebhookConfiguration/guard refuses the update of Pod/web and 2 more: its Service ops/guard has no ready endpoint": {State: reason.BackendNoEndpoints, Operation: "UPDATE", First: pod, More: 2},
	} {
		r.Configuration, r.Service = webhook, "ops/guard"
		if got := r.Message(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	policy := object.Identity{APIVersion: "admissionregistration.k8s.io/v1", Kind: "ValidatingAdmissionPolicy", Name: "limit"}
	for want, r := range map[string]reason.WebhookRefuses{
		"ValidatingAdmissionPolicy/limit (binding all) refuses the removal of x/a from Pod/web: no params found":            {Configuration: policy, Binding: "all", Said: "no params found", Operation: "UPDATE", Finalizer: "x/a", First: pod},
		"ValidatingAdmissionPolicy/limit refuses the deletion of Pod/web (asked as you; it may allow controllers): not now": {Configuration: policy, Said: "not now", Decided: true, Operation: "DELETE", First: pod},
		"the API server refuses the update of Pod/web: spec is wrong":                                                       {Said: "spec is wrong", Operation: "UPDATE", First: pod},
	} {
		if got := r.Message(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	guess := reason.WebhookRefuses{Configuration: webhook, Service: "ops/guard", Operation: "DELETE", First: pod, Uncertain: true}
	tried := reason.WebhookRefuses{Configuration: webhook, Said: "no endpoints", Operation: "DELETE", First: pod}
	other := reason.WebhookRefuses{Configuration: policy, Said: "not now", Operation: "DELETE", First: pod}
	if got := reason.JoinRefusals([]reason.WebhookRefuses{guess}, []reason.WebhookRefuses{tried, other}); len(got) != 2 || got[0].Uncertain || got[0].Service == "" || got[1] != other {
		t.Errorf("got %+v", got)
	}
	if got := reason.JoinRefusals([]reason.WebhookRefuses{guess}, []reason.WebhookRefuses{other}); !got[0].Uncertain {
		t.Errorf("got %+v", got)
	}
	if got := reason.DryRunsAccepted(2).Message(); got != "the API server accepted 2 dry runs of deletions and updates" {
		t.Error(got)
	}
}

func TestTheSentencesOfWhatAdmissionRefuses(t *testing.T) {
	guard := object.Identity{Kind: "ValidatingWebhookConfiguration", Name: "guard"}
	for want, r := range map[string]reason.RefusedByAdmission{
		"stays as long as ValidatingWebhookConfiguration/guard (webhook g.example.com) refuses its deletion: frozen":               {By: guard, Webhook: "g.example.com", Said: "frozen"},
		"stays as long as webhook g.example.com refuses the removal of its references and finalizers: frozen":                      {Webhook: "g.example.com", Update: true, Said: "frozen"},
		"may stay as it is: the API server refuses its deletion for you, so perhaps for the garbage collector: quota":              {Doubt: reason.RefusedForYou, Said: "quota"},
		"may stay as it is: ValidatingWebhookConfiguration/guard looks at the user, and allows its deletion only for you for sure": {By: guard, Doubt: reason.AcceptedForYou},
		"may stay as it is: webhook g.example.com may refuse its deletion, and cannot be asked":                                    {Webhook: "g.example.com", Doubt: reason.CannotBeAsked},
		"may stay as it is: it is unknown whether admission allows its deletion: you may not delete it":                            {Doubt: reason.NotAnswered, Said: "you may not delete it"},
	} {
		if got := r.Message(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	if got := (reason.RefusedByAdmission{By: guard, Said: "frozen"}).Brief(); got != "stays as long as ValidatingWebhookConfiguration/guard refuses its deletion" {
		t.Error(got)
	}
}

func TestTheSentencesOfWhatServesNoMore(t *testing.T) {
	for want, r := range map[string]reason.BackendLost{
		"every deletion of a namespace hangs, as the API server cannot discover what this API serves: APIService/v1.metrics.k8s.io calls Service ops/metrics": {Object: object.Identity{Kind: "APIService", Name: "v1.metrics.k8s.io"}},
		"widgets.example.com may no longer be read or deleted, as nothing converts them between versions: CustomResourceDefinition/widgets.example.com calls Service ops/metrics": {
			Object: object.Identity{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition", Name: "widgets.example.com"},
		},
		"the API server refuses every CREATE of pods, UPDATE of any type: ValidatingWebhookConfiguration/guard calls Service ops/metrics": {
			Object: object.Identity{Kind: "ValidatingWebhookConfiguration", Name: "guard"}, Refuses: []string{"CREATE of pods", "UPDATE of any type"},
		},
	} {
		r.Service = "ops/metrics"
		if got := r.Message(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestTheSentencesOfWhatADeletionMeansForOthers(t *testing.T) {
	secret := object.Identity{APIVersion: "v1", Kind: "Secret", Namespace: "shop", Name: "db"}
	account := object.Identity{APIVersion: "v1", Kind: "ServiceAccount", Namespace: "shop", Name: "default"}
	class := object.Identity{APIVersion: "storage.k8s.io/v1", Kind: "StorageClass", Name: "fast"}
	claim := func(name string) object.Identity {
		return object.Identity{APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: "shop", Name: name}
	}
	web := object.Identity{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "shop", Name: "web"}
	budget := func(name string, allowed int64) reason.Budget {
		return reason.Budget{Identity: object.Identity{Kind: "PodDisruptionBudget", Name: name}, Allowed: allowed}
	}
	two := []object.Identity{pod, pod}
	for _, c := range []struct {
		reason  sentence
		message string
	}{
		{
			reason.UsedByOthers{Object: secret, As: object.AsVolume, Workload: web, Users: two},
			"Secret/db is mounted by 2 Pods of Deployment/web: what runs keeps it, and nothing new starts without it",
		},
		{
			reason.UsedByOthers{Object: secret, As: object.AsEnvironment, Users: two[:1]},
			"Secret/db is read into the environment of Pod/web: running containers keep it, but none will start without it",
		},
		{
			reason.UsedByOthers{Object: account, As: object.AsAccount, Workload: web, Users: two[:1]},
			"ServiceAccount/default is the account of 1 Pod of Deployment/web: until there is one again, the API server rejects its tokens and refuses new Pods",
		},
		{
			reason.UsedByOthers{Object: class, As: object.AsStorageClass, Users: []object.Identity{claim("a")}},
			"StorageClass/fast is the class of PersistentVolumeClaim/a in namespace shop: no volume will be provisioned for new ones without it",
		},
		{reason.ClaimsStay{Object: web, Claims: []object.Identity{claim("a"), claim("b")}}, "Deployment/web leaves its claims behind: a, b"},
		{reason.ReadyPodsGo{Workload: web, Deleted: 3, Ready: 3}, "removes 3 of 3 ready Pods of Deployment/web"},
		{reason.ReadyPodsGo{Workload: web, Deleted: 1, Ready: 1, Budgets: []reason.Budget{budget("a", 1)}}, "removes 1 of 1 ready Pod of Deployment/web; PodDisruptionBudget/a allows 1"},
		{
			reason.ReadyPodsGo{Workload: pod, Deleted: 1, Ready: 1, Budgets: []reason.Budget{budget("a", 1), budget("b", 0)}},
			"removes Pod/web, which is ready; PodDisruptionBudget/a allows 1; PodDisruptionBudget/b allows 0, but a deletion does not ask it",
		},
		{
			reason.ImpactUnread([]reason.Gap{{Resource: "pods", Namespace: "shop", ErrorClass: "forbidden"}}),
			"this deletion may affect more than this tool could read: pods in namespace shop (forbidden)",
		},
	} {
		if got := c.reason.Message(); got != c.message {
			t.Errorf("got  %s\nwant %s", got, c.message)
		}
	}
}
