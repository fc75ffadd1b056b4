package reason

import (
	"fmt"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// Deleted is a deletion that another one followed from.
type Deleted struct {
	Object object.Identity `json:"object"`
	By     string          `json:"by,omitempty"` // who; a noun. Empty if unknown
	At     time.Time       `json:"at,omitzero"`  // zero if unknown
}

func (d Deleted) phrase() string {
	text := d.Object.String() + " was deleted"
	if d.By != "" {
		text += " by " + d.By
	}
	if !d.At.IsZero() {
		text += " at " + clock(d.At)
	}
	return text
}

func clock(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// Why an object was deleted, as the logs of a cluster tell it (kubectl gc trace). Each is said of a
// deletion, as what follows a colon.
var (
	// a user or a workload asked for this deletion, and nobody else before
	AskedFor = says("AskedFor", "by", func(by string) string { return by + " asked for it" },
		func(string) string { return "asked for" })
	// it was among the objects of a collection that was deleted with one request
	InCollection = says("InCollection", "by", func(by string) string { return by + " deleted the collection" },
		func(string) string { return "in the collection" })
	// a controller of Kubernetes deleted it for a purpose of its own, such as a rollout, or to scale down
	ControllersDecision = says("ControllersDecision", "controller", func(controller string) string {
		return "the " + controller + " deleted it; the log does not say why"
	})
	UnknownController = fixed("UnknownController", "a controller of kube-controller-manager deleted it; the log does not say which")
	// its dependents were to go, and the collector found none of its owners: the last one was deleted
	OwnerDeleted = says2("OwnerDeleted", "owner foreground,omitzero", func(owner Deleted, foreground bool) string {
		if foreground {
			return "its owner " + owner.phrase() + " and waited for it (foreground)"
		}
		return "its owner " + owner.phrase()
	}, func(_ Deleted, foreground bool) string {
		if foreground {
			return "its owner waits for it (foreground)"
		}
		return "its owner is gone"
	})
	// no owner that its references name is there, and none was deleted: the references were wrong from the beginning
	OwnersAbsent = says("OwnersAbsent", "owners", func(owners []Owner) string {
		if len(owners) == 1 {
			return fmt.Sprintf("its only owner, %s, %s", owners[0], owners[0].Predicate())
		}
		return "no owner is there: " + facts(owners)
	})
	// the collector did not ask for the owner, as it remembered that it is absent: it had looked for it in the
	// namespace of another object, which names it wrongly. Kubernetes did so before 1.20
	OwnerRemembered = says2("OwnerRemembered", "owner culprit", func(owner object.Reference, culprit object.Identity) string {
		return fmt.Sprintf("the garbage collector remembered %s as absent, because it had looked for it in namespace %s, on behalf of %s; this object's own reference was right",
			owner, culprit.Namespace, culprit)
	}, func(owner object.Reference, culprit object.Identity) string {
		return fmt.Sprintf("%s was remembered as absent because of %s in namespace %s", owner, culprit, culprit.Namespace)
	})
	// the Namespace was deleted, and everything in it
	NamespaceDeleted = says("NamespaceDeleted", "namespace", Deleted.phrase,
		func(Deleted) string { return "its namespace was deleted" })
	// the CustomResourceDefinition was deleted, and all objects of its kind. The API server writes no event for them
	DefinitionDeleted = says("DefinitionDeleted", "definition", Deleted.phrase,
		func(Deleted) string { return "its CustomResourceDefinition was deleted" })
	// the object is a Pod of a Node that was deleted
	NodeDeleted = says("NodeDeleted", "node", func(node Deleted) string { return "its " + node.phrase() },
		func(Deleted) string { return "its Node was deleted" })
	PodCollected = fixed("PodCollected", "its Node was gone, or it had terminated; which of the two is not in the log")
	TTLExpired   = fixed("TTLExpired", "it had finished, and its ttlSecondsAfterFinished had passed")
	// it was evicted, as kubectl drain does
	Evicted        = says("Evicted", "by", func(by string) string { return by + " evicted it" }, func(string) string { return "evicted" })
	TaintEvicted   = fixed("TaintEvicted", "its Node had a taint that it does not tolerate")
	Preempted      = fixed("Preempted", "the scheduler preempted it: a Pod of higher priority needed its place")
	EndedByKubelet = fixed("EndedByKubelet", "its kubelet confirmed that it stopped; who began the deletion is not in the log")
	StaticPodGone  = fixed("StaticPodGone", "it mirrored a static Pod, which its kubelet no longer runs")

	// the first request that the log has is not the one that began the deletion
	BegunBefore  = fixed("BegunBefore", "unknown: its deletion had begun before, and who began it is not in the log")
	SeveralAsked = fixed("SeveralAsked", "unknown: several asked for its deletion, and the log does not tell whose request counted")

	// the collector deleted it, and no evidence shows its owners
	OwnersNotInEvidence = fixed("OwnersNotInEvidence", "unknown: no file shows its owners")
	// the collector deleted it, and the deletion of at least one of its owners is not in the log, so that it is
	// unknown which was the last
	OwnerDeletionNotInLog = says("OwnerDeletionNotInLog", "owners", func(owners []object.Reference) string {
		return "unknown: the deletion of " + firstFew(owners, object.Reference.String) + " is not in the log"
	})
	// the collector did not find its owner, and no evidence shows whether that had been deleted or never was there
	OwnerNotFoundThen = with[object.Reference]("OwnerNotFoundThen", "owner", "unknown: the garbage collector did not find its owner %s, and who deleted that, if anybody did, is not in the log")
	// the owner of others was deleted, as these were; its own deletion is not in the log
	DeletionNotInLog = fixed("DeletionNotInLog", "unknown: its deletion is not in the log")
	// as OwnerRemembered, but it is unknown whether the reference of the object was right
	PerhapsRemembered = says2("PerhapsRemembered", "owner culprit", func(owner object.Reference, culprit object.Identity) string {
		return fmt.Sprintf("unknown: the garbage collector took %s for absent, perhaps because it had looked for it in namespace %s, on behalf of %s", owner, culprit.Namespace, culprit)
	})
	// its owners were deleted for different causes, and the log does not tell which of them went last
	LastOwnerUnknown = says("LastOwnerUnknown", "owners", func(owners []Deleted) string {
		return "unknown which owner went last: " + firstFew(owners, Deleted.phrase)
	})
	// the log has more than one deletion under the name of its owner, and not which of them deleted the owner
	OwnerAmbiguous = with[object.Reference]("OwnerAmbiguous", "owner", "unknown: several objects named %s were deleted, and the log does not tell which was its owner")
	// the namespace controller deleted it, and the deletion of its Namespace is not in the log
	NamespaceDeletionNotInLog = with[string]("NamespaceDeletionNotInLog", "namespace", "unknown: who deleted Namespace/%s is not in the log")
)

// What else matters about a deletion that the logs of a cluster show.
var (
	// a restarted collector knows of no owner until it has seen it, and asks for it
	CollectorRestarted = says("CollectorRestarted", "at", func(at time.Time) string {
		return "the garbage collector had started at " + clock(at)
	})
	// no line shows the deletion; the object was there before, and cannot have survived its parent
	WentAtTheLatest = fixed("WentAtTheLatest", "its own deletion is not in the log: it went then at the latest")
	// its parent's deletion is not in the log, so that it may have another cause
	ParentWentAtTheLatest = fixed("ParentWentAtTheLatest", "the deletion of its owner is not in the log: the owner went then at the latest")
	// other requests for the same deletion followed
	AskedAgain = says("AskedAgain", "requests", func(n int) string { return Count(n, "more request") + " followed" })
	// the log has no options of the request, so that it may be a dry run
	WrittenLater = says("WrittenLater", "at", func(at time.Time) string {
		return "it was changed at " + clock(at) + ", so it was still there; in a log at level Metadata, a dry run looks like a deletion"
	})
	// its Namespace was being deleted, which need not be the cause
	NamespaceWasTerminating = says("NamespaceWasTerminating", "namespace", func(n Deleted) string {
		return "at that time its namespace was being deleted: " + n.phrase()
	})
)
