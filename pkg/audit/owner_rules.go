package audit

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// ownerRules report references that do not resolve to a live owner: one rule for each cause
// that package collector gives, with a page in docs/rules.
var ownerRules = []Rule{
	ownerRule("missing-owner", collector.CauseMissing,
		"No object has the owner's UID, and none has its name.",
		func(o objectContext, i int) reason.Brief {
			return reason.OwnerMissing{Owner: o.owner(i), ScanComplete: o.rules.graph.Snapshot().Complete()}
		}),
	ownerRule("replaced-owner", collector.CauseReplaced,
		"An object of the owner's kind and name exists, but with another UID: it is a successor, not the owner.",
		func(o objectContext, i int) reason.Brief { return reason.OwnerReplaced{Owner: o.owner(i)} }),
	ownerRule("mismatched-owner", collector.CauseMismatched,
		"The owner's UID belongs to an object of another name or kind.",
		func(o objectContext, i int) reason.Brief { return reason.OwnerMismatched{Owner: o.owner(i)} }),
	ownerRule("cross-namespace-owner", collector.CauseCrossNamespace,
		"The owner lives in another namespace, where the garbage collector never searches for it.",
		func(o objectContext, i int) reason.Brief {
			return reason.OwnerInOtherNamespace{Owner: o.owner(i), Namespace: o.object.Namespace}
		}),
	ownerRule("cluster-to-namespaced-owner", collector.CauseClusterToNamespaced,
		"A cluster-scoped object names an owner of a namespaced kind, which it can never have.",
		func(o objectContext, i int) reason.Brief { return reason.OwnerNamespaced{Owner: o.owner(i)} }),
	ownerRule("unserved-owner-version", collector.CauseUnservedVersion,
		"The owner's kind is known or its UID exists, but the reference's apiVersion is not served.",
		func(o objectContext, i int) reason.Brief { return reason.OwnerVersionNotServed{Owner: o.owner(i)} }),
	ownerRule("unknown-owner-kind", collector.CauseUnknownKind,
		"The server knows no such kind, in any version.",
		func(o objectContext, i int) reason.Brief { return reason.OwnerKindUnknown{Owner: o.owner(i)} }),
	ownerRule("unverified-owner", collector.CauseUnverified,
		"Whether the owner exists could not be verified.",
		func(o objectContext, i int) reason.Brief { return o.judgements[i].Unverified(o.object.Owners[i]) }),
	ownerRule("terminating-owner", collector.CauseTerminating,
		"The owner is being deleted in the foreground and waits for its dependents.",
		func(o objectContext, i int) reason.Brief { return reason.OwnerWaiting{Owner: o.owner(i)} }),
}

// ownerRule returns the rule that reports every reference of one cause; found returns what
// was found of the i-th reference of an object.
func ownerRule(id string, cause collector.Cause, summary string, found func(o objectContext, i int) reason.Brief) Rule {
	return Rule{ID: id, Summary: summary, cause: cause, find: func(o objectContext) []Finding {
		var out []Finding
		for i, j := range o.judgements {
			if j.Cause == cause {
				out = append(out, o.finding(i, found(o, i), o.repairs[i].Fix))
			}
		}
		return out
	}}
}

// RuleForCause returns the id of the rule that reports a cause; empty for CauseNone.
func RuleForCause(c collector.Cause) string {
	for _, r := range ownerRules {
		if r.cause == c {
			return r.ID
		}
	}
	return ""
}

// RepairFor returns the cause that a rule reports, and whether package repair can repair
// such references. All others resolve themselves or need a person's decision.
func RepairFor(rule string) (cause collector.Cause, ok bool) {
	for _, r := range ownerRules {
		if r.ID == rule {
			return r.cause, r.cause != collector.CauseUnverified && r.cause != collector.CauseTerminating
		}
	}
	return collector.CauseNone, false
}

// RepairableRules returns the ids of the rules whose references package repair can repair,
// in their order.
func RepairableRules() []string {
	var out []string
	for _, r := range ownerRules {
		if _, ok := RepairFor(r.ID); ok {
			out = append(out, r.ID)
		}
	}
	return out
}
