package audit

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
)

// predict corrects the consequences of findings where an object's references alone do not decide
// them: an owner orphans the object, the collector has no reason to process it, or the order of
// events decides. It costs nothing if no finding says that the collector deletes or unlinks.
func (r *ruleContext) predict(report *Report) {
	var possible *simulate.Possibilities
	for i := range report.Findings {
		f := &report.Findings[i]
		waits, blocked := f.Effect.(reason.Waits)
		blocked = blocked && !waits.Idle && !waits.Unknown
		if !blocked && (f.Reference == nil || f.Consequence != collector.ConsequenceDelete && f.Consequence != collector.ConsequenceUnlink) {
			continue
		}
		if possible == nil {
			possible = simulate.NewPossibilities(simulate.NewModel(r.judge, predicted))
		}
		if n := r.graph.Find(f.Object.UID); !blocked {
			r.predictFinding(f, possible)
		} else if possible.CompletionUncertain(n) {
			f.Nondeterministic = possible.Reason(n)
		}
	}
}

// predicted are the options of a model that predicts the cluster's own collector.
var predicted = simulate.Options{Actor: collector.ActorControllerManager, Cautious: true}

func (r *ruleContext) predictFinding(f *Finding, possible *simulate.Possibilities) {
	n := r.graph.Find(f.Object.UID)
	o := r.graph.Object(n)
	index := slices.IndexFunc(r.graph.Object(n).Owners, func(of object.Reference) bool { return *ReferenceOf(of) == *f.Reference })
	e := graph.Edge{Node: n, Index: index}
	mayDelete, mustDelete := possible.MayDelete(n), possible.MustDelete(n)
	mayUnlink, mustUnlink := possible.MayUnlink(e), possible.MustUnlink(e)
	switch {
	case mustDelete, f.Consequence == collector.ConsequenceUnlink && mustUnlink:
		return
	case f.Consequence == collector.ConsequenceDelete && mayDelete:
		f.Effect, f.Nondeterministic = reason.MayDeleteObject, possible.Reason(n)
	case mayUnlink:
		f.Consequence, f.Effect = collector.ConsequenceUnlink, reason.RemovesReference{OwnersLeft: r.ownersLeft(possible, n)}
		if !mustUnlink {
			f.Effect, f.Nondeterministic = reason.MayRemoveReference, possible.Reason(n)
		}
	default:
		f.Consequence, f.Effect = collector.ConsequenceNone, reason.NoEffect{Terminating: o.Terminating()}
	}
	f.Severity = severityOf(f.Verdict, f.Consequence)
}

// ownersLeft returns how many references an object keeps in every order.
func (r *ruleContext) ownersLeft(possible *simulate.Possibilities, n graph.Node) int {
	left := 0
	for i := range r.graph.Owners(n) {
		if !possible.MayUnlink(graph.Edge{Node: n, Index: i}) {
			left++
		}
	}
	return left
}

// addVirtual adds the findings about an object that was only looked up.
func (r *Report) addVirtual(c *ruleContext, rules []Rule, n graph.Node) {
	if c.graph.Object(n).Terminating() || len(c.graph.Owners(n)) == 0 || len(c.graph.Dependents(n)) == 0 {
		return // the collector does not process it
	}
	for _, rule := range rules {
		if rule.find == nil {
			continue
		}
		found := rule.find(c.objectContext(n, c.judge.Object(n)))
		for i := range found {
			found[i].Fix = NoFix // repair only patches listed objects
		}
		r.add(rule, found)
	}
}
