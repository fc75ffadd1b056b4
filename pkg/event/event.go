package event

import "github.com/kubectl-gc/kubectl-gc/pkg/object"

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
	Event   Kind             `json:"event"`
	Step    string           `json:"step,omitempty"`   // the plan's id of it; empty where it is about no step
	Action  string           `json:"action,omitempty"` // the step's
	Object  *object.Identity `json:"object,omitempty"` // the step's; nil where it is about no step
	Status  Status           `json:"status,omitempty"` // of Ended
	Message string           `json:"message,omitempty"`
}
