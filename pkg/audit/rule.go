package audit

import (
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/repair"
)

// Rule is one kind of finding. Its ID is a public contract.
type Rule struct {
	ID      string
	Summary string // one sentence, for help texts and SARIF
	// find says what the rule has to say of one object.
	find func(objectContext) []Finding
	// group says what it has to say of the graph as a whole.
	group func(*ruleContext) []Finding
}

// Rules are all rules. Findings of one object are in their order.
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

// The families of rules that have a flag of their own.
var (
	Dangling       = []string{missingOwner.ID, replacedOwner.ID, mismatchedOwner.ID, crossNamespaceOwner.ID}
	CrossNamespace = []string{crossNamespaceOwner.ID, clusterToNamespacedOwner.ID}
	Cyclic         = []string{ownerCycle.ID, selfOwner.ID}
)

// ruleContext is the whole graph as rules see it.
type ruleContext struct {
	graph   *graph.Graph
	judge   *collector.Judge
	planner *repair.Planner
	options Options
}

// objectContext is one object as rules see it.
type objectContext struct {
	rules      *ruleContext
	node       graph.Node
	object     *object.Object
	judgements []collector.Judgement // one per reference
	repairs    []repair.Repair       // one per reference; nil where every owner holds
	assessment collector.Assessment
}

// finding returns a finding about the i-th reference.
func (s objectContext) finding(i int, found reason.Brief, fix Fix) Finding {
	consequence := s.assessment.Of(s.judgements[i].Verdict)
	return Finding{
		Severity:    severityOf(s.judgements[i].Verdict, consequence),
		Object:      s.object.Identity,
		Reference:   ReferenceOf(s.object.Owners[i]),
		Verdict:     s.judgements[i].Verdict,
		Consequence: consequence,
		Reason:      found,
		Effect:      s.effect(i, consequence),
		Fix:         fix,
	}
}

// owner returns the owner that the i-th reference names, with what was found of it.
func (s objectContext) owner(i int) reason.Owner { return s.judgements[i].Owner(s.object.Owners[i]) }

// eachCause returns the find of a rule that reports every reference of one cause.
func eachCause(cause collector.VerdictCause, found func(s objectContext, i int) reason.Brief) func(objectContext) []Finding {
	return func(s objectContext) []Finding {
		var out []Finding
		for i, j := range s.judgements {
			if j.Cause == cause {
				out = append(out, s.finding(i, found(s, i), s.repairs[i].Fix))
			}
		}
		return out
	}
}

func (s objectContext) now() time.Time { return s.rules.graph.Snapshot().Taken }
