package explain

import (
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
)

// losesReferences explains an object that stays and loses references.
func (b *builder) losesReferences(transition *simulate.Transition) {
	n := len(transition.Change.Drop)
	what := plural(n, "an owner reference", fmt.Sprintf("%d owner references", n))
	switch d := b.explainer.initial.Decide(b.node); {
	case transition.OrphanedFrom != graph.None:
		b.answer.say(collector.ConsequenceUnlink, fmt.Sprintf("%s stays, and loses its reference to %s, which is being deleted and orphans its dependents.", b.object, b.name(transition.OrphanedFrom)))
	case d.Action == collector.ActionUnlink:
		b.answer.say(collector.ConsequenceUnlink, fmt.Sprintf("%s stays, and loses %s.", b.object, b.lostReferences()))
	default:
		b.answer.say(collector.ConsequenceUnlink, fmt.Sprintf("%s stays, and loses %s after an owner is deleted.", b.object, what))
		b.firstCause(transition)
	}
	b.remainingOwners(transition)
	if end := b.result.Model.Decide(b.node); end.NoAction == collector.ReferenceUnknown {
		b.answer.next(fmt.Sprintf("After that, the garbage collector leaves it alone: %s.", b.explainer.blockers.UndecidableReference(b.node, end.UndecidableReference).Undecidable()))
	}
}

// lostReferences returns which references the object loses, and why.
func (b *builder) lostReferences() string {
	var missing, waiting []string
	for i, j := range b.judgements {
		switch r := b.object.Owners[i].String(); j.Verdict {
		case collector.VerdictDangling:
			missing = append(missing, r)
		case collector.VerdictWaiting:
			waiting = append(waiting, r)
		case collector.VerdictSolid, collector.VerdictUnresolvable, collector.VerdictScopeError, collector.VerdictUnknown:
		}
	}
	var parts []string
	if n := len(missing); n > 0 {
		parts = append(parts, fmt.Sprintf("its %s to %s, which %s not exist", plural(n, "reference", "references"), list(missing), plural(n, "does", "do")))
	}
	if n := len(waiting); n > 0 {
		parts = append(parts, fmt.Sprintf("its %s to %s, which %s being deleted in the foreground and %s for %s dependents",
			plural(n, "reference", "references"), list(waiting), plural(n, "is", "are"), plural(n, "waits", "wait"), plural(n, "its", "their")))
	}
	return strings.Join(parts, ", and ")
}

// remainingOwners explains which owners are left afterwards.
func (b *builder) remainingOwners(transition *simulate.Transition) {
	left := b.result.Model.Object(b.node)
	if b.dropsValidReference() {
		b.answer.next("The cluster's garbage collector removes references by UID, so it removes the valid reference together with the invalid one.")
		if b.assessment.ReferencesLeft == 0 {
			b.answer.next("Then it has no owner left, and the garbage collector never deletes it.")
		}
		b.answer.suggest("keep its owner by removing only the invalid reference, before the garbage collector acts", b.explainer.command("repair", b.object.Identity)...)
		return
	}
	if n := len(left.Owners); n == 0 {
		b.answer.next("Then it has no owner left, and the garbage collector never deletes it.")
	} else {
		b.answer.next(fmt.Sprintf("%s and %s it. A running garbage collector does this within seconds.", count(n, "owner")+plural(n, " remains", " remain"), plural(n, "keeps", "keep")))
	}
	if transition.OrphanedFrom == graph.None && b.explainer.initial.Decide(b.node).Action == collector.ActionUnlink {
		for i, j := range b.judgements {
			b.suggestRepair(i, j, "do the same now by ")
		}
	}
}

// dropsValidReference reports whether a valid reference is removed because an invalid one
// has the same UID.
func (b *builder) dropsValidReference() bool {
	for i, j := range b.judgements {
		if j.Verdict == collector.VerdictSolid && b.assessment.Unlinks(b.object.Owners[i].UID) {
			return true
		}
	}
	return false
}
