package audit

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/repair"
)

// Rule is one kind of finding. Its ID is part of the JSON contract.
type Rule struct {
	ID      string
	Summary string // one sentence, for help texts and SARIF
	// find returns the findings about one object.
	find func(objectContext) []Finding
	// group returns the findings that concern several objects.
	group func(*ruleContext) []Finding
}

// Rules are all rules, in the order of an object's findings.
var Rules = []Rule{
	missingOwner,
	replacedOwner,
	mismatchedOwner,
	crossNamespaceOwner,
	clusterToNamespacedOwner,
	unservedOwnerVersion,
	unknownOwnerKind,
	unverifiedOwner,
	terminatingOwner,
	ownerCycle,
	selfOwner,
	duplicateOwner,
	multipleControllers,
	blockedDeletion,
	stuckFinalizer,
	unmonitoredOwner,
	misspelledOwnerKind,
}

// Groups of rules that a flag selects.
var (
	Dangling       = []string{missingOwner.ID, replacedOwner.ID, mismatchedOwner.ID, crossNamespaceOwner.ID}
	CrossNamespace = []string{crossNamespaceOwner.ID, clusterToNamespacedOwner.ID}
	Cyclic         = []string{ownerCycle.ID, selfOwner.ID}
)

// ruleContext is what rules know about the whole graph.
type ruleContext struct {
	graph   *graph.Graph
	judge   *collector.Judge
	planner *repair.Planner
	options Options
}

// objectContext is what rules know about one object.
type objectContext struct {
	rules      *ruleContext
	object     *object.Object
	judgements []collector.Judgement // one per reference
	repairs    []repair.Repair       // one per reference; nil if every reference is solid
	assessment collector.Assessment
}

// finding returns a finding about the i-th reference.
func (o objectContext) finding(i int, found reason.Brief, fix Fix) Finding {
	consequence := o.assessment.ConsequenceFor(o.judgements[i].Verdict)
	return Finding{
		Severity:    severityOf(o.judgements[i].Verdict, consequence),
		Object:      o.object.Identity,
		Reference:   ReferenceOf(o.object.Owners[i]),
		Verdict:     o.judgements[i].Verdict,
		Consequence: consequence,
		Reason:      found,
		Effect:      o.effect(i, consequence),
		Fix:         fix,
	}
}

// owner returns the owner that the i-th reference names, with what was found of it.
func (o objectContext) owner(i int) reason.Owner { return o.judgements[i].Owner(o.object.Owners[i]) }

// eachCause returns the find function of a rule that reports every reference of one cause.
func eachCause(cause collector.Cause, found func(o objectContext, i int) reason.Brief) func(objectContext) []Finding {
	return func(o objectContext) []Finding {
		var out []Finding
		for i, j := range o.judgements {
			if j.Cause == cause {
				out = append(out, o.finding(i, found(o, i), o.repairs[i].Fix))
			}
		}
		return out
	}
}
