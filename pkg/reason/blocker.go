package reason

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// What keeps a deletion from ending. Each is said of the object that is in the way, as
// what follows its name.
var (
	WaitsInCycle = fixed("WaitsInCycle",
		"waits in a cycle: each object in it waits for another, or itself, to be deleted first (foreground)")
	// the object would be deleted, but lies outside of what this run may change
	OutOfScope        = fixed("OutOfScope", "is outside the scope of this run")
	DependentsUnknown = fixed("DependentsUnknown",
		"keeps its finalizer, because this tool could not list everything that may depend on it")
	// the API server rejects every change of the object's metadata, so the collector cannot remove a reference or finalizer
	PatchRejected = fixed("PatchRejected",
		"cannot be changed: the API server rejects every update of its metadata, for example because it has two controllers or an Event as its owner")
	NothingBlocks = fixed("NothingBlocks",
		"is not blocked: the garbage collector has not processed it yet, or has lost track of it")
	// nothing that could be read holds the object, and the collector has no part in its deletion
	NothingHolds = fixed("NothingHolds",
		"should be gone: this tool found nothing that holds it, so its deletion may have been interrupted")
	// the object is one of Kubernetes' own that the API server protects, such as Namespace kube-system
	DeletionForbidden     = fixed("DeletionForbidden", "stays: the API server refuses every deletion of it")
	DeletionWithoutEffect = fixed("DeletionWithoutEffect", "still exists unchanged, although the API server accepted its deletion")

	// the object is a Pod that is stopping
	GracePeriod = says("GracePeriod", "since", func(since Since) string { return "has been stopping" + since.phrase() })
	// the object is a Namespace or CustomResourceDefinition that is being deleted and still has something in it
	ContentsRemain = says("ContentsRemain", "since", func(since Since) string {
		if since.Deleted.IsZero() {
			return "waits for its contents to be deleted"
		}
		return "has waited" + since.phrase() + " for its contents to be deleted"
	})
	// one of the object's owner references cannot be resolved, so that the collector skips the whole object
	OwnerUndecidable = says("OwnerUndecidable", "owner", Owner.stays)
	// the object is being deleted in the foreground, and the collector deletes or releases the dependents that block it first
	WaitsForDependents = says2("WaitsForDependents", "by more,omitzero", func(by object.Identity, more int) string {
		text := "waits for " + by.String()
		if more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		return text + ", which the garbage collector processes first"
	})
	// the object is a Namespace or CustomResourceDefinition whose contents could not be listed, so it is not deleted
	ContentsUnknown = says("ContentsUnknown", "gaps", func(gaps []Gap) string {
		return "is not deleted, because this tool could not list its contents: " + listGaps(gaps)
	})
	// the object is a Namespace that is being deleted, and stays as long as the API server cannot tell what it serves
	// in an API group
	GroupsUndiscoverable = says("GroupsUndiscoverable", "gaps", func(gaps []Gap) string {
		return "stays while the API server cannot discover " + listGaps(gaps) + ", even if it is empty"
	})
	// the object is a Namespace that is being deleted, and may stay because of contents that could not be listed
	ContentsUnlistable = says("ContentsUnlistable", "gaps", func(gaps []Gap) string {
		return "waits for its contents to be deleted, and may stay because this tool could not list all of them: " + listGaps(gaps)
	})
)

// HeldByFinalizers means that the object is being deleted, and finalizers that are not the collector's keep it.
type HeldByFinalizers struct {
	Finalizers []string `json:"finalizers"`
	Since      Since    `json:"since"`
	InUse      `json:",inline"`
	Due        *DueFinalizer `json:"due,omitempty"` // the one that should go next; nil if a scan does not show that
}

// DueFinalizer is a finalizer that a controller of Kubernetes may remove now.
type DueFinalizer struct {
	Finalizer  string `json:"finalizer"`
	Controller string `json:"controller"`    // a noun
	Late       bool   `json:"late,omitzero"` // it might have done so long ago
}

func (r HeldByFinalizers) Message() string {
	is := "has been"
	if r.Since.Deleted.IsZero() {
		is = "is"
	}
	return is + " held by " + strings.Join(r.Finalizers, ", ") + r.Since.phrase() + r.Because()
}

// Because returns why the finalizers are still there, as what follows them, or an empty string.
func (r HeldByFinalizers) Because() string {
	switch {
	case r.Due != nil && r.Due.Late:
		return fmt.Sprintf("; %s should have removed its finalizer by now", r.Due.Controller)
	case r.Due != nil:
		return fmt.Sprintf("; %s will remove its finalizer within seconds", r.Due.Controller)
	case len(r.UsedBy) > 0:
		return ", because " + r.users()
	case r.UsersUnknown:
		return ", and may still be in use: this tool has not read what uses it"
	}
	return ""
}

// PodOverdue means that the object is a Pod whose grace period is over, and no kubelet has confirmed
// that it stopped.
type PodOverdue struct {
	Since Since           `json:"since"`
	Node  *object.PodNode `json:"node,omitempty"` // nil if it could not be read
}

func (r PodOverdue) Message() string {
	text := "has been past its grace period" + r.Since.phrase()
	if r.Node == nil {
		return text + ": its kubelet has not confirmed that it stopped, so its node may be down or gone"
	}
	return text + ": it waits for the " + r.Kubelet()
}

// Kubelet returns the kubelet that the Pod waits for, and the state of its Node, as a noun. There
// has to be a Node.
func (r PodOverdue) Kubelet() string {
	text := "kubelet of Node " + r.Node.Name
	switch r.Node.State {
	case object.NodeAbsent:
		return text + ", which does not exist"
	case object.NodeReady:
		return text + ", which is ready"
	case object.NodeNotReady:
		if since := (Since{Deleted: r.Node.Since, Scanned: r.Since.Scanned}).phrase(); since != "" {
			return text + ", which has not been ready" + since
		}
		return text + ", which is not ready"
	case object.NodeUnknown:
	}
	return text + ", whose state is unknown"
}

// stays returns that the collector skips the object because of a reference, and why.
func (o Owner) stays() string {
	switch o.State {
	case StateUnverified:
		return "may stay: " + o.Undecidable()
	case StateVersionNotServed, StateKindUnknown:
		return fmt.Sprintf("stays until %s %s is served: only then can the garbage collector resolve its owner %s", o.APIVersion, o.Kind, o)
	default:
		return "stays: " + o.Undecidable()
	}
}

// Undecidable returns why the collector cannot decide about a reference, as a clause.
func (o Owner) Undecidable() string {
	switch o.State {
	case StateKindIsList:
		return fmt.Sprintf("its reference to %s names a list kind, probably by mistake", o)
	case StateNamespaced:
		return fmt.Sprintf("it is cluster-scoped and cannot have the namespaced owner %s, so the garbage collector skips it", o)
	case StateVersionNotServed:
		return fmt.Sprintf("the garbage collector cannot resolve its owner %s %s (version not served)", o.APIVersion, o)
	case StateKindUnknown:
		return fmt.Sprintf("the garbage collector cannot resolve its owner %s %s (no such kind)", o.APIVersion, o)
	default:
		return fmt.Sprintf("it is unknown whether its owner %s exists", o)
	}
}

// UIDContested means that the object's UID was read of another object, too, so nothing is done with either.
type UIDContested struct {
	Objects []object.Identity `json:"objects"` // that have the UID, sorted; one alone was read with different creation times
}

// Contest returns the conflict, without its effect.
func (r UIDContested) Contest() string {
	if len(r.Objects) == 0 {
		return "another object has the same UID"
	}
	first := r.Objects[0]
	if len(r.Objects) == 1 {
		return fmt.Sprintf("the API server returned %s twice, with UID %s and different creation times", qualified(first), first.UID)
	}
	other := r.Objects[1]
	if i := slices.IndexFunc(r.Objects, func(o object.Identity) bool { return o.Namespace != first.Namespace || o.Name != first.Name }); i > 0 {
		other = r.Objects[i]
	}
	return fmt.Sprintf("%s and %s are different objects with the same UID %s", qualified(first), qualified(other), first.UID)
}

func (r UIDContested) Message() string { return "stays: " + r.Contest() }

func qualified(i object.Identity) string {
	name := i.Name
	if i.Namespace != "" {
		name = i.Namespace + "/" + name
	}
	return fmt.Sprintf("%s %s (%s)", i.Kind, name, cmp.Or(i.APIVersion, "v1"))
}

// BlockedByDependents means that the object is being deleted in the foreground and waits
// for a dependent, which waits for something itself.
type BlockedByDependents struct {
	By        object.Identity `json:"by"`        // the first of the dependents that block it
	RootCause object.Identity `json:"rootCause"` // the object at which the chain ends; may be the same
	Because   *Reason         `json:"because"`   // what is in the way of that one
}

func (r BlockedByDependents) Message() string {
	if r.By == r.RootCause {
		return fmt.Sprintf("is blocked by %s, which %s", r.By, r.Because.Message())
	}
	return fmt.Sprintf("is blocked by %s (root cause: %s %s)", r.By, r.RootCause, r.Because.Message())
}
