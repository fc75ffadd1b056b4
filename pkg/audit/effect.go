package audit

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// effect returns what the garbage collector does with the object because of its i-th
// reference.
func (o objectContext) effect(i int, c collector.Consequence) reason.Brief {
	switch c {
	case collector.ConsequenceDelete:
		return reason.DeletesObject
	case collector.ConsequenceUnlink:
		return reason.RemovesReference{OwnersLeft: o.assessment.ReferencesLeft}
	case collector.ConsequenceStuck:
		return o.cannotDecide(i)
	case collector.ConsequenceUnknown:
		return reason.EffectUnknown
	case collector.ConsequenceNone:
	}
	return reason.NoEffect{Terminating: o.object.Terminating()}
}

// cannotDecide returns which reference keeps the garbage collector from deciding, and what it
// would do without it: repairing that reference has this effect.
func (o objectContext) cannotDecide(i int) reason.CannotDecide {
	undecidable := o.assessment.UndecidableReference
	if undecidable == i {
		return reason.CannotDecide{}
	}
	owner := reason.NewOwner(o.object.Owners[undecidable], reason.Found{})
	out := reason.CannotDecide{Culprit: &owner}
	if o.judgements[i].Verdict == collector.VerdictDangling {
		out.Repaired = &reason.Nested{Reason: reason.DeletesObject}
		if o.assessment.ConsequenceIfDecidable() == collector.ConsequenceUnlink {
			out.Repaired.Reason = reason.RemovesReference{OwnersLeft: o.assessment.ReferencesLeft}
		}
	}
	return out
}
