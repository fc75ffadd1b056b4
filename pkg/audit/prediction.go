package audit

import (
	"slices"
	"sync"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
)

// predict corrects the consequences of findings where an object's references alone do not decide
// them: an owner orphans the object, the collector has no reason to process it, or the order of
// events decides. It simulates only if a finding needs it.
func (r *ruleContext) predict(report *Report) {
	var of uncertainty
	for i := range report.Findings {
		f := &report.Findings[i]
		blocked := f.Rule == blockedDeletion.ID && !f.Idle && f.Consequence != collector.ConsequenceUnknown
		outOfScope := f.Verdict == collector.VerdictScopeError
		if !blocked && !outOfScope && !removesObjectOrReference(f) && !f.RepeatsBad && !r.decidableSoon(f) {
			continue
		}
		possible := r.possible()
		switch n := r.graph.Find(f.Object.UID); {
		case outOfScope && !blocked:
			if possible.Nondeterministic(n) {
				f.Nondeterministic = possible.Reason(n)
			}
		case !blocked:
			if n != of.node || of.why == nil {
				of = r.uncertaintyOf(possible, n)
			}
			r.predictFinding(f, possible, of)
		case possible.Vanishes(n) == simulate.Perhaps:
			f.Nondeterministic = possible.Reason(n)
		}
	}
}

// removesObjectOrReference reports whether the collector deletes the object of a finding about a
// reference or removes the reference, as far as the references alone tell.
func removesObjectOrReference(f *Finding) bool {
	return f.Reference != nil && (f.Consequence == collector.ConsequenceDelete || f.Consequence == collector.ConsequenceUnlink)
}

// decidableSoon reports whether the collector cannot decide about an object, and an owner orphans it: that
// removes a reference, which may be the one that it cannot resolve.
func (r *ruleContext) decidableSoon(f *Finding) bool {
	if f.Reference == nil || f.Verdict == collector.VerdictSolid || f.Consequence != collector.ConsequenceStuck {
		return false
	}
	return slices.ContainsFunc(r.graph.Owners(r.graph.Find(f.Object.UID)), func(owner graph.Node) bool {
		o := r.graph.Object(owner)
		return o != nil && o.Orphaning()
	})
}

// unknownOwner reports whether too little was read to judge one of the object's references.
func (r *ruleContext) unknownOwner(n graph.Node) bool {
	return slices.ContainsFunc(r.judge.Object(n), func(j collector.Judgement) bool { return j.Verdict == collector.VerdictUnknown })
}

// uncertainty is what the order of events leaves open about one object, which may have many findings.
type uncertainty struct {
	node graph.Node
	left int // how many references the object keeps in every order
	why  func() *reason.Reason
}

func (r *ruleContext) uncertaintyOf(possible *simulate.Prediction, n graph.Node) uncertainty {
	out := uncertainty{node: n, why: sync.OnceValue(func() *reason.Reason { return possible.Reason(n) })}
	for i := range r.graph.Owners(n) {
		if possible.Unlinks(graph.Edge{Node: n, Index: i}) == simulate.Never {
			out.left++
		}
	}
	return out
}

func (r *ruleContext) predictFinding(f *Finding, possible *simulate.Prediction, of uncertainty) {
	n, e := of.node, f.Edge
	deletes, unlinks := possible.Terminates(n), possible.Unlinks(e)
	switch stuck := f.Consequence == collector.ConsequenceStuck; {
	case stuck && r.unknownOwner(n):
		f.Consequence, f.Effect = collector.ConsequenceUnknown, reason.EffectUnknown
	case stuck && deletes != simulate.Never:
		f.Consequence, f.Effect = collector.ConsequenceDelete, reason.DeletesObject
		if deletes == simulate.Perhaps {
			f.Effect, f.Nondeterministic = reason.MayDeleteObject, of.why()
		}
	case stuck && unlinks == simulate.Never:
		return
	case deletes == simulate.Always, f.Consequence == collector.ConsequenceUnlink && unlinks == simulate.Always:
		return
	case f.Consequence == collector.ConsequenceDelete && deletes == simulate.Perhaps:
		f.Effect, f.Nondeterministic = reason.MayDeleteObject, of.why()
	case unlinks != simulate.Never:
		f.Consequence, f.Effect = collector.ConsequenceUnlink, reason.RemovesReference(of.left)
		if unlinks == simulate.Perhaps {
			f.Effect, f.Nondeterministic = reason.MayRemoveReference, of.why()
		}
	default:
		f.Consequence, f.Effect = collector.ConsequenceNone, reason.NoEffect(r.graph.Object(n).Terminating())
	}
	f.Severity = severityOf(f.Verdict, f.Consequence)
}
