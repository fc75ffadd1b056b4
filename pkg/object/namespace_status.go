package object

import (
	"encoding/json"
	"slices"
	"unicode/utf8"
)

// NamespaceStatus is what a terminating Namespace says about its deletion besides its metadata.
type NamespaceStatus struct {
	// Conditions are those that the namespace controller sets, at most one of each type, in the
	// order of the constants. They are empty if that controller has reported nothing. They are
	// as old as its last attempt.
	Conditions []NamespaceCondition `json:"conditions"`
	// Finalizers are those of the spec, without the namespace controller's own.
	Finalizers []string `json:"finalizers,omitempty"`
	// Finalized reports that the namespace controller has removed its own finalizer, so that
	// no contents hold the Namespace any more.
	Finalized bool `json:"finalized,omitzero"`
}

// NamespaceCondition is a condition of a Namespace.
type NamespaceCondition struct {
	Type    string `json:"type"`
	True    bool   `json:"true,omitzero"`
	Message string `json:"message,omitempty"` // if it is true; the namespace controller's, cut to maxMessage bytes, unescaped
}

// The conditions that the namespace controller sets
// (docs/gc-semantics.md#conditions-of-a-terminating-namespace).
const (
	DiscoveryFailure    = "NamespaceDeletionDiscoveryFailure"
	GroupVersionFailure = "NamespaceDeletionGroupVersionParsingFailure"
	ContentFailure      = "NamespaceDeletionContentFailure"
	ContentRemaining    = "NamespaceContentRemaining"
	FinalizersRemaining = "NamespaceFinalizersRemaining"
)

var namespaceConditions = []string{DiscoveryFailure, GroupVersionFailure, ContentFailure, ContentRemaining, FinalizersRemaining}

// NamespaceFinalizer is the finalizer in the spec of every Namespace. The namespace controller
// removes it when the contents are gone.
const NamespaceFinalizer = "kubernetes"

// maxMessage limits what is kept of a condition's message, which names every type that fails.
const maxMessage = 1000

// NamespaceStatusOf returns the status of a terminating Namespace from its spec and status, and
// nil if they are malformed.
func NamespaceStatusOf(rawSpec, rawStatus json.RawMessage) *NamespaceStatus {
	var spec struct{ Finalizers []string }
	var status struct {
		Conditions []struct{ Type, Status, Message string }
	}
	if unmarshalOptional(rawSpec, &spec) != nil || unmarshalOptional(rawStatus, &status) != nil {
		return nil
	}
	out := &NamespaceStatus{Conditions: []NamespaceCondition{}, Finalized: rawSpec != nil && !slices.Contains(spec.Finalizers, NamespaceFinalizer)}
	for _, known := range namespaceConditions {
		for _, c := range status.Conditions {
			if c.Type != known {
				continue
			}
			added := NamespaceCondition{Type: known, True: c.Status == "True"}
			if added.True {
				added.Message = cut(c.Message)
			}
			out.Conditions = append(out.Conditions, added)
			break
		}
	}
	for _, f := range spec.Finalizers {
		if f != NamespaceFinalizer {
			out.Finalizers = append(out.Finalizers, f)
		}
	}
	return out
}

func unmarshalOptional(raw json.RawMessage, into any) error {
	if len(raw) == 0 {
		return nil
	}
	return json.Unmarshal(raw, into)
}

// cut returns the first maxMessage bytes of a message, without part of a character.
func cut(message string) string {
	if len(message) <= maxMessage {
		return message
	}
	end := maxMessage
	for end > 0 && !utf8.RuneStart(message[end]) {
		end--
	}
	return message[:end] + "…"
}

// True returns the conditions that are true.
func (s *NamespaceStatus) True() []NamespaceCondition {
	var out []NamespaceCondition
	for _, c := range s.Conditions {
		if c.True {
			out = append(out, c)
		}
	}
	return out
}

// Is reports whether the condition of that type is true.
func (s *NamespaceStatus) Is(condition string) bool {
	return slices.ContainsFunc(s.Conditions, func(c NamespaceCondition) bool { return c.Type == condition && c.True })
}

// Fails reports whether the namespace controller's last attempt to delete the contents failed.
func (s *NamespaceStatus) Fails() bool {
	return s.Is(DiscoveryFailure) || s.Is(GroupVersionFailure) || s.Is(ContentFailure)
}
