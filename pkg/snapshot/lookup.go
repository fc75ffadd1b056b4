package snapshot

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// Coordinates locate one object for a GET. Namespace is empty for a cluster-scoped kind.
type Coordinates struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
}

// Compare orders coordinates like Identity.Compare.
func (c Coordinates) Compare(o Coordinates) int {
	return cmp.Or(
		strings.Compare(c.Kind, o.Kind),
		strings.Compare(c.Namespace, o.Namespace),
		strings.Compare(c.Name, o.Name),
		strings.Compare(c.APIVersion, o.APIVersion),
	)
}

// UniqueCoordinates removes duplicates and keeps the order. It reuses the slice.
func UniqueCoordinates(all []Coordinates) []Coordinates {
	seen := map[Coordinates]bool{}
	return slices.DeleteFunc(all, func(c Coordinates) bool {
		duplicate := seen[c]
		seen[c] = true
		return duplicate
	})
}

// Lookup is the result of one GET at a reference's own coordinates, for an owner that no
// list showed there (docs/gc-semantics.md#verdicts).
type Lookup struct {
	Coordinates
	Outcome Outcome        `json:"outcome"`
	Object  *object.Object `json:"object,omitempty"`  // if found
	Reason  ErrorClass     `json:"reason,omitempty"`  // if failed
	Message string         `json:"message,omitempty"` // if failed, unescaped
}

// Outcome is the outcome of a lookup.
type Outcome string

// Found and Absent are proof, Failed is not.
const (
	Found  Outcome = "found"
	Absent Outcome = "absent" // a 404 that names the object, of a type whose list succeeded
	Failed Outcome = "failed"
)
