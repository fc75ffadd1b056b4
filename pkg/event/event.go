package event

import (
	"encoding/json"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// Kind says what an event tells of. The words are part of the JSON contract.
type Kind string

// The kinds, in the order of a run.
const (
	Backup  Kind = "backup"  // manifests were saved
	Started Kind = "started" // a step is under way
	Waiting Kind = "waiting" // a step's object is not gone yet
	Ended   Kind = "ended"   // a step is over
)

// Status is how a step ended. The words are part of the JSON contract.
type Status string

// The statuses.
const (
	Done    Status = "done"
	Skipped Status = "skipped" // not needed any more, or no longer what the collector would do
	Failed  Status = "failed"
)

// Event is one thing that happened.
type Event struct {
	Event  Kind
	Step   string           // the plan's id of it; empty where it is about no step
	Action string           // the step's
	Object *object.Identity // the step's; nil where it is about no step
	Status Status           // of Ended
	Reason reason.Reason    // nil where the status says it all
}

// MarshalJSON implements json.Marshaler.
func (e Event) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Event  Kind             `json:"event"`
		Step   string           `json:"step,omitempty"`
		Action string           `json:"action,omitempty"`
		Object *object.Identity `json:"object,omitempty"`
		Status Status           `json:"status,omitempty"`
		*reason.Stored
	}{e.Event, e.Step, e.Action, e.Object, e.Status, reason.StoreOptional(e.Reason)})
}
