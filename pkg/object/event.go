package object

import "time"

// Event is an Event of the cluster about an object.
type Event struct {
	Last    time.Time `json:"last"`  // last observed; zero if unknown
	Count   int       `json:"count"` // how often, at least 1
	Type    string    `json:"type"`  // Normal or Warning
	Reason  string    `json:"reason"`
	Source  string    `json:"source"`  // who reported it
	Message string    `json:"message"` // not escaped
	UID     string    `json:"uid"`     // of the object; may be empty
}
