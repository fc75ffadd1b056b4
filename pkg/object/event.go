package object

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"
)

// ClusterEvent is an Event of the cluster about an object.
type ClusterEvent struct {
	Last    time.Time `json:"last"`  // last observed; zero if unknown
	Count   int       `json:"count"` // how often, at least 1
	Type    string    `json:"type"`  // Normal or Warning
	Reason  string    `json:"reason"`
	Source  string    `json:"source"`  // who reported it
	Message string    `json:"message"` // not escaped
	UID     string    `json:"uid"`     // of the object; may be empty
}

// Text returns what an Event said at a time, on one line.
func (e *ClusterEvent) Text(at time.Time) string {
	var parts []string
	if !e.Last.IsZero() {
		parts = append(parts, duration.HumanDuration(max(at.Sub(e.Last), 0))+" ago")
	}
	parts = append(parts, e.Type, e.Reason)
	if e.Source != "" {
		parts = append(parts, "from "+e.Source)
	}
	if e.Count > 1 {
		parts = append(parts, fmt.Sprintf("%d times", e.Count))
	}
	parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
	return strings.Join(parts, ", ") + ": " + e.Message
}
