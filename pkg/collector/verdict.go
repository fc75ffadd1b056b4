package collector

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Verdict classifies one owner reference (docs/gc-semantics.md#verdicts). The values are
// part of the JSON contract.
type Verdict string

// If any reference has one of the last three, the collector leaves the whole object
// alone (docs/gc-semantics.md#one-error-keeps-the-object).
const (
	Solid        Verdict = "solid"        // the owner exists
	Dangling     Verdict = "dangling"     // the owner does not exist
	Waiting      Verdict = "waiting"      // the owner waits for its dependents (foreground deletion)
	Unresolvable Verdict = "unresolvable" // nothing is served for the kind
	ScopeError   Verdict = "scope-error"  // a cluster-scoped dependent names a namespaced kind
	Unknown      Verdict = "unknown"      // not proven either way
)

// IsBad reports whether a dependent with a solid owner loses references with this
// verdict.
func (v Verdict) IsBad() bool { return v == Dangling || v == Waiting }

// VerdictCause explains a verdict other than solid. Each cause has an audit rule.
type VerdictCause int

// Where several causes fit, the first one is given.
const (
	NoCause VerdictCause = iota
	Unverified
	ClusterToNamespaced
	UnservedVersion
	UnknownKind
	CrossNamespace
	Mismatched
	Replaced
	Missing
	Terminating
)

// Judgement is the verdict on one reference with its evidence.
type Judgement struct {
	Verdict Verdict
	Cause   VerdictCause

	// Mapping is the resource that the reference's kind maps to, or the zero value.
	Mapping snapshot.Mapping
	// Holder is the object with the reference's UID, wherever it is, or nil.
	Holder *object.Object
	// Resident is the object at the reference's coordinates if it has another UID, or
	// nil.
	Resident *object.Object
	// Served are the versions that the API server serves for the kind, preferred first,
	// if it does not serve the reference's own version.
	Served []string
	// Gap or Lookup kept the owner from being verified. Both are nil unless Verdict is
	// unknown, and both are nil if the owner was not looked up.
	Gap    *snapshot.Gap
	Lookup *snapshot.Lookup
}

// Verdicts returns the verdicts of the judgements.
func Verdicts(judgements []Judgement) []Verdict {
	out := make([]Verdict, len(judgements))
	for i, j := range judgements {
		out[i] = j.Verdict
	}
	return out
}

// Withheld reports whether the collector considers the owner absent only because the
// reference names a list kind such as PodList, for which there is no resource. This
// program takes that for a mistake and deletes nothing because of it
// (docs/gc-semantics.md#kind-spelling).
func (j Judgement) Withheld() bool {
	return j.Verdict == Dangling && j.Mapping.Spelling == snapshot.ListKind
}

// Bad reports whether the reference does not lead to an owner that could be verified.
func (j Judgement) Bad() bool { return j.Cause != NoCause && j.Cause != Terminating }

// Unmonitored reports whether the collector does not watch the owner's kind, and
// therefore polls the owner (docs/gc-semantics.md#virtual-owners).
func (j Judgement) Unmonitored() bool {
	t := j.Mapping.Type
	t.Preferred = true // a served version that is not preferred leads to the same objects
	return j.Mapping.Served && t.Resource != "" && !t.Monitored()
}
