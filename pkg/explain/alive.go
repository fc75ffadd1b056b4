package explain

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/repair"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// alive explains an object without a deletion timestamp.
func (b *answerBuilder) alive() {
	d := b.initial.Decide(b.node)
	_, byContents := b.result.ContentsDeleted[b.node]
	by, pending := b.result.ContentsPending[b.node]
	deletion, unlinked := b.firstTransition(b.node, collector.ActionDelete), b.firstTransition(b.node, collector.ActionUnlink)
	switch {
	case !b.graph.KnownToCollector(b.node):
		b.answer.say(collector.ConsequenceNone, "%s stays: the garbage collector does not watch objects of its type, and no object that it watches names this one as its owner.", b.object)
		b.suggestDelete()
	case b.onlyListKinds():
		b.listKind()
	case b.object.Contested:
		b.answer.say(collector.ConsequenceUnknown, "It is unknown what happens to %s: %s.", b.object, snapshot.UIDContested(b.object).Contest())
	case byContents && deletion == nil:
		b.deletedWith(b.result.Transitions[b.result.ContentsDeleted[b.node]].Node, ".")
		b.afterDeletion()
	case pending && deletion == nil:
		b.deletedWith(b.result.Transitions[by].Node, ", once no Pod is left in it.")
		b.answer.next("For now, a Pod stays in the namespace.")
	case deletion == nil && d.Action == collector.ActionDelete && b.container == nil:
		b.unnoticed()
	case d.Action == collector.ActionDelete || d.Action == collector.ActionUnblock:
		if deletion != nil {
			d = deletion.Decision
		}
		b.answer.say(collector.ConsequenceDelete, "The garbage collector %s delete %s: %s.", b.will(), b.object, b.noOwnerKeeps())
		b.deletedNow(d.Policy)
	case deletion != nil:
		b.deletedLater(deletion)
	case unlinked == nil && d.Action == collector.ActionUnlink && b.container != nil: // it is deleted with that
		b.losesReferences(&simulate.Transition{Decision: d, OrphanedFrom: graph.None})
	case unlinked == nil && d.Action == collector.ActionUnlink:
		b.unnoticed()
	case unlinked != nil:
		b.losesReferences(unlinked)
	case d.NoAction == collector.ReferenceUnknown && b.assessment.UndecidableReference >= 0:
		b.undecidable(d.UndecidableReference)
	case d.NoAction == collector.ReferenceUnknown:
		b.unknown(d.UndecidableReference)
	case d.NoAction == collector.PatchRejected:
		b.updateRefused()
	case len(b.object.Owners) == 0:
		b.answer.say(collector.ConsequenceNone, "%s stays: %s.", b.object, keptReason(nil))
		b.suggestDelete()
	default:
		b.kept()
	}
	b.otherController()
	b.contentsDeletion()
	b.unreadableContents()
}

// otherController says which other controller deletes an object that the garbage collector leaves alone.
func (b *answerBuilder) otherController() {
	why, certain := b.initial.DeletedBy(b.node)
	if b.answer.DeletedBy = why; why == nil || b.answer.Consequence != collector.ConsequenceNone {
		return
	}
	b.answer.Headline = fmt.Sprintf("%s stays for now: %s.", b.object, why.Message())
	if certain {
		b.answer.Headline = fmt.Sprintf("%s will be deleted: %s.", b.object, why.Message())
	}
}

// will returns "will" if the object is deleted in every order of events, and "may" if not.
func (b *answerBuilder) will() string {
	if b.container != nil || b.result.Terminates(b.node) == simulate.Always {
		return "will"
	}
	return "may"
}

// unnoticed explains an object that the garbage collector would delete or change but has no reason to
// process: its bad owners are all in foreground deletion and of unmonitored types.
func (b *answerBuilder) unnoticed() {
	what := b.noOwnerKeeps() + ", but"
	if b.initial.Decide(b.node).Action == collector.ActionUnlink {
		what = "it keeps " + b.lostReferences() + ", since"
	}
	b.answer.say(collector.ConsequenceNone, "%s stays: %s the garbage collector does not watch %s.", b.object, what, plural(b.waitingOwners(), "it", "them"))
	b.answer.next("It notices no foreground deletion of an object that it does not watch, so it neither deletes the dependents nor completes the deletion.")
	b.suggestDelete()
}

// unmonitored reports whether the garbage collector does not watch the object's type.
func (b *answerBuilder) unmonitored() bool {
	m, ok := b.graph.View().Map(b.object.APIVersion, b.object.Kind)
	return ok && b.graph.Virtual(b.node) && !m.Type.Watched()
}

// deletedNow explains a deletion that follows from the references as they are.
func (b *answerBuilder) deletedNow(policy metav1.DeletionPropagation) {
	b.answer.next("A running garbage collector acts within seconds.")
	if b.firstTransition(b.node, collector.ActionUnblock) != nil {
		b.answer.next("It waits in a cycle with its dependents, so its references stop blocking their owners first.")
	}
	b.propagation(policy)
	b.afterDeletion()
	switch {
	case b.graph.Virtual(b.node):
	case len(b.repairs) > 1 && !slices.ContainsFunc(b.repairs, needsPerson): // one reference alone would not keep it
		b.answer.suggest("keep it by repairing its references", b.command("repair", b.object.Identity)...)
	default:
		for i, j := range b.judgements {
			if b.suggestRepair(i, j, "keep it by ") {
				break
			}
		}
	}
	if len(b.answer.Suggestions) == 0 { // an owner that waits for its dependents is no mistake
		b.answer.suggest(fmt.Sprintf("keep it by removing its reference to %s from its metadata", b.object.Owners[0]), append([]string{"kubectl", "edit"}, b.arguments(b.object.Identity)...)...)
	}
	if b.graph.Virtual(b.node) {
		return // this tool deletes only listed objects
	}
	b.answer.suggest("preview its deletion, if no garbage collector runs", b.command("delete", b.object.Identity, "--client-side", "--dry-run")...)
}

// needsPerson reports whether repair leaves a reference alone unless a person chooses what to do.
func needsPerson(m repair.Repair) bool { return m.Fix == repair.None || m.NeedsDecision }

// noOwnerKeeps returns, as a clause, why no owner keeps the object.
func (b *answerBuilder) noOwnerKeeps() string {
	found := reason.OwnersLost{}
	for i, j := range b.judgements {
		found.Owners = append(found.Owners, j.Owner(b.object.Owners[i]))
	}
	return found.Message()
}

// waitingOwners returns how many references name an owner in foreground deletion.
func (b *answerBuilder) waitingOwners() int {
	n := 0
	for _, j := range b.judgements {
		if j.Verdict == collector.VerdictWaiting {
			n++
		}
	}
	return n
}

func (b *answerBuilder) propagation(p metav1.DeletionPropagation) {
	switch p {
	case metav1.DeletePropagationForeground:
		b.answer.next("Its own dependents go first (foreground deletion).")
	case metav1.DeletePropagationOrphan:
		b.answer.next("Its own dependents stay, because it has the finalizer orphan.")
	case metav1.DeletePropagationBackground:
	}
}

// afterDeletion explains what delays the object after the garbage collector has deleted
// it.
func (b *answerBuilder) afterDeletion() {
	if left := b.result.Model.Object(b.node); left != nil {
		b.answer.next("After that, it still exists: it " + b.holds.Later().Of(b.node).Reason.Message() + ".")
	} else if b.object.Running {
		b.answer.next("Its containers get their grace period to stop.")
	}
}

// deletedLater explains a deletion that happens after an owner is deleted.
func (b *answerBuilder) deletedLater(transition *simulate.Transition) {
	var owners []string
	for i, v := range transition.Verdicts {
		owner := b.graph.Find(transition.StateBefore.Owners[i].UID)
		if v.IsDanglingOrWaiting() && b.graph.Object(owner) != nil {
			owners = append(owners, b.name(owner))
		}
	}
	switch n := len(owners); n {
	case 0: // an existing owner removes its reference first
		b.answer.say(collector.ConsequenceDelete, "The garbage collector %s delete %s: the owner that keeps it orphans it, and no other owner exists.", b.will(), b.object)
	default:
		b.answer.say(collector.ConsequenceDelete, "The garbage collector %s delete %s once its %s gone.", b.will(), b.object,
			plural(n, "owner "+list(owners)+" is", "owners "+list(owners)+" are"))
	}
	if len(b.object.Owners) > 1 {
		b.answer.next("Then no owner keeps it.")
	}
	b.firstCause(transition)
	b.propagation(transition.Policy)
	b.afterDeletion()
}

// verb returns what the garbage collector does, as in "the garbage collector deletes".
func verb(m *simulate.Transition) string {
	switch m.Action {
	case collector.ActionDelete:
		return "deletes"
	case collector.ActionRemoveFinalizer:
		return "finishes deleting"
	case collector.ActionUnlink, collector.ActionUnblock, collector.ActionNone, collector.ActionOrphanDependents:
	}
	return "changes"
}

// firstCause names the first of the transitions that lead to this one.
func (b *answerBuilder) firstCause(transition *simulate.Transition) {
	first := transition
	for first.CausedBy >= 0 {
		first = &b.result.Transitions[first.CausedBy]
	}
	if first.Node == b.node {
		return
	}
	i := b.graph.Object(first.Node).Identity
	b.answer.nextf("The garbage collector %s %s first.", verb(first), name(i, b.object.Namespace))
	b.answer.suggest("see why that happens to "+name(i, b.object.Namespace), b.command("why", i)...)
}

// deletedWith explains a deletion with the object's namespace or CustomResourceDefinition. rest is
// how the sentence about it ends.
func (b *answerBuilder) deletedWith(container graph.Node, rest string) {
	i := b.graph.Object(container).Identity
	b.answer.say(collector.ConsequenceDelete, "%s will be deleted with %s, which the garbage collector deletes%s", b.object, i, rest)
	b.answer.suggest("see why that happens to "+i.String(), b.command("why", i)...)
}
