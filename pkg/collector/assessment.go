package collector

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// Consequence is what the collector does with an object because of one of its
// references. The values are part of the JSON contract.
type Consequence string

const (
	ConsequenceDelete  Consequence = "delete"  // the object is deleted
	ConsequenceUnlink  Consequence = "unlink"  // the reference is removed, the object stays
	ConsequenceNone    Consequence = "none"    // the reference has no effect
	ConsequenceStuck   Consequence = "stuck"   // the collector cannot resolve an owner, and leaves the object alone
	ConsequenceUnknown Consequence = "unknown" // the snapshot does not show enough to tell
)

// Assessment sums up the verdicts on all references of an object
// (docs/gc-semantics.md#decision).
type Assessment struct {
	// UndecidableReference is the first reference that the collector cannot resolve, or
	// -1. It keeps the collector from processing the object at all.
	UndecidableReference int
	// ReferencesLeft counts the solid references that stay. The collector removes references by
	// UID, so a solid one goes if another with its UID is dangling
	// (docs/gc-semantics.md#removing-references).
	ReferencesLeft int

	terminating, unknown bool
	solid                int
	bad                  map[types.UID]bool // the owners that are absent or waiting; nil if there are none
	unverified           map[types.UID]bool // the owners that are neither known to exist nor to be absent; nil if there are none
}

// Assess returns the assessment of an object. There is one verdict per reference.
func Assess(o *object.Object, verdicts []Verdict) Assessment {
	a := Assessment{UndecidableReference: -1, terminating: o.Terminating(), unknown: o.Contested}
	for i, v := range verdicts {
		switch v {
		case VerdictSolid:
			a.solid++
		case VerdictUnresolvable, VerdictScopeError:
			if a.UndecidableReference < 0 {
				a.UndecidableReference = i
			}
		case VerdictUnknown:
			a.unknown = true
			if a.unverified == nil {
				a.unverified = map[types.UID]bool{}
			}
			a.unverified[o.Owners[i].UID] = true
		case VerdictDangling, VerdictWaiting:
			if a.bad == nil {
				a.bad = map[types.UID]bool{}
			}
			a.bad[o.Owners[i].UID] = true
		}
	}
	for i, v := range verdicts {
		if v == VerdictSolid && !a.bad[o.Owners[i].UID] {
			a.ReferencesLeft++
		}
	}
	return a
}

// ConsequenceFor returns what the collector does with the object because of a reference with
// that UID and verdict v. The collector may remove a solid reference together with another that
// has its UID, if that one is not verified, or bad while the rest of the object is not verified.
//
// The collector skips a terminating object, and an object with a reference that it
// cannot resolve (docs/gc-semantics.md#one-error-keeps-the-object), whatever the other
// references are.
func (a Assessment) ConsequenceFor(uid types.UID, v Verdict) Consequence {
	switch {
	case a.terminating, v == VerdictSolid && (a.UndecidableReference >= 0 || !a.unverified[uid] && !(a.unknown && a.bad[uid])):
		return ConsequenceNone
	case a.UndecidableReference >= 0:
		return ConsequenceStuck
	case a.unknown:
		return ConsequenceUnknown
	}
	return a.ConsequenceIfDecidable()
}

// ConsequenceIfDecidable returns the effect of a dangling or waiting reference, assuming that every
// reference can be resolved.
func (a Assessment) ConsequenceIfDecidable() Consequence {
	if a.solid > 0 {
		return ConsequenceUnlink
	}
	return ConsequenceDelete
}

// IsBad reports whether an owner with this UID is absent or waiting, as one of the references names
// it.
func (a Assessment) IsBad(uid types.UID) bool { return a.bad[uid] }

// Unlinks reports whether the collector removes the references with this UID, solid ones
// included (docs/gc-semantics.md#removing-references).
func (a Assessment) Unlinks(uid types.UID) bool {
	return a.bad[uid] && a.ConsequenceFor(uid, VerdictDangling) == ConsequenceUnlink
}

// UnlinkRejected reports whether the API server rejects the collector's patch that removes
// references: see UpdateRejected.
func (a Assessment) UnlinkRejected(o *object.Object) bool {
	drop := indices(o.Owners, func(_ int, r object.Reference) bool { return a.Unlinks(r.UID) })
	if len(drop) == 0 {
		return false
	}
	left := object.Change{Drop: drop}.Apply(*o)
	return UpdateRejected(&left)
}
