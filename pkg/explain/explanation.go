package explain

import (
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Explanation is what -o json prints: the answers about the objects that were
// asked for, in that order. Lists are empty, not nil, here and below.
type Explanation struct {
	Complete bool           `json:"complete"`
	Gaps     []snapshot.Gap `json:"gaps"`
	Answers  []*Answer      `json:"answers"`
}

// State is how an object was found. The words are part of the JSON contract.
type State string

// The states.
const (
	Alive       State = "alive"
	Terminating State = "terminating" // a DELETE was accepted, and it is still there
	Gone        State = "gone"        // there is no such object, or not any more
)

// Answer is what is to be said of one object. Sentences are unescaped.
type Answer struct {
	Object object.Identity `json:"object"` // of one that is gone, what is known of it
	State  State           `json:"state"`
	// Consequence is what the collector does with the object, all its references
	// together, until it has nothing left to do.
	Consequence  collector.Consequence `json:"consequence"`
	Headline     string                `json:"headline"`
	References   []Reference           `json:"references"` // in the order of the metadata
	Finalizers   []Finalizer           `json:"finalizers"` // in the order of the metadata
	Next         []string              `json:"next"`       // what happens next, and when
	WaitsFor     []Link                `json:"waitsFor"`   // each is what the one before waits for; the first, what the object does
	Cascade      *Cascade              `json:"cascade"`    // goes with the object, when it goes; nil where there is none
	Suggestions  []Remedy              `json:"suggestions"`
	ReferencedBy []Referrer            `json:"referencedBy"` // who still names one that is gone as an owner, or an earlier one of the name
	Events       []Event               `json:"events"`       // what the cluster's Events tell of it, the latest last
	Caveats      []string              `json:"caveats"`      // what weakens the answer
}

// Reference is one owner reference with what was found.
type Reference struct {
	audit.Reference
	Verdict     collector.Verdict     `json:"verdict"`
	Consequence collector.Consequence `json:"consequence"`    // for the object, because of this reference
	Rule        string                `json:"rule,omitempty"` // the audit's, that speaks of it
	Evidence    []string              `json:"evidence"`
	UIDHolder   *object.Identity      `json:"uidHolder,omitempty"`  // who bears the UID, wherever it lives
	NameHolder  *object.Identity      `json:"nameHolder,omitempty"` // who has the owner's name instead
}

// Finalizer is one finalizer, and the controller that removes it, as far as its name tells.
type Finalizer struct {
	Name       string `json:"name"`
	Controller string `json:"controller"`
}

// Link is an object that another waits for.
type Link struct {
	Object   object.Identity `json:"object"`
	Sentence string          `json:"sentence"` // what it is about the object, without naming it
}

// Cascade is what goes when an object goes, itself not counted.
type Cascade struct {
	Objects int               `json:"objects"`
	Kinds   []Kind            `json:"kinds"` // PersistentVolumeClaims among them even where there are none
	Claims  []object.Identity `json:"persistentVolumeClaims"`
}

// Kind counts the objects of one kind.
type Kind struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Objects    int    `json:"objects"`
}

// Remedy is something that would make another end of it.
type Remedy struct {
	Sentence string   `json:"sentence"`
	Command  []string `json:"command"` // its words, unquoted; empty where there is none
}

// Referrer is an object that names one that is gone.
type Referrer struct {
	Object    object.Identity `json:"object"`
	Reference audit.Reference `json:"reference"`
}

// EventHistory is what the cluster's Events tell of an object.
type EventHistory struct {
	Events []Event // in any order
	Unread string  // why they could not be read; empty where they were
}

// Event is what an Event of the cluster says.
type Event struct {
	Last    time.Time `json:"last"`
	Count   int       `json:"count"` // how often, at least 1
	Type    string    `json:"type"`  // Normal or Warning
	Reason  string    `json:"reason"`
	Source  string    `json:"source"` // who reported it
	Message string    `json:"message"`
	UID     string    `json:"uid"` // of the object it is about; may be empty
}
