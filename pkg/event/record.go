package event

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// Saved is an object whose manifest a run has backed up.
type Saved struct {
	Object          object.Identity `json:"object"`
	ResourceVersion string          `json:"resourceVersion"`
	SHA256          string          `json:"sha256"` // of the manifest, in hexadecimal
	Length          int64           `json:"-"`      // of the manifest in bytes
	Offset          int64           `json:"-"`      // of the manifest in its file
}

// Step is a step of the plan, as its run records it.
type Step struct {
	ID        string          `json:"step"` // in the plan
	Action    string          `json:"action"`
	Requested bool            `json:"requested,omitempty"` // a person asked for it
	Object    object.Identity `json:"object"`
	Why       string          `json:"why"` // prose, shortened
	// References are those that the step removes or changes. Those of a deleted object are in its manifest.
	References []ReferenceChange `json:"references,omitempty"`
}

// ReferenceChange is what a step does to an owner reference.
type ReferenceChange struct {
	Before object.Reference  `json:"before"`
	After  *object.Reference `json:"after,omitempty"` // nil if it is removed, or no longer blocks
}

// Record is how a step ended, as its run or restoration records it, and as controller logs it.
type Record struct {
	Step   string          `json:"step,omitempty"` // its ID in the plan; empty where plans differ: in a restoration and of controller
	Action string          `json:"action"`
	Object object.Identity `json:"object"`        // as it was backed up
	UID    types.UID       `json:"uid,omitempty"` // of an object that a restoration has created
	Status Status          `json:"status"`
	*reason.Reason
	Time time.Time `json:"time,omitzero"`
}

// Record returns the record of a step that has ended at that time.
func (e Event) Record(at time.Time) Record {
	return Record{Step: e.Step, Action: e.Action, Object: *e.Object, Status: e.Status, Reason: e.Reason, Time: at.UTC()}
}
