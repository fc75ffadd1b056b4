package trace

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Evidence is everything that is known about what happened. Each part may be empty.
type Evidence struct {
	Requests []Request // in any order
	Lines    []Line    // in any order
	Before   *snapshot.Snapshot
}

// Span is the time from the first to the last of what was seen; zero if nothing was.
type Span struct{ First, Last time.Time }

// Cover extends the span to some times. A time that is zero is unknown.
func (s *Span) Cover(times ...time.Time) {
	for _, t := range times {
		if t.IsZero() {
			continue
		}
		if s.First.IsZero() || t.Before(s.First) {
			s.First = t
		}
		if t.After(s.Last) {
			s.Last = t
		}
	}
}

// Request is a write that an API server answered with success, as its audit log has it: not a dry
// run, and one stage only (ResponseComplete).
type Request struct {
	Received time.Time // by the clock of the API server that wrote the log
	Answered time.Time
	User     User
	Verb     string // create, update, patch, delete or deletecollection
	Target   Target
	Code     int // of the answer
	// Options are those of a deletion; nil if the log does not have them: below level Request, since
	// options in the URL count only if the request has no body.
	Options *DeleteOptions
	// Objects are those in the answer, or else in the request, if the level shows them.
	Objects []Seen
}

// User is who sent a request, as the API server authenticated it. All text is untrusted.
type User struct {
	Name         string
	Groups       []string
	Impersonator string   // who acted as this user; usually empty
	Agent        string   // User-Agent, which the client chose
	Addresses    []string // sourceIPs, of the client and of proxies
}

// Target is what a request names. Name is empty for a collection and for a generated name.
type Target struct {
	Group, Version, Resource, Subresource string
	Namespace, Name                       string
	UID                                   types.UID // empty if the log does not have it
	LabelSelector, FieldSelector          string    // of a collection
}

// DeleteOptions are the options of a deletion that decide what it takes along.
type DeleteOptions struct {
	Policy          string // propagationPolicy; empty if the request has none: the type's default
	UID             types.UID
	ResourceVersion string
	GraceSeconds    *int64
}

// Seen is the metadata of an object as a log has it. Kind is empty if the answer is metadata only.
type Seen struct {
	object.Object
	// Whole tells where the whole object is in the log; nil if the log does not have all of it.
	Whole *Place
}

// Place is a line of a log.
type Place struct {
	File   string `json:"file"`
	Offset int64  `json:"offset"` // bytes, of the uncompressed text
}

// Line is what a line of kube-controller-manager's log says about its garbage collector.
type Line struct {
	Time   time.Time
	Says   LineKind
	Object object.Identity // whom it is about; empty for Started
	Owner  object.Identity // of lines about an owner; its namespace is empty in OwnerNotFound, OwnerKnownAbsent and OwnerWaits
	Policy string          // of Deletes
}

// LineKind is what a line says.
type LineKind string

// What lines say. The words are those of Kubernetes 1.13 to 1.37.
const (
	Started           LineKind = "started"             // the garbage collector, or the process, started
	Processes         LineKind = "processes"           // the collector looks at an object; before 1.20 perhaps at one that only a reference names
	OwnerNotFound     LineKind = "owner-not-found"     // a GET of an owner was answered with 404 or another UID
	OwnerKnownAbsent  LineKind = "owner-known-absent"  // the collector remembered that an owner is absent, and did not ask
	OwnerElsewhere    LineKind = "owner-elsewhere"     // an owner is in another namespace than its dependent; since 1.20
	OwnerInForeground LineKind = "owner-in-foreground" // the collector looks at a dependent because its owner, deleted with Foreground, waits for it
	OwnerWaits        LineKind = "owner-waits"         // an owner was deleted with Foreground and waits for its dependents; said of all of them, without its namespace
	RemovesReference  LineKind = "removes-reference"   // the collector removes references to absent owners: one that exists remains
	Deletes           LineKind = "deletes"             // the collector sends a DELETE, perhaps again
	Gone              LineKind = "gone"                // the collector's watch saw that an object is gone, whoever deleted it; since 1.20
)
