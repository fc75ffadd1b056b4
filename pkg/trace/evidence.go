package trace

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// Span is the time from the first to the last of what was seen; zero if nothing was.
type Span struct {
	First time.Time `json:"from,omitzero"`
	Last  time.Time `json:"to,omitzero"`
}

// Cover extends the span to some times. A time that is zero is unknown.
func (s *Span) Cover(times ...time.Time) {
	for _, t := range times {
		if t.IsZero() {
			continue
		}
		if s.First.IsZero() || t.Before(s.First) {
			s.First = t
		}
		if s.Last.IsZero() || t.After(s.Last) {
			s.Last = t
		}
	}
}

// Sink takes what readers find, in any order. It does not keep what it gets pointers to.
type Sink interface {
	Request(*Request)
	Line(*Line)
}

// Source is what was read of one file: what it can show, and what it cannot.
type Source struct {
	File string `json:"file"` // not escaped; "standard input" for that
	Form string `json:"form"` // what it is, as a noun: "audit log"
	Span        // of its events or lines; zero if it has none

	Cluster  string `json:"cluster,omitempty"` // as a cloud names it; empty if it does not. Not escaped
	Yearless bool   `json:"yearless,omitzero"` // its times have no year: they are in the year 0, or in the next ones
	// Of a log that has deletions that the audit log has, too: how many, and by how many seconds its clock is behind. Its times are
	// corrected by that.
	SharedDeletions int `json:"sharedDeletions,omitempty"`
	ClockBehind     int `json:"clockBehind,omitempty"`

	Lines      int    `json:"lines"`                // or documents, that are not empty
	Unreadable int    `json:"unreadable,omitempty"` // of these: broken, too long, or unclear
	Example    string `json:"-"`                    // where the first of them is, and why; not escaped

	Events int `json:"events,omitempty"` // of any request
	// Unanswered is Events if they are of requests without an answer: it is not known what became of any.
	Unanswered int            `json:"-"`
	Levels     map[string]int `json:"levels,omitempty"`    // deletions by the level of the policy
	Resources  map[string]int `json:"resources,omitempty"` // writes by resource.group

	Verbosity int `json:"verbosity,omitempty"` // of a log: it has lines of this level, so --v was this or more; -1 if none is known
}

// Forms of sources that matter.
const (
	FormScan       = "snapshot" // of before
	FormManagerLog = "log of kube-controller-manager"
)

// Request is a write in an audit log, once, after its answer (stage ResponseComplete, or Panic). Dry runs are none.
type Request struct {
	ID                 string // auditID, which a client may choose
	Place              Place
	Received, Answered time.Time // by the clock of the API server that wrote the log
	User               RequestUser
	Verb               string // create, update, patch, delete or deletecollection
	Target             RequestTarget
	Code               int // of the answer; 0 if the log does not have it
	Result             RequestResult
	// MayBeDryRun reports that the log does not tell whether the request only tried what would happen. It
	// is so of all writes of a Google Cloud audit log but deletions whose options it has.
	MayBeDryRun bool
	// Options are those of a deletion; nil if the log does not have them.
	Options *DeleteOptions
	// Objects are those that the server answered with. What a client sent is not among them.
	Objects []Seen
	// Unlinked are the UIDs of owners to which a patch that was done removes the references.
	Unlinked []types.UID
}

// Created is the code of a request that created an object, which may be a patch or an update too.
const Created = 201

// RequestResult is what became of a request.
type RequestResult int

// The results. Unknown are the requests that may have been executed: the server answered with 5xx, the
// client did not wait (499), or the log does not have the answer. Of those that were refused only deletions are kept.
const (
	Done RequestResult = iota
	Refused
	Unknown
)

// RequestUser is who sent a request, as the API server authenticated it. All text is untrusted.
type RequestUser struct {
	Name         string
	Groups       []string
	Impersonator string   // who acted as this user; usually empty
	Agent        string   // User-Agent, which the client chose
	Addresses    []string // sourceIPs, of the client and of proxies
}

// RequestTarget is what a request names. Name is empty for a collection and for a generated name.
type RequestTarget struct {
	Group, Version, Resource, Subresource string
	Namespace, Name                       string
	UID                                   types.UID // empty if the log does not have it
	LabelSelector, FieldSelector          string    // of a collection
	// SelectorUnknown reports that the log does not have the selectors of a collection.
	SelectorUnknown bool
}

// DeleteOptions are the options of a deletion that decide what it takes along.
type DeleteOptions struct {
	Policy string    // propagationPolicy; empty if the request has none: the type's default
	UID    types.UID // the precondition; empty without one
}

// Seen is the metadata of an object as a log has it. Kind is empty if the answer is metadata only.
type Seen struct {
	object.Object
	Whole bool // the log has all of it
}

// Place is a line of a log, or the document that begins there.
type Place struct {
	File   string `json:"file"`
	Offset int64  `json:"offset"` // bytes, of the uncompressed text
}

// Line is what a line of a log of kube-controller-manager says.
type Line struct {
	Time  time.Time // in the year 0 if the year is unknown
	Place Place
	Says  LineKind
	// Object is whom it is about; empty for Started, Syncs and NotWorking. Its UID is empty if the line names it alone, and its
	// name and kind, too, if all in a namespace are deleted.
	Object object.Identity
	Owner  object.Identity // of lines about an owner; its namespace is empty in lines that list owners, in OwnerNotFound and OwnerKnownAbsent, and in Events
	Policy string          // of Deletes
	By     Role            // of Deletes: which controller; its name is in Text for RoleController
	Text   string          // of Deletes by another controller: why, or what it is; of NotWorking: what failed. Not escaped
}

// LineKind is what a line says.
type LineKind string

// What lines say. The words are those of Kubernetes 1.13 to 1.37.
const (
	Started           LineKind = "started"             // the garbage collector, or the process, started
	Syncs             LineKind = "syncs"               // the garbage collector has all types in its cache: it works
	NotWorking        LineKind = "not-working"         // the garbage collector could not look at some type, or at all
	Processes         LineKind = "processes"           // the collector looks at an object; before 1.20 perhaps at one that only a reference names
	OwnerNotFound     LineKind = "owner-not-found"     // a GET of an owner was answered with 404 or another UID
	OwnerKnownAbsent  LineKind = "owner-known-absent"  // the collector remembered that an owner is absent, and did not ask
	OwnerElsewhere    LineKind = "owner-elsewhere"     // an owner is in another namespace than its dependent; since 1.20
	OwnerInForeground LineKind = "owner-in-foreground" // the collector looks at a dependent because its owner, deleted with Foreground, waits for it
	OwnerWaits        LineKind = "owner-waits"         // an owner was deleted with Foreground and waits for its dependents; said of all of them, without its namespace
	Owned             LineKind = "owned"               // an object refers to this owner, which may be absent; nothing else is said
	OwnerExists       LineKind = "owner-exists"        // at least one owner is there: nothing is deleted. Owner is the dependent's, if the line has it
	Orphans           LineKind = "orphans"             // the collector removes the references to an object that was deleted with Orphan
	RemovesReference  LineKind = "removes-reference"   // the collector removes references to absent owners: one that exists remains. Owner is an absent one, if the line has it
	Deletes           LineKind = "deletes"             // a controller sends a DELETE, perhaps again
	Gone              LineKind = "gone"                // the collector's watch saw that an object is gone, whoever deleted it; since 1.20
)
