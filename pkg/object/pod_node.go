package object

import (
	"encoding/json"
	"time"
)

// PodNode is the Node of a Pod, as far as it could be read. Its state is read if the Pod is past its
// grace period.
type PodNode struct {
	Name  string    `json:"name"`
	State NodeState `json:"state"`
	Since time.Time `json:"since,omitzero"` // when it became not ready; zero if unknown
}

// NodeState is the state of a Node. The values are part of the JSON contract.
type NodeState string

// The states of a Node.
const (
	NodeAbsent   NodeState = "absent"    // proven not to exist
	NodeNotReady NodeState = "not-ready" // its condition Ready is False or Unknown
	NodeReady    NodeState = "ready"
	NodeUnknown  NodeState = "unknown" // not read, or without a condition Ready
)

// NodeStateOf returns the state of an existing Node from its status, and since when it is not
// ready.
func NodeStateOf(rawStatus json.RawMessage) (NodeState, time.Time) {
	var status struct {
		Conditions []struct {
			Type, Status       string
			LastTransitionTime *time.Time
		}
	}
	if unmarshalOptional(rawStatus, &status) != nil {
		return NodeUnknown, time.Time{}
	}
	for _, c := range status.Conditions {
		switch {
		case c.Type != "Ready":
		case c.Status == "True":
			return NodeReady, time.Time{}
		case c.Status == "False" || c.Status == "Unknown":
			if t := c.LastTransitionTime; t != nil && t.UTC().Year() > 0 && t.UTC().Year() <= 9999 {
				return NodeNotReady, t.UTC()
			}
			return NodeNotReady, time.Time{}
		}
	}
	return NodeUnknown, time.Time{}
}

// PodNodeOf returns the Node of a Pod from the Pod's spec, in an unknown state, and nil if it has
// none or the spec is malformed.
func PodNodeOf(rawSpec json.RawMessage) *PodNode {
	var spec struct{ NodeName string }
	if unmarshalOptional(rawSpec, &spec) != nil || spec.NodeName == "" {
		return nil
	}
	return &PodNode{Name: spec.NodeName, State: NodeUnknown}
}
