package reason

import (
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// Deleted is a deletion that another one followed from.
type Deleted struct {
	Object object.Identity `json:"object"`
	By     string          `json:"by,omitempty"` // who; a noun. Empty if unknown
	At     time.Time       `json:"at,omitzero"`  // zero if unknown
	// Perhaps reports that the request may not have been executed.
	Perhaps bool `json:"perhaps,omitzero"`
}

func (d Deleted) phrase() string {
	text := d.Object.String() + " was deleted"
	if d.Perhaps {
		text = d.Object.String() + " may have been deleted"
	}
	if d.By != "" {
		text += " by " + d.By
	}
	if !d.At.IsZero() {
		text += " at " + Clock(d.At)
	}
	return text
}

// HasYear reports whether a time has a year. A log of klog has none: its times are in the year 0, or in one of the next if it goes on
// over the end of a year.
func HasYear(t time.Time) bool { return t.Year() >= 1000 }

// Clock returns a time in UTC to the second, without the year if it has none.
func Clock(t time.Time) string {
	if !HasYear(t) {
		return t.Format("01-02 15:04:05")
	}
	return t.UTC().Format(time.RFC3339)
}

// Asked is a request for a deletion, or what speaks against it.
type Asked struct {
	By     string    `json:"by,omitempty"` // who; a noun. Empty if unknown
	At     time.Time `json:"at,omitzero"`
	Doubt  Doubt     `json:"doubt,omitempty"`
	Code   int       `json:"code,omitempty"`   // of the answer, if that is the doubt
	Source string    `json:"source,omitempty"` // the file that says so
}

// Doubt is why a request that is in a log may not have been executed. The values are part of the JSON contract.
type Doubt string

// The doubts.
const (
	MayBeDryRun   Doubt = "may-be-dry-run" // the log has no options of the request
	UnknownResult Doubt = "unknown-result" // the server or the client gave up before there was an answer
	OtherObject   Doubt = "other-object"   // the log has no UID: it may have been for another object of the name
)

func (a Asked) phrase() string {
	text := a.By + " asked for it at " + Clock(a.At)
	switch {
	case a.Doubt == MayBeDryRun:
		text += ", perhaps as a dry run: the log does not tell"
	case a.Doubt == UnknownResult:
		text += ", perhaps in vain: " + a.answer()
	}
	return text
}

func (a Asked) answer() string {
	if a.Code == 0 {
		return "the answer is not in the log"
	}
	return fmt.Sprintf("the API server answered with %d", a.Code)
}

func inNamespace(of object.Identity) string {
	if of.Namespace == "" {
		return "without a namespace"
	}
	return "in namespace " + of.Namespace
}

// Linked is a reference to an owner that had been deleted before.
type Linked struct {
	Owner   Deleted   `json:"owner"`
	Seen    time.Time `json:"seen,omitzero"`    // when the reference was first seen; zero if that is not in a log
	By      string    `json:"by,omitempty"`     // who wrote what it was seen in; a noun. Empty if unknown
	Created bool      `json:"created,omitzero"` // that was the creation of the object, so the reference came with it
}

func (l Linked) phrase() string {
	text := "it is first seen with a reference to " + l.Owner.Object.String() + " after that " + strings.TrimPrefix(l.Owner.phrase(), l.Owner.Object.String()+" ")
	switch {
	case l.By == "":
		return text + "; who wrote the reference is not in the log"
	case l.Created:
		return text + fmt.Sprintf(": %s created it so at %s", l.By, Clock(l.Seen))
	}
	return text + fmt.Sprintf(": %s wrote it so at %s", l.By, Clock(l.Seen))
}

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
		return controller + " deleted it; the log does not say why"
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
	// its owners had been deleted before it referred to them, so that nobody who deleted one of them is the cause
	LinkedLater = says("LinkedLater", "references", func(references []Linked) string { return firstFew(references, Linked.phrase) },
		func(references []Linked) string { return "it got a reference to an owner that was already gone" })
	// the collector did not ask for the owner, as it remembered that it is absent: it had looked for it in the
	// namespace of another object, which names it wrongly. Kubernetes did so before 1.20
	OwnerRemembered = says2("OwnerRemembered", "owner culprit", func(owner object.Reference, culprit object.Identity) string {
		return fmt.Sprintf("the garbage collector remembered %s as absent, because it had looked for it %s, on behalf of %s; this object's own reference was right",
			owner, inNamespace(culprit), culprit)
	}, func(owner object.Reference, culprit object.Identity) string {
		return fmt.Sprintf("%s was remembered as absent because of %s %s", owner, culprit, inNamespace(culprit))
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
	BegunBefore = fixed("BegunBefore", "unknown: its deletion had begun before, and who began it is not in the log")
	// each of these requests may be the one that was executed, or none of them
	MayHaveAsked = says("MayHaveAsked", "requests", func(requests []Asked) string { return "unknown: " + firstFew(requests, Asked.phrase) },
		func(requests []Asked) string {
			if len(requests) == 1 {
				return "unknown: perhaps " + requests[0].By
			}
			return "unknown: one of " + first(mostNamed, requests, ", ", "and %d more", func(a Asked) string { return a.By })
		})
	// two files do not agree on whether it was deleted
	Contradicted = says2("Contradicted", "deletion sighting", func(deletion, sighting Asked) string {
		return fmt.Sprintf("unknown whether it was deleted: %s has the deletion by %s at %s, and by %s it was there at %s, not being deleted",
			deletion.Source, deletion.By, Clock(deletion.At), sighting.Source, Clock(sighting.At))
	})

	// the collector deleted it, and no evidence shows its owners
	OwnersNotInEvidence = fixed("OwnersNotInEvidence", "unknown: no file shows an owner whose deletion took it along")
	// the collector deleted it, and the log does not show what became of at least one of its owners: it was deleted, or
	// it never was where the reference leads
	OwnerDeletionNotInLog = says2("OwnerDeletionNotInLog", "owners deleted,omitempty", func(owners []object.Reference, deleted []Deleted) string {
		text := "unknown: what became of " + firstFew(owners, object.Reference.String) + " is not in the log"
		if len(deleted) > 0 {
			text += "; " + firstFew(deleted, Deleted.phrase)
		}
		return text
	})
	// the owner of others was deleted, as these were; its own deletion is not in the log
	DeletionNotInLog = fixed("DeletionNotInLog", "unknown: its deletion is not in the log")
	// as OwnerRemembered, but it is unknown whether the reference of the object was right
	PerhapsRemembered = says2("PerhapsRemembered", "owner culprit", func(owner object.Reference, culprit object.Identity) string {
		return fmt.Sprintf("unknown: the garbage collector took %s for absent, perhaps because it had looked for it %s, on behalf of %s", owner, inNamespace(culprit), culprit)
	})
	// its owners were deleted for different causes, and the log does not tell which of them went last
	LastOwnerUnknown = says("LastOwnerUnknown", "owners", func(owners []Deleted) string {
		return "unknown: which of its owners went last is not clear: " + firstFew(owners, Deleted.phrase)
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
		return "the garbage collector had started at " + Clock(at)
	})
	// no line shows the deletion; the object was there before, and cannot have survived its parent
	WentAtTheLatest = fixed("WentAtTheLatest", "its own deletion is in no log: it went with that at the latest")
	// its parent's deletion is not in the log, so that it may have another cause
	ParentWentAtTheLatest = fixed("ParentWentAtTheLatest", "the deletion of its owner is not in the log: the owner went then at the latest")
	// nothing shows the reference before the deletion of the owner
	PerhapsLinkedLater = with[object.Reference]("PerhapsLinkedLater", "owner", "nothing that was read shows that it referred to %s before that was deleted: whoever wrote the reference later may be the cause instead")
	// after the deletion of the owner, somebody removed the reference to another one
	LostOwner = says2("LostOwner", "by at", func(by string, at time.Time) string {
		return "after the deletion of that owner it still had another one, until " + Clock(at) + ": the reference to that is gone in what " + by + " wrote"
	})
	// the log does not show what a write left, which may have changed the owners
	PerhapsRelinked = says2("PerhapsRelinked", "by at", func(by string, at time.Time) string {
		return "what " + by + " wrote at " + Clock(at) + " is not in the log, and may have given it other owners"
	})
	// the deletion of the owner was asked for, and something held it
	OwnerHeld = with[object.Reference]("OwnerHeld", "owner", "finalizers held its owner %s when that was seen last, and nothing shows that it was gone")
	// the Pod garbage collector deletes Pods of a Node that is gone, and others
	PerhapsTerminated       = fixed("PerhapsTerminated", "the Pod garbage collector also deletes Pods that have terminated, and the Node was gone for long, or nothing shows that the Pod was on it before")
	PerhapsAnotherNamespace = fixed("PerhapsAnotherNamespace", "nothing shows that it was there before that deletion of its namespace: there may have been another namespace of the name since")
	// its owners have several causes; the one that went last, as far as the log goes, may have been waiting in the foreground before
	PerhapsLast = says("PerhapsLast", "other", func(other Deleted) string {
		return "which of its owners went last is not proven: " + other.phrase()
	})
	// the request that is taken for the cause may not have been executed
	PerhapsDone = says("PerhapsDone", "request", func(a Asked) string {
		switch a.Doubt {
		case MayBeDryRun:
			return "whether the request of " + Clock(a.At) + " was a dry run is not in the log"
		case OtherObject:
			return "the log has no UID for the request of " + Clock(a.At) + ": it may have been for another object of that name"
		case UnknownResult:
		}
		return "whether the request of " + Clock(a.At) + " was executed is not known: " + a.answer()
	})
	// other requests for the same deletion followed
	AskedAgain = says("AskedAgain", "requests", func(n int) string { return Count(n, "more request") + " for it in the log" })
	// its Namespace was being deleted, which need not be the cause
	NamespaceWasTerminating = says("NamespaceWasTerminating", "namespace", func(n Deleted) string {
		return "at that time its namespace was being deleted: " + n.phrase()
	})
	// the collector removed the reference to an owner that was deleted with policy Orphan, so that this one stays
	Freed = says2("Freed", "owner at,omitzero", func(owner Deleted, at time.Time) string {
		return "it lost its owner and stayed: the garbage collector removed the reference at " + Clock(at) + "; " + owner.phrase()
	})
	// what the owner left behind
	Orphaned = says2("Orphaned", "dependents default,omitzero", func(dependents []object.Identity, byDefault bool) string {
		text := "its dependents stayed, without an owner: " + firstFew(dependents, object.Identity.String)
		if byDefault {
			text += " (orphaning is the default of its kind, when a request names no policy)"
		}
		return text
	})
	// a request for its deletion that did nothing
	WasRefused = says("WasRefused", "request", func(a Asked) string {
		return fmt.Sprintf("the deletion that %s asked for at %s was refused with %d", a.By, Clock(a.At), a.Code)
	})
	// a request for its deletion that may have been a dry run was one, or it was not done
	NotDone = says2("NotDone", "request seen", func(a Asked, seen time.Time) string {
		return fmt.Sprintf("the deletion that %s asked for at %s was not done, or was a dry run: it was there at %s, not being deleted", a.By, Clock(a.At), Clock(seen))
	})
	// no deletion of it is known
	SeenLast = says("SeenLast", "at,omitzero", func(at time.Time) string {
		if at.IsZero() {
			return "it is in the snapshot from before"
		}
		return "it was last seen at " + Clock(at)
	})
	// a request for all objects of a kind, or those with some labels, may have deleted it
	MayBeAmong = says("MayBeAmong", "collection", func(c InCollectionOf) string {
		text := "it may be among the " + c.Resource
		if c.Selector != "" {
			text += " with " + c.Selector
		}
		return text + " whose deletion " + strings.Replace(c.Request.phrase(), "asked for it", "asked for", 1)
	})
)

// InCollectionOf is a request that deletes a collection whose objects no file shows.
type InCollectionOf struct {
	Request  Asked  `json:"request"`
	Resource string `json:"resource"`           // resource.group
	Selector string `json:"selector,omitempty"` // of labels and fields, with a comma between
}
