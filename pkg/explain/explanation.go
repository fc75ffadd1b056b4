package explain

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	"github.com/kubectl-gc/kubectl-gc/pkg/terminating"
)

// Explanation is what -o json prints: an answer for each requested object, in that order.
// Lists are empty, not nil, here and below.
type Explanation struct {
	Complete bool           `json:"complete"`
	Gaps     []snapshot.Gap `json:"gaps"`
	Answers  []*Answer      `json:"answers"`
}

// Existence says whether an object exists. The values are part of the JSON contract.
type Existence string

// The states.
const (
	Alive       Existence = "alive"
	Terminating Existence = "terminating" // deleted, but still there
	Gone        Existence = "gone"        // not there
	Unreadable  Existence = "unreadable"  // there, but the API server cannot decrypt or decode it
)

// Answer explains one object. Its sentences are not escaped.
type Answer struct {
	Object object.Identity `json:"object"` // if it is gone, what is known of it
	State  Existence       `json:"state"`
	// Consequence is what the garbage collector does with the object because of all its
	// references together.
	Consequence collector.Consequence `json:"consequence"`
	Headline    string                `json:"headline"`
	// Nondeterministic is why the order of events decides whether the consequence comes about;
	// it is nil if it does not.
	Nondeterministic *reason.Reason        `json:"nondeterministic,omitzero"`
	References       []ExplainedReference  `json:"references"` // in the order of the metadata
	Finalizers       []Finalizer           `json:"finalizers"` // in the order of the metadata
	Conditions       []Condition           `json:"conditions"` // while it is being deleted: those that are not as they should be
	Next             []string              `json:"next"`       // what happens next
	WaitsFor         []Link                `json:"waitsFor"`   // each waits for the next; the object waits for the first
	Cascade          *Cascade              `json:"cascade"`    // nil if the object is gone, or only its deletion is explained and there is none
	Suggestions      []reason.Suggestion   `json:"suggestions"`
	ManagedBy        *reason.Reason        `json:"managedBy,omitzero"` // who may recreate the object; nil if unknown
	DeletedBy        *reason.Reason        `json:"deletedBy,omitzero"` // what else deletes or has deleted the object, and when; nil if that is unknown
	ReferencedBy     []Referrer            `json:"referencedBy"`       // references to an object that is gone, or to an earlier one of this name
	Events           []object.ClusterEvent `json:"events"`             // the latest last
	Caveats          []string              `json:"caveats"`            // what weakens the answer, and what cannot be undone
}

// ExplainedReference is an owner reference with its verdict.
type ExplainedReference struct {
	object.Reference
	Verdict     collector.Verdict     `json:"verdict"`
	Consequence collector.Consequence `json:"consequence"`    // for the object, because of this reference
	Rule        string                `json:"rule,omitempty"` // the audit rule that reports it
	Evidence    []string              `json:"evidence"`
	UIDHolder   *object.Identity      `json:"uidHolder,omitempty"`  // the object that has the UID, wherever it is
	NameHolder  *object.Identity      `json:"nameHolder,omitempty"` // the object that has the owner's name and another UID
	WrittenBy   []object.Write        `json:"writtenBy"`            // the latest last; empty if unknown
}

// Finalizer is a finalizer, and who has written and removes it. Traces are only of an object that is being deleted.
type Finalizer struct {
	terminating.Finalizer

	WrittenBy []object.Write `json:"writtenBy"` // the latest last; empty if unknown
}

// Condition is a condition of an object that is being deleted.
type Condition struct {
	object.StatusCondition
	Meaning string `json:"meaning,omitempty"` // a clause; empty for conditions of other kinds than Namespace
}

// Link is an object that another waits for.
type Link struct {
	Object   object.Identity `json:"object"`
	Sentence string          `json:"sentence"` // about the object, without its name
}

// Cascade is what is deleted with an object, itself not counted.
type Cascade struct {
	Objects int         `json:"objects"`
	Kinds   []KindCount `json:"kinds"` // always with PersistentVolumeClaim
	Claims  []Claim     `json:"persistentVolumeClaims"`
	// ClaimsUnread reports that there may be more PersistentVolumeClaims: not all could be read.
	ClaimsUnread bool `json:"claimsUnread,omitzero"`
	// Unseen is what a controller deletes besides, though no owner reference says so: "Argo CD deletes
	// what the application deployed". It is empty if that is unknown.
	Unseen string `json:"unseen,omitempty"`
}

// Claim is a PersistentVolumeClaim that is deleted with an object.
type Claim struct {
	object.Identity
	Data *simulate.Data `json:"data"`
}

// KindCount counts the objects of one kind.
type KindCount struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Objects    int    `json:"objects"`
}

// Referrer is an object with a reference to one that is gone.
type Referrer struct {
	Object    object.Identity  `json:"object"`
	Reference object.Reference `json:"reference"`
}

// EventHistory is what the cluster's Events report about an object.
type EventHistory struct {
	Events []object.ClusterEvent // in any order
	Unread string                // why they could not be read; empty if they were
}
