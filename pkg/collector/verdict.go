package collector

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Verdict classifies one owner reference (docs/gc-semantics.md#verdicts). The values are
// part of the JSON contract.
type Verdict string

// If any reference has one of the last three, the collector leaves the whole object
// alone (docs/gc-semantics.md#one-error-keeps-the-object).
const (
	VerdictSolid        Verdict = "solid"        // the owner exists
	VerdictDangling     Verdict = "dangling"     // the owner does not exist
	VerdictWaiting      Verdict = "waiting"      // the owner waits for its dependents (foreground deletion)
	VerdictUnresolvable Verdict = "unresolvable" // nothing is served for the kind
	VerdictScopeError   Verdict = "scope-error"  // a cluster-scoped dependent names a namespaced kind
	VerdictUnknown      Verdict = "unknown"      // not proven either way
)

// IsDanglingOrWaiting reports whether a dependent with a solid owner loses references with this
// verdict.
func (v Verdict) IsDanglingOrWaiting() bool { return v == VerdictDangling || v == VerdictWaiting }

// Decidable reports whether it is known if the owner exists.
func (v Verdict) Decidable() bool { return v.OwnerExists() || v == VerdictDangling }

// OwnerExists reports whether a reference with this verdict leads to its owner.
func (v Verdict) OwnerExists() bool { return v == VerdictSolid || v == VerdictWaiting }

// Cause explains a verdict other than solid. Its value is the id of the audit rule that reports it.
type Cause string

// Where several causes fit, the first one is given.
const (
	CauseNone                Cause = ""
	CauseUnverified          Cause = "unverified-owner"
	CauseClusterToNamespaced Cause = "cluster-to-namespaced-owner"
	CauseUnservedVersion     Cause = "unserved-owner-version"
	CauseUnknownKind         Cause = "unknown-owner-kind"
	CauseCrossNamespace      Cause = "cross-namespace-owner"
	CauseMismatched          Cause = "mismatched-owner"
	CauseReplaced            Cause = "replaced-owner"
	CauseMissing             Cause = "missing-owner"
	CauseTerminating         Cause = "terminating-owner"
)

// Judgement is the verdict on one reference with its evidence.
type Judgement struct {
	Verdict Verdict
	Cause   Cause

	// Mapping is the resource that the reference's kind maps to, or the zero value.
	Mapping snapshot.Mapping
	// UIDHolder is the object with the reference's UID, wherever it is, or nil.
	UIDHolder *object.Object
	// NameHolder is the object at the reference's coordinates if it has another UID, or
	// nil.
	NameHolder *object.Object
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

// NamesListKind reports whether the collector considers the owner absent only because the
// reference names a list kind such as PodList, for which there is no resource. This
// program takes that for a mistake and deletes nothing because of it
// (docs/gc-semantics.md#kind-spelling).
func (j Judgement) NamesListKind() bool {
	return j.Verdict == VerdictDangling && j.Mapping.Spelling == reason.KindOfList
}

// Broken reports whether the reference does not lead to an owner that could be verified.
func (j Judgement) Broken() bool { return j.Cause != CauseNone && j.Cause != CauseTerminating }

// Unmonitored reports whether the collector does not watch the owner's kind, and
// therefore polls the owner (docs/gc-semantics.md#virtual-owners).
func (j Judgement) Unmonitored() bool {
	return j.Mapping.Served && j.Mapping.Type.Resource != "" && !j.Mapping.Type.Watched()
}

// NamesOutdatedVersion reports whether the reference is solid and names a version of the owner's
// kind that is served, but not preferred.
func (j Judgement) NamesOutdatedVersion() bool {
	return j.Verdict == VerdictSolid && j.Mapping.Served && j.Mapping.Spelling == reason.ExactSpelling && j.Mapping.Type.Resource != "" && !j.Mapping.Type.Preferred
}

// Owner returns the owner that r names, with what the judgement found.
func (j Judgement) Owner(r object.Reference) reason.Owner {
	return reason.NewOwner(r, j.Found())
}

// Found returns what the judgement found about the owner.
func (j Judgement) Found() reason.Found {
	out := reason.Found{State: j.ownerState(), ServedVersions: j.Served}
	if j.UIDHolder != nil && j.Cause != CauseNone {
		out.UIDHolder = &j.UIDHolder.Identity
	}
	if j.NameHolder != nil {
		out.NameHolder = &j.NameHolder.Identity
	}
	return out
}

func (j Judgement) ownerState() reason.OwnerState {
	if j.NamesListKind() {
		return reason.StateKindIsList
	}
	return ownerStates[j.Cause]
}

var ownerStates = map[Cause]reason.OwnerState{
	CauseNone:                reason.StateExists,
	CauseUnverified:          reason.StateUnverified,
	CauseClusterToNamespaced: reason.StateNamespaced,
	CauseUnservedVersion:     reason.StateVersionNotServed,
	CauseUnknownKind:         reason.StateKindUnknown,
	CauseCrossNamespace:      reason.StateInOtherNamespace,
	CauseMismatched:          reason.StateMismatched,
	CauseReplaced:            reason.StateReplaced,
	CauseMissing:             reason.StateMissing,
	CauseTerminating:         reason.StateWaiting,
}

// Unverified returns why the owner could not be verified. The cause must be
// CauseUnverified.
func (j Judgement) Unverified(r object.Reference) reason.OwnerUnverified {
	out := reason.OwnerUnverified{Owner: j.Owner(r)}
	switch {
	case j.Gap != nil:
		gap := j.Gap.Parameter()
		out.Gap = &gap
	case j.Lookup != nil:
		out.ErrorClass, out.Detail = string(j.Lookup.Reason), j.Lookup.Message
	}
	return out
}
