package snapshot

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// Coordinates are where one GET asks. Namespace is empty for a cluster-scoped kind.
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

// Unique keeps the first of each, in the place that they are in.
func Unique(all []Coordinates) []Coordinates {
	seen := map[Coordinates]bool{}
	return slices.DeleteFunc(all, func(c Coordinates) bool {
		known := seen[c]
		seen[c] = true
		return known
	})
}

// Lookup is the answer of one GET by a reference's own coordinates: the
// evidence for an owner that no list showed there (docs/gc-semantics.md#verdicts).
type Lookup struct {
	Coordinates
	Outcome Outcome        `json:"outcome"`
	Object  *object.Object `json:"object,omitempty"`  // what lives there, when found
	Reason  ErrorClass     `json:"reason,omitempty"`  // when failed
	Message string         `json:"message,omitempty"` // when failed, unescaped
}

// Outcome is how a lookup ended.
type Outcome string

// Found and Absent are proof; Failed proves nothing.
const (
	Found  Outcome = "found"
	Absent Outcome = "absent" // a 404 that names the object, of a type whose list succeeded
	Failed Outcome = "failed"
)
