// Package event defines the events that a run emits about its progress, and what it records of itself.
package event

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// Kind is the type of an event. Its values are part of the JSON contract.
type Kind string

// The kinds, in the order of a run.
const (
	Backup  Kind = "backup"  // manifests were backed up
	Started Kind = "started" // a step has started
	Waiting Kind = "waiting" // a step waits, usually for its object to be gone
	Ended   Kind = "ended"   // a step has ended
)

// Status tells how a step ended. Its values are part of the JSON contract.
type Status string

// The statuses.
const (
	Done    Status = "done"
	Skipped Status = "skipped" // not needed any more, or the collector would not do it any more
	Failed  Status = "failed"
)

// Result is how a step ended. It is empty for a step that has not ended, or is not part of the run.
type Result struct {
	Status Status
	Reason *reason.Reason // nil if the step was done as planned
}

// Event is an event of a run.
type Event struct {
	Event          Kind             `json:"event"`
	Step           string           `json:"step,omitempty"`   // ID in the plan; empty if the event is not about a step
	Action         string           `json:"action,omitempty"` // of the step
	Object         *object.Identity `json:"object,omitempty"` // of the step; nil if the event is not about a step
	Status         Status           `json:"status,omitempty"` // set if the step has ended
	*reason.Reason                  // nil if there is nothing to add to the status
}
