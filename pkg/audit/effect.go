package audit

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// effect returns what the collector does with the object because of its i-th reference.
func (s objectContext) effect(i int, c collector.Consequence) reason.Brief {
	switch c {
	case collector.ConsequenceDelete:
		return reason.DeletesObject{}
	case collector.ConsequenceUnlink:
		return reason.RemovesReference{OwnersLeft: s.assessment.Left}
	case collector.ConsequenceStuck:
		return s.cannotDecide(i)
	case collector.ConsequenceUnknown:
		return reason.EffectUnknown{}
	case collector.ConsequenceNone:
	}
	return reason.NoEffect{Terminating: s.object.Terminating()}
}

// cannotDecide names what keeps the collector from deciding, and what it would do
// without: whoever repairs the one should know of the other.
func (s objectContext) cannotDecide(i int) reason.CannotDecide {
	culprit := s.assessment.UndecidableReference
	if culprit == i {
		return reason.CannotDecide{}
	}
	owner := reason.NewOwner(s.object.Owners[culprit], reason.Found{})
	out := reason.CannotDecide{Culprit: &owner}
	if s.judgements[i].Verdict == collector.Dangling {
		out.Repaired = &reason.Nested{Reason: reason.DeletesObject{}}
		if s.assessment.Consequence() == collector.ConsequenceUnlink {
			out.Repaired.Reason = reason.RemovesReference{OwnersLeft: s.assessment.Left}
		}
	}
	return out
}
