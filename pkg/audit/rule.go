package audit

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/repair"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/terminating"
)

// Rule is one kind of finding. Its ID is part of the JSON contract.
type Rule struct {
	ID      string
	Summary string // one sentence, for help texts and SARIF
	// Choice is what is said of an object if the rule flags valid references, and a person has to choose
	// which to remove; empty for other rules.
	Choice string
	// find returns the findings about one object.
	find func(objectContext) []Finding
	// group returns the findings that concern several objects.
	group func(*ruleContext) []Finding
}

// Page returns the address of the page about the rule.
func (r Rule) Page() string {
	return "https://github.com/kubectl-gc/kubectl-gc/blob/main/docs/rules.md#" + r.ID
}

// Rules are all rules, in the order of an object's findings.
var Rules = slices.Concat(ownerRules, []Rule{
	ownerCycle,
	selfOwner,
	duplicateOwner,
	multipleControllers,
	blockedDeletion,
	stuckFinalizer,
	unmonitoredOwner,
	misspelledOwnerKind,
	outdatedOwnerVersion,
	stuckNamespace,
})

// Groups of rules that a flag selects.
var (
	Dangling       = []string{"missing-owner", "replaced-owner", "mismatched-owner", "cross-namespace-owner"}
	CrossNamespace = []string{"cross-namespace-owner", "cluster-to-namespaced-owner"}
	Cyclic         = []string{ownerCycle.ID, selfOwner.ID}
)

// ruleContext is what rules know about the whole graph.
type ruleContext struct {
	graph    *graph.Graph
	judge    *collector.Judge
	planner  *repair.Planner
	options  Filter
	model    func() *simulate.Model // of the scanned state
	holds    func() *terminating.Diagnoser
	possible func() *simulate.Prediction // what the cluster's own collector does
}

// objectContext is what rules know about one object.
type objectContext struct {
	rules      *ruleContext
	node       graph.Node
	object     *object.Object
	judgements []collector.Judgement // one per reference
	repairs    []repair.Repair       // one per reference; nil if every reference is solid and names the preferred version
	assessment collector.Assessment
}

// finding returns a finding about the i-th reference.
func (o objectContext) finding(i int, found *reason.Reason, fix repair.Fix) Finding {
	consequence := o.assessment.ConsequenceFor(o.object.Owners[i].UID, o.judgements[i].Verdict)
	return Finding{
		Severity:    severityOf(o.judgements[i].Verdict, consequence),
		Object:      o.object.Identity,
		Reference:   &o.object.Owners[i],
		Edge:        graph.Edge{Node: o.node, Index: i},
		Verdict:     o.judgements[i].Verdict,
		Consequence: consequence,
		Reason:      found,
		Effect:      o.effect(i, consequence),
		Fix:         fix,
		Cause:       causeOf(&o.judgements[i]),
	}
}

// owner returns the owner that the i-th reference names, with what was found of it.
func (o objectContext) owner(i int) reason.Owner { return o.judgements[i].Owner(o.object.Owners[i]) }

// effect returns what the garbage collector does with the object because of its i-th
// reference.
func (o objectContext) effect(i int, c collector.Consequence) *reason.Reason {
	switch c {
	case collector.ConsequenceDelete:
		return reason.DeletesObject
	case collector.ConsequenceUnlink:
		return reason.RemovesReference(o.assessment.ReferencesLeft)
	case collector.ConsequenceStuck:
		return reason.Of(o.cannotDecide(i))
	case collector.ConsequenceUnknown:
		return reason.EffectUnknown
	case collector.ConsequenceNone:
	}
	return reason.NoEffect(o.object.Terminating())
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
		out.Repaired = reason.DeletesObject
		if o.assessment.ConsequenceIfDecidable() == collector.ConsequenceUnlink {
			out.Repaired = reason.RemovesReference(o.assessment.ReferencesLeft)
		}
	}
	return out
}
