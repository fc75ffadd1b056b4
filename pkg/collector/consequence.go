package collector

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// Consequence is what the collector does with an object because of one of its
// references. The words are part of the JSON contract.
type Consequence string

// The consequences.
const (
	Delete Consequence = "delete"  // the object is deleted
	Unlink Consequence = "unlink"  // the reference is dropped, the object stays
	None   Consequence = "none"    // nothing comes of it
	Stuck  Consequence = "stuck"   // the collector can never decide
	Hidden Consequence = "unknown" // what it does cannot be told from here
)

// ConsequenceOf answers what the collector does with o because of its i-th
// reference, given the judgements of all of them (gc-semantics 4, rows a and
// e to j).
//
// A terminating object is not judged any more (row a). One reference that
// cannot be resolved keeps the whole object from being judged (3.1, row f), so
// a dangling one beside it has no effect either. A solid owner keeps the object
// and loses it the other references (rows g and h); without one it goes.
func ConsequenceOf(o *object.Object, all []Judgement, i int) Consequence {
	if o.Terminating() {
		return None
	}
	var solid, never, unknown bool
	for _, j := range all {
		switch j.Verdict {
		case Solid:
			solid = true
		case Unresolvable, ScopeError:
			never = true
		case Unknown:
			unknown = true
		case Dangling, Waiting:
		}
	}
	switch {
	case all[i].Verdict == Solid:
		return None
	case all[i].Verdict == Unknown:
		return Hidden
	case never:
		return Stuck
	case unknown:
		return Hidden
	case solid:
		return Unlink
	default:
		return Delete
	}
}
