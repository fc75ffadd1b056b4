package audit

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// ownerRules report references that do not resolve to a live owner: one rule for each cause
// that package collector gives, with a section in docs/rules.md.
var ownerRules = []Rule{
	ownerRule(collector.CauseMissing,
		"No object has the owner's UID, and none has its name.",
		func(o objectContext, i int) *reason.Reason {
			return reason.OwnerMissing(o.owner(i), o.rules.graph.Snapshot().Complete())
		}),
	ownerRule(collector.CauseReplaced,
		"An object of the owner's kind and name exists, but with another UID: it is a successor, not the owner.",
		func(o objectContext, i int) *reason.Reason { return reason.OwnerReplaced(o.owner(i)) }),
	ownerRule(collector.CauseMismatched,
		"The owner's UID belongs to an object of another name or kind.",
		func(o objectContext, i int) *reason.Reason { return reason.OwnerMismatched(o.owner(i)) }),
	ownerRule(collector.CauseCrossNamespace,
		"The owner lives in another namespace, where the garbage collector never searches for it.",
		func(o objectContext, i int) *reason.Reason {
			return reason.OwnerInOtherNamespace(o.owner(i), o.object.Namespace)
		}),
	ownerRule(collector.CauseClusterToNamespaced,
		"A cluster-scoped object names an owner of a namespaced kind, which it can never have.",
		func(o objectContext, i int) *reason.Reason { return reason.OwnerNamespaced(o.owner(i)) }),
	ownerRule(collector.CauseUnservedVersion,
		"The owner's kind is known or its UID exists, but the reference's apiVersion is not served.",
		func(o objectContext, i int) *reason.Reason { return reason.OwnerVersionNotServed(o.owner(i)) }),
	ownerRule(collector.CauseUnknownKind,
		"The server knows no such kind, in any version.",
		func(o objectContext, i int) *reason.Reason { return reason.OwnerKindUnknown(o.owner(i)) }),
	ownerRule(collector.CauseUnverified,
		"It is unknown whether the owner exists.",
		func(o objectContext, i int) *reason.Reason {
			return reason.Of(o.judgements[i].Unverified(o.object.Owners[i]))
		}),
	ownerRule(collector.CauseTerminating,
		"The owner is being deleted in the foreground and waits for its dependents.",
		func(o objectContext, i int) *reason.Reason { return reason.OwnerWaiting(o.owner(i)) }),
}

// ownerRule returns the rule that reports every reference of one cause; found returns what
// was found of the i-th reference of an object.
func ownerRule(cause collector.Cause, summary string, found func(o objectContext, i int) *reason.Reason) Rule {
	return Rule{ID: string(cause), Summary: summary, find: func(o objectContext) []Finding {
		var out []Finding
		abridged := false
		for i, j := range o.judgements {
			if j.Cause != cause || abridged && !snapshot.LooksUp(i, o.object.Owners[i]) {
				continue // the first that is not looked up stands for all: an object may have 10,000
			}
			abridged = abridged || !snapshot.LooksUp(i, o.object.Owners[i])
			out = append(out, o.finding(i, found(o, i), o.repairs[i].Fix))
		}
		return out
	}}
}

// RepairableRules are the ids of the rules whose references package repair can repair, in their order. What all
// others report resolves itself or needs a person's decision.
var RepairableRules = repairableRules()

func repairableRules() []string {
	var out []string
	for _, r := range append(slices.Clip(ownerRules), outdatedOwnerVersion) {
		if cause := collector.Cause(r.ID); cause != collector.CauseUnverified && cause != collector.CauseTerminating {
			out = append(out, r.ID)
		}
	}
	return out
}

// RepairFor returns the cause that a rule reports, and whether package repair can repair such references. The
// cause is CauseNone for solid references in an outdated version.
func RepairFor(rule string) (cause collector.Cause, ok bool) {
	if rule == outdatedOwnerVersion.ID {
		return collector.CauseNone, true
	}
	return collector.Cause(rule), slices.Contains(RepairableRules, rule)
}

var selfOwner = Rule{
	ID:      "self-owner",
	Summary: "An object names itself as its owner.",
	Choice:  "owns itself",
	find: func(o objectContext) []Finding {
		var out []Finding
		for i, r := range o.object.Owners {
			if r.UID != o.object.UID {
				continue
			}
			f := o.finding(i, reason.OwnsItself, Unlink)
			if f.Verdict == collector.VerdictSolid && !o.object.Terminating() {
				f.Severity, f.Consequence, f.Effect = Error, collector.ConsequenceStuck, reason.NeverCollected(true)
			}
			if r.Blocks() && o.object.DeletingDependents() && !o.object.Orphaning() { // docs/gc-semantics.md#stuck-foreground-deletions
				f.Severity, f.Consequence, f.Effect = Error, collector.ConsequenceStuck, reason.NeverCompletes(true)
			}
			out = append(out, f)
		}
		return out
	},
}

var duplicateOwner = Rule{
	ID:      "duplicate-owner",
	Summary: "Several references of an object carry the same owner UID.",
	find: func(o objectContext) []Finding {
		if len(o.object.Owners) < 2 {
			return nil
		}
		first, good := map[types.UID]int{}, map[types.UID]bool{}
		for i, r := range o.object.Owners {
			if _, seen := first[r.UID]; !seen {
				first[r.UID] = i
			}
			if o.judgements[i].Verdict == collector.VerdictSolid {
				good[r.UID] = true
			}
		}
		var out []Finding
		for i, r := range o.object.Owners {
			if earlier := first[r.UID]; earlier != i {
				out = append(out, o.duplicate(earlier, i, good[r.UID] && o.assessment.Unlinks(r.UID)))
			}
		}
		return out
	},
}

// duplicate returns the finding that the i-th reference repeats an earlier one. The garbage
// collector removes references by UID, so it removes a good reference together with a bad
// duplicate; losesGood reports that it will (docs/gc-semantics.md#removing-references).
func (o objectContext) duplicate(earlier, i int, losesGood bool) Finding {
	f := o.finding(i, reason.Of(reason.OwnerDuplicated{Earlier: o.owner(earlier), Later: o.owner(i), EarlierIndex: earlier, LaterIndex: i}), Unlink)
	if losesGood {
		f.Severity, f.Consequence, f.Effect = Warning, collector.ConsequenceUnlink, reason.RemovesAllWithUID
	}
	f.RepeatsBad = f.Verdict == collector.VerdictSolid && f.Consequence == collector.ConsequenceNone && o.assessment.IsBad(o.object.Owners[i].UID)
	return f
}

var multipleControllers = Rule{
	ID:      "multiple-controllers",
	Summary: "More than one owner claims to be the managing controller, which the API server no longer accepts.",
	Choice:  "has two controllers",
	find: func(o objectContext) []Finding {
		first := slices.IndexFunc(o.object.Owners, object.Reference.Controls)
		if first < 0 {
			return nil
		}
		var out []Finding
		refused := o.assessment.UnlinkRejected(o.object)
		for i, r := range o.object.Owners[first+1:] {
			if r.Controls() {
				out = append(out, o.secondController(first, first+1+i, refused))
			}
		}
		return out
	},
}

// secondController returns the finding that the i-th reference names a second controller.
func (o objectContext) secondController(first, i int, refused bool) Finding {
	f := o.finding(i, reason.TwoControllers(o.owner(first), o.owner(i)), Unlink)
	switch {
	case refused:
		f.Severity, f.Consequence, f.Effect = Error, collector.ConsequenceStuck, reason.UpdateRefused
	case f.Severity == Info:
		f.Severity = Warning
	}
	return f
}

var unmonitoredOwner = Rule{
	ID:      "unmonitored-owner",
	Summary: "The owner is of a kind that the collector does not watch.",
	find: func(o objectContext) []Finding {
		var out []Finding
		for i, j := range o.judgements {
			if j.Verdict.OwnerExists() && j.Unmonitored() {
				out = append(out, o.finding(i, reason.OwnerNotMonitored(o.owner(i), j.Mapping.Type.String()), NoFix))
			}
		}
		return out
	},
}

var misspelledOwnerKind = Rule{
	ID:      "misspelled-owner-kind",
	Summary: "The owner's kind or apiVersion is spelled so that it works by accident, or by mistake.",
	find: func(o objectContext) []Finding {
		var out []Finding
		for i, j := range o.judgements {
			found := reason.OwnerKindMisspelled{Owner: o.owner(i), Spelling: j.Mapping.Spelling}
			switch j.Mapping.Spelling {
			case reason.ExactSpelling:
				continue
			case reason.LowerCaseKind:
				found.Resolved = j.Mapping.Type.Kind
			case reason.KindOfList:
				found.Resolved, found.Unserved = j.Mapping.Type.String(), !j.Mapping.Served
			case reason.NoVersionInGroup:
				found.Resolved = j.Mapping.Type.APIVersion()
			}
			out = append(out, o.finding(i, reason.Of(found), NoFix))
		}
		return out
	},
}

var outdatedOwnerVersion = Rule{
	ID:      "outdated-owner-version",
	Summary: "The reference names a served version of the owner that is not the preferred one.",
	find: func(o objectContext) []Finding {
		var out []Finding
		for i, j := range o.judgements {
			if !j.NamesOutdatedVersion() {
				continue
			}
			t := j.Mapping.Type
			preferred := o.rules.graph.View().Versions(t.Group, t.Kind)[0].APIVersion()
			out = append(out, o.finding(i, reason.OwnerVersionOutdated(o.owner(i), preferred), o.repairs[i].Fix))
		}
		return out
	},
}
