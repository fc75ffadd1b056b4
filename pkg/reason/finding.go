package reason

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// What a rule of the audit found. Each is said of the object of the finding.
var (
	OwnsItself = fixed("OwnsItself", "it names itself as its owner", "it owns itself")

	// an object of the owner's kind and name exists, with another UID
	OwnerReplaced = says("OwnerReplaced", "owner", func(o Owner) string {
		return fmt.Sprintf("its owner %s was replaced: the reference names UID %s, the existing object has UID %s", o, o.UID, o.replacement().UID)
	}, func(o Owner) string { return o.String() + " was replaced by a new one" })
	// the owner's UID belongs to an object of another name or kind
	OwnerMismatched = says("OwnerMismatched", "owner", func(o Owner) string {
		return fmt.Sprintf("its reference names %s %s, but the UID belongs to %s %s", o.APIVersion, o, o.holder().APIVersion, o.holder())
	}, func(o Owner) string { return fmt.Sprintf("%s: UID belongs to %s", o, o.holder()) })
	// the object is cluster-scoped and names an owner of a namespaced kind, which it can never have
	OwnerNamespaced = says("OwnerNamespaced", "owner", func(o Owner) string {
		where := ""
		if holder := o.holder(); holder.Namespace != "" {
			where = ", which is in namespace " + holder.Namespace
		}
		return fmt.Sprintf("this object is cluster-scoped and names the namespaced %s as its owner%s; since Kubernetes 1.20 the garbage collector never acts on such an object", o, where)
	}, func(o Owner) string { return "owner " + o.String() + " is namespaced, the object is not" })
	// the owner's kind is known or its UID exists, but the reference's apiVersion is not served
	OwnerVersionNotServed = says("OwnerVersionNotServed", "owner", func(o Owner) string {
		return fmt.Sprintf("its reference names %s as %s, which is not served (served: %s)", o, o.APIVersion, strings.Join(o.ServedVersions, ", "))
	}, func(o Owner) string {
		return fmt.Sprintf("%s %s: version not served (served: %s)", o.APIVersion, o, strings.Join(o.ServedVersions, ", "))
	})
	// the server knows no such kind, in any version
	OwnerKindUnknown = says("OwnerKindUnknown", "owner", func(o Owner) string {
		return fmt.Sprintf("its reference names %s %s, a kind that the API server does not know", o.APIVersion, o)
	}, func(o Owner) string { return fmt.Sprintf("%s %s: no such kind", o.APIVersion, o) })
	// the owner is being deleted in the foreground and waits for its dependents
	OwnerWaiting = says("OwnerWaiting", "owner", func(o Owner) string {
		return fmt.Sprintf("its owner %s is being deleted in the foreground and waits for its dependents", o)
	}, func(o Owner) string { return o.String() + " is being deleted (foreground)" })
	// the object is being deleted, and a pass of the collector does not complete that
	DeletionBlocked = says("DeletionBlocked", "because", func(why *Reason) string { return "it is being deleted, and " + why.Message() },
		func(why *Reason) string { return "its deletion " + why.Message() })
	// no object has the owner's UID, and none has its name
	OwnerMissing = says2("OwnerMissing", "owner scanComplete", func(o Owner, complete bool) string {
		if complete {
			return fmt.Sprintf("its owner %s does not exist, and no object has its UID", o)
		}
		return fmt.Sprintf("its owner %s does not exist, and nothing that this tool could read has its UID", o)
	}, func(o Owner, _ bool) string { return o.String() + " does not exist" })
	// the owner lives in another namespace, where the collector never looks for it; namespace is the object's own, empty
	// where it is cluster-scoped
	OwnerInOtherNamespace = says2("OwnerInOtherNamespace", "owner namespace", func(o Owner, namespace string) string {
		return fmt.Sprintf("its owner %s is in %s, but an owner must be in the dependent's own namespace or cluster-scoped; this object is in %s",
			o.holder(), place(o.holder().Namespace), place(namespace))
	}, func(o Owner, _ string) string {
		holder := o.holder()
		if o.Kind != holder.Kind || o.Name != holder.Name {
			return fmt.Sprintf("%s: UID belongs to %s in %s", o, holder, holder.Namespace)
		}
		return fmt.Sprintf("owner %s is in namespace %s", o, holder.Namespace)
	})
	// the owner is of a kind that the collector does not watch
	OwnerNotMonitored = says2("OwnerNotMonitored", "owner type", func(o Owner, typ string) string {
		return fmt.Sprintf("its owner %s exists, but the garbage collector does not watch %s, so it notices the owner's deletion late", o, typ)
	}, func(o Owner, _ string) string { return o.String() + ": the garbage collector does not watch its kind" })
	// the owner exists, and the API server serves the version that the reference names, but prefers another
	OwnerVersionOutdated = says2("OwnerVersionOutdated", "owner preferred", func(o Owner, preferred string) string {
		return fmt.Sprintf("its reference names %s as %s; the API server serves that version, but prefers %s", o, o.APIVersion, preferred)
	}, func(o Owner, preferred string) string {
		return fmt.Sprintf("%s %s, preferred: %s", o.APIVersion, o, preferred)
	})
	// two owners claim to be the managing controller
	TwoControllers = says2("TwoControllers", "first second", func(a, b Owner) string {
		return fmt.Sprintf("%s and %s both claim to be its controller, so the API server refuses every update that keeps both", a, b)
	}, func(a, b Owner) string { return fmt.Sprintf("%s and %s both control it", a, b) })
	// objects own each other, so that none of them is ever garbage
	OwnersInCycle = says("OwnersInCycle", "members", func(members []object.Identity) string {
		return fmt.Sprintf("%d objects own each other: %s", len(members), first(mostNamed, members, ", ", "%d more", object.Identity.String))
	})
)

func place(namespace string) string {
	if namespace == "" {
		return "no namespace (cluster-scoped)"
	}
	return "namespace " + namespace
}

// OwnerUnverified means that it is unknown whether the owner exists.
type OwnerUnverified struct {
	Owner Owner `json:"owner"`
	// Gap is what could not be read; nil where the owner itself was requested, or where
	// its type was not part of the scan.
	Gap *Gap `json:"gap,omitempty"`
	// ErrorClass and Detail are why reading the owner failed; empty where it was not
	// requested.
	ErrorClass string `json:"errorClass,omitempty"`
	Detail     string `json:"detail,omitempty"`
}

// The error classes that the sentences name.
const (
	classNotInFile = "not-in-file"
	classForbidden = "forbidden"
	classBadName   = "bad-name"
)

func (r OwnerUnverified) Brief() string { return fmt.Sprintf("%s: %s", r.Owner, r.BriefObstacle()) }

func (r OwnerUnverified) shared() string {
	if r.Gap == nil || r.notInFile() {
		return r.Brief() // the owner itself is what they share
	}
	return "owner not verified: " + r.BriefObstacle()
}

// BriefObstacle returns what kept the owner from being verified, in a few words.
func (r OwnerUnverified) BriefObstacle() string {
	words, _ := r.obstacle()
	return words
}

// obstacle returns what kept the owner from being verified, in a few words and as a clause.
func (r OwnerUnverified) obstacle() (words, clause string) {
	holder, replacement := r.Owner.holder(), r.Owner.replacement()
	switch served := holder.APIVersion + " " + holder.Kind; {
	case r.notInFile() && holder.Kind != "":
		return "in the file as " + served, fmt.Sprintf("the file has it as %s, and does not show whether it is served as %s too", served, r.Owner.APIVersion)
	case r.notInFile() && replacement.Kind != "":
		return "another UID in the file", "the file has only one with another UID"
	case r.notInFile():
		return "not in the file", "it is not in the file"
	case r.Gap != nil && r.Gap.ErrorClass == classForbidden:
		return fmt.Sprintf("you are not allowed to list %s", r.Gap), fmt.Sprintf("listing %s is forbidden", r.Gap)
	case r.Gap != nil:
		return fmt.Sprintf("%s: %s", r.Gap, r.Gap.Why()), fmt.Sprintf("%s could not be read (%s)", r.Gap, r.Gap.Why())
	case r.ErrorClass == classBadName:
		return "invalid name", "no object can have this name, so this tool did not request it"
	case r.ErrorClass != "":
		return r.ErrorClass, fmt.Sprintf("reading it failed (%s): %s", r.ErrorClass, r.Detail)
	}
	return "not scanned", "its type was not part of this scan"
}

func (r OwnerUnverified) notInFile() bool { return r.Gap != nil && r.Gap.ErrorClass == classNotInFile }

// Question returns what is unknown, as a clause.
func (r OwnerUnverified) Question() string {
	if r.notInFile() && r.Owner.holder().Kind != "" {
		return fmt.Sprintf("whether the garbage collector finds its owner %s", r.Owner)
	}
	return fmt.Sprintf("whether its owner %s exists", r.Owner)
}

func (r OwnerUnverified) Message() string {
	_, why := r.obstacle()
	return fmt.Sprintf("it is unknown %s: %s", r.Question(), why)
}

// OwnerDuplicated means that two references of the object carry the same UID.
type OwnerDuplicated struct {
	Earlier      Owner `json:"earlier"`
	Later        Owner `json:"later"`
	EarlierIndex int   `json:"earlierIndex"` // from 0, in metadata.ownerReferences
	LaterIndex   int   `json:"laterIndex"`
}

func (r OwnerDuplicated) Brief() string {
	return fmt.Sprintf("%s and %s have the same UID", r.Earlier, r.Later)
}

func (r OwnerDuplicated) Message() string {
	return fmt.Sprintf("its references %d and %d, %s and %s, have the same UID", r.EarlierIndex+1, r.LaterIndex+1, r.Earlier, r.Later)
}

// FinalizerStuck means that the object has long been terminating and waits for a finalizer that is not the collector's.
type FinalizerStuck struct {
	HeldByFinalizers

	Traces []ControllerTraces `json:"traces,omitempty"` // of the controllers behind the finalizers
}

func (r FinalizerStuck) Brief() string {
	return fmt.Sprintf("terminating %s, held by %s", duration.HumanDuration(r.Since.Age()), strings.Join(r.Finalizers, ", ")) + r.Because()
}

func (r FinalizerStuck) shared() string {
	return "terminating, held by " + strings.Join(r.Finalizers, ", ")
}

func (r FinalizerStuck) Message() string {
	text := fmt.Sprintf("it has been terminating since %s, held by %s", r.Since.Deleted.Format(time.RFC3339), strings.Join(r.Finalizers, ", ")) + r.Because()
	for _, t := range r.Traces {
		text += ". " + t.Sentence()
	}
	return text
}

// ReportedCondition is a condition that is true, with the message of the namespace controller.
type ReportedCondition struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

// Fails reports whether the condition says that an attempt of the namespace controller failed, and
// not only that it waits.
func (c ReportedCondition) Fails() bool {
	return c.Type != object.ContentRemaining && c.Type != object.FinalizersRemaining
}

// NamespaceStuck means that the object is a Namespace that has long been terminating.
type NamespaceStuck struct {
	Since      Since               `json:"since"`
	Causes     []*Reason           `json:"causes"`     // the one to repair first comes first; never empty
	Conditions []ReportedCondition `json:"conditions"` // those that are true
}

func (r NamespaceStuck) Brief() string {
	return fmt.Sprintf("terminating %s, %s", duration.HumanDuration(r.Since.Age()), r.cause(0))
}

func (r NamespaceStuck) shared() string { return "terminating, " + r.cause(0) }

func (r NamespaceStuck) cause(i int) string {
	if i >= len(r.Causes) {
		return ""
	}
	return r.Causes[i].Message()
}

func (r NamespaceStuck) Message() string {
	text := "it has been terminating since " + r.Since.Deleted.Format(time.RFC3339)
	for i := range r.Causes {
		text += "; it " + r.cause(i)
	}
	for _, c := range r.Conditions {
		if c.Fails() {
			text += fmt.Sprintf("; the namespace controller reports %s: %q", c.Type, c.Message)
		}
	}
	return text
}

// OwnerKindMisspelled means that the reference spells the owner's kind or apiVersion so
// that it works by accident, or by mistake.
type OwnerKindMisspelled struct {
	Owner    Owner    `json:"owner"`
	Spelling Spelling `json:"spelling"`
	Resolved string   `json:"resolved"`          // the kind, type or apiVersion that the collector takes it for
	Unserved bool     `json:"unserved,omitzero"` // nothing serves what it is taken for
}

// Spelling is how a reference misspells the kind or apiVersion of its owner.
type Spelling string

// The exact spelling, and those that map although nobody should write them
// (docs/gc-semantics.md#kind-spelling).
const (
	ExactSpelling    Spelling = ""
	LowerCaseKind    Spelling = "lower-case kind"
	KindOfList       Spelling = "list kind"                     // maps to a resource that nothing serves
	NoVersionInGroup Spelling = "empty or malformed apiVersion" // maps to the group's preferred version
)

func (r OwnerKindMisspelled) Brief() string { return fmt.Sprintf("%s: %s", r.Owner, r.Spelling) }

func (r OwnerKindMisspelled) Message() string {
	switch r.Spelling {
	case LowerCaseKind:
		return fmt.Sprintf("kind %q is in lower case; this works by accident, the kind is %s", r.Owner.Kind, r.Resolved)
	case NoVersionInGroup:
		return fmt.Sprintf("apiVersion %q names no version; the garbage collector reads it as %s", r.Owner.APIVersion, r.Resolved)
	case KindOfList, ExactSpelling:
	}
	text := fmt.Sprintf("kind %q is a list kind; the garbage collector looks for the owner among %s", r.Owner.Kind, r.Resolved)
	if r.Unserved {
		text += ", which the API server does not serve, so it never finds the owner"
	}
	return text
}
