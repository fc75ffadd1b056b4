package collector

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// Consequence is what the collector does with an object because of one of its
// references. The words are part of the JSON contract.
type Consequence string

// The consequences.
const (
	ConsequenceDelete  Consequence = "delete"  // the object is deleted
	ConsequenceUnlink  Consequence = "unlink"  // the reference is dropped, the object stays
	ConsequenceNone    Consequence = "none"    // nothing comes of it
	ConsequenceStuck   Consequence = "stuck"   // the collector cannot decide, as long as things are so
	ConsequenceUnknown Consequence = "unknown" // what it does cannot be told from here
)

// Assessment is what the collector makes of an object, all its references together
// (docs/gc-semantics.md#decision).
type Assessment struct {
	// UndecidableReference is the first reference that keeps the collector from judging the
	// object at all, or -1.
	UndecidableReference int
	// Left counts the references that hold and stay. The collector drops
	// references by UID, so a good one goes with its bad double
	// (docs/gc-semantics.md#removing-references).
	Left int

	terminating, unknown bool
	solid                int
	bad                  map[types.UID]bool // nil where every owner holds
}

// Assess takes an object's verdicts together; there is one per reference.
func Assess(o *object.Object, verdicts []Verdict) Assessment {
	w := Assessment{UndecidableReference: -1, terminating: o.Terminating(), unknown: o.Contested}
	for i, v := range verdicts {
		switch v {
		case Solid:
			w.solid++
		case Unresolvable, ScopeError:
			if w.UndecidableReference < 0 {
				w.UndecidableReference = i
			}
		case Unknown:
			w.unknown = true
		case Dangling, Waiting:
			if w.bad == nil {
				w.bad = map[types.UID]bool{}
			}
			w.bad[o.Owners[i].UID] = true
		}
	}
	for i, v := range verdicts {
		if v == Solid && !w.bad[o.Owners[i].UID] {
			w.Left++
		}
	}
	return w
}

// Of answers what the collector does with the object because of a reference of
// that verdict.
//
// A terminating object is not judged any more. One reference that cannot be
// resolved keeps the whole object from being judged
// (docs/gc-semantics.md#one-error-keeps-the-object), so a dangling one beside
// it has no effect. A solid owner keeps the object and loses it the other
// references; without one it goes.
func (w Assessment) Of(v Verdict) Consequence {
	switch {
	case w.terminating, v == Solid:
		return ConsequenceNone
	case w.UndecidableReference >= 0:
		return ConsequenceStuck
	case w.unknown:
		return ConsequenceUnknown
	}
	return w.Consequence()
}

// Drops says whether the collector drops the references with that UID, bad ones
// and good ones (docs/gc-semantics.md#removing-references).
func (w Assessment) Drops(uid types.UID) bool {
	return w.bad[uid] && w.Of(Dangling) == ConsequenceUnlink
}

// Refused says whether the collector will try to drop references of the object
// and be refused. An update that leaves two controllers fails validation, the
// collector's too; one that leaves a single one passes, whatever was stored
// before (docs/gc-semantics.md#metadata-validation).
func (w Assessment) Refused(o *object.Object) bool {
	drops, controllers := false, 0
	for _, r := range o.Owners {
		dropped := w.Drops(r.UID)
		drops = drops || dropped
		if r.Controls() && !dropped {
			controllers++
		}
	}
	return drops && controllers > 1
}

// Consequence is what would become of a bad reference, or of the object because of
// it, if every reference could be judged.
func (w Assessment) Consequence() Consequence {
	if w.solid > 0 {
		return ConsequenceUnlink
	}
	return ConsequenceDelete
}
