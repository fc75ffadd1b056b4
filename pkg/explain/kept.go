package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/terminating"
)

// kept explains an object whose owners all exist.
func (b *answerBuilder) kept() {
	n := len(b.object.Owners)
	switch cycle := b.cycle(); {
	case b.ownsItself() && n == 1:
		b.answer.say(collector.ConsequenceNone, "%s stays: it names itself as its owner, so its owner always exists.", b.object)
		b.answer.next("The garbage collector never deletes it.")
		b.suggestUnlink("remove the reference to itself", string(b.object.UID))
	case cycle != nil:
		b.answer.say(collector.ConsequenceNone, "%s stays: it is in a cycle of %d objects that own each other, so each of them has an existing owner.", b.object, len(cycle))
		b.answer.nextf("The cycle is %s. The garbage collector deletes none of them until someone deletes one.", list(b.names(cycle)))
		b.suggestUnlink("break the cycle by removing its reference to "+b.cycleReference(cycle).String(), string(b.cycleReference(cycle).UID))
	default:
		b.answer.say(collector.ConsequenceNone, "%s stays: %s.", b.object, keptReason(b.object.Owners))
	}
	if !b.ownersTerminating() {
		b.whenOwnersAreDeleted()
	}
	b.suggestDelete()
}

// keptReason returns why an object stays whose owners all exist.
func keptReason(owners []object.Reference) string {
	switch n := len(owners); n {
	case 0:
		return "it has no owner, so the garbage collector never touches it"
	case 1:
		return fmt.Sprintf("its owner %s exists", owners[0])
	default:
		return fmt.Sprintf("its %d owners exist", n)
	}
}

// whenOwnersAreDeleted explains which deletions of owners would delete the object.
func (b *answerBuilder) whenOwnersAreDeleted() {
	owners := map[graph.Node]bool{}
	for _, owner := range b.graph.Owners(b.node) {
		if owner != b.node {
			owners[owner] = true
		}
	}
	switch n := len(owners); {
	case n == 0 || b.ownsItself() || b.cycle() != nil:
	case n == 1:
		b.answer.nextf("The garbage collector deletes it once %s is gone.", b.object.Owners[0])
	default:
		b.answer.nextf("The garbage collector deletes it once the last of its %d owners is gone. Until then, it only loses the references to deleted owners.", n)
	}
}

// ownersTerminating explains owners that are being deleted: they count as owners until
// they are gone. It returns false if there are none.
func (b *answerBuilder) ownersTerminating() bool {
	afterwards := collector.Verdicts(b.judgements)
	var leaving []graph.Node
	for i, j := range b.judgements {
		if o := j.UIDHolder; o != nil && o.Terminating() && !o.Orphaning() && b.graph.Owners(b.node)[i] != b.node {
			afterwards[i] = collector.VerdictDangling
			leaving = append(leaving, b.graph.Owners(b.node)[i])
		}
	}
	if len(leaving) == 0 {
		return false
	}
	first := b.graph.Object(leaving[0])
	link := Link{first.Identity, "is being deleted, and " + b.holds.Later().Of(leaving[0]).Reason.Message()}
	b.answer.WaitsFor = append(b.answer.WaitsFor, link)
	if collector.Assess(b.object, afterwards).ConsequenceIfDecidable() == collector.ConsequenceDelete {
		b.answer.nextf("After the deletion of %s, no owner is left, and the garbage collector deletes it.", list(b.names(leaving)))
	} else {
		b.answer.nextf("After the deletion of %s, it loses the reference and stays, because another owner exists.", list(b.names(leaving)))
	}
	b.answer.suggest("see what its owner waits for", b.command("why", first.Identity)...)
	return true
}

// cycleReference returns the first reference to another object of a cycle.
func (b *answerBuilder) cycleReference(cycle []graph.Node) object.Reference {
	i := slices.IndexFunc(b.graph.Owners(b.node), func(owner graph.Node) bool { return owner != b.node && slices.Contains(cycle, owner) })
	return b.object.Owners[i]
}

func (b *answerBuilder) names(nodes []graph.Node) []string {
	var out []string
	for _, n := range nodes {
		out = append(out, b.name(n))
	}
	return out
}

func (b *answerBuilder) ownsItself() bool { return slices.Contains(b.graph.Owners(b.node), b.node) }

// cycle returns the members of the object's ownership cycle, or nil.
func (b *answerBuilder) cycle() []graph.Node {
	if b.cycles == nil {
		b.cycles = map[graph.Node][]graph.Node{}
		for _, cycle := range b.graph.Cycles(b.judge.Resolves) {
			for _, n := range cycle {
				b.cycles[n] = cycle
			}
		}
	}
	return b.cycles[b.node]
}

func (b *answerBuilder) suggestDelete() {
	b.answer.suggest("preview its deletion", b.command("delete", b.object.Identity, "--dry-run")...)
}

// losesReferences explains an object that stays and loses references.
func (b *answerBuilder) losesReferences(transition *simulate.Transition) {
	switch d := b.initial.Decide(b.node); {
	case transition.OrphanedFrom != graph.None:
		b.answer.say(collector.ConsequenceUnlink, "%s stays, and loses its reference to %s, which is being deleted and orphans its dependents.", b.object, b.name(transition.OrphanedFrom))
	case d.Action == collector.ActionUnlink:
		b.answer.say(collector.ConsequenceUnlink, "%s stays, and loses %s.", b.object, b.lostReferences())
	default:
		var owners []string
		for i, v := range transition.Verdicts {
			if v.IsDanglingOrWaiting() {
				owners = append(owners, transition.StateBefore.Owners[i].String())
			}
		}
		b.answer.say(collector.ConsequenceUnlink, "%s stays, and loses its %s to %s after that is deleted.", b.object, plural(len(owners), "reference", "references"), list(owners))
		b.firstCause(transition)
	}
	b.remainingOwners(transition)
	if end := b.result.Model.Decide(b.node); end.NoAction == collector.ReferenceUnknown {
		b.answer.nextf("After that, it stays: %s.", terminating.UndecidableReference(b.result.Model, b.node, end.UndecidableReference).Undecidable())
	}
}

// lostReferences returns which references the object loses, and why.
func (b *answerBuilder) lostReferences() string {
	var lost []string
	for i, j := range b.judgements {
		if r := b.object.Owners[i]; j.Verdict.IsDanglingOrWaiting() {
			lost = append(lost, fmt.Sprintf("its reference to %s, which %s", r, j.Owner(r).Predicate()))
		}
	}
	return strings.Join(lost, ", and ")
}

// remainingOwners explains which owners are left afterwards.
func (b *answerBuilder) remainingOwners(transition *simulate.Transition) {
	left := b.result.Model.Object(b.node)
	if left == nil {
		return
	}
	if b.dropsValidReference() {
		b.answer.next("The garbage collector removes references by UID, so it removes the valid reference together with the invalid one.")
		if b.assessment.ReferencesLeft == 0 {
			b.answer.next("Then it has no owner left, and the garbage collector never deletes it.")
		}
		b.answer.suggest("keep its owner by removing only the invalid reference, before the garbage collector acts", b.command("repair", b.object.Identity)...)
		return
	}
	if n := len(left.Owners); n == 0 {
		b.answer.next("Then it has no owner left, and the garbage collector never deletes it.")
	} else {
		b.answer.nextf("A running garbage collector does this within seconds. %s %s, so the object stays.", reason.Count(n, "owner"), plural(n, "remains", "remain"))
	}
	if transition.OrphanedFrom == graph.None && b.initial.Decide(b.node).Action == collector.ActionUnlink {
		for i, j := range b.judgements {
			b.suggestRepair(i, j, "do the same now by ")
		}
	}
}

// dropsValidReference reports whether a valid reference is removed because an invalid one
// has the same UID.
func (b *answerBuilder) dropsValidReference() bool {
	for i, j := range b.judgements {
		if j.Verdict == collector.VerdictSolid && b.assessment.Unlinks(b.object.Owners[i].UID) {
			return true
		}
	}
	return false
}
