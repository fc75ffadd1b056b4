package explain

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plugin"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	"github.com/kubectl-gc/kubectl-gc/pkg/terminating"
)

// terminating explains an object with a deletion timestamp.
func (b *answerBuilder) terminating() {
	for _, i := range b.initial.HeldBy(b.node).UsedBy {
		if i.IsAttachment() {
			b.answer.WaitsFor = append(b.answer.WaitsFor, Link{i.Identity, "attaches it to a node, and has to go first"})
			b.answer.suggest("see what keeps "+i.String(), b.command("why", i.Identity)...)
		}
	}
	h, left := b.holds.Of(b.node), b.result.Model.Object(b.node)
	goes := left == nil
	container, withContents := b.result.ContentsDeleted[b.node]
	switch {
	case goes && withContents:
		b.deletedWith(b.result.Transitions[container].Node, ".")
		b.afterDeletion()
	case goes && !b.object.HasCollectorFinalizer() && b.deletesContents() && !h.Late(b.StuckAfter) && len(b.graph.Snapshot().Refused) == 0:
		b.underWay(collector.ConsequenceNone, ", and goes once its contents are gone. No action is needed.")
	default:
		b.held(&h, left)
	}
	if goes && b.object.HasCollectorFinalizer() && b.answer.Consequence == collector.ConsequenceNone {
		b.answer.Consequence = collector.ConsequenceDelete
	}
	if !goes && b.firstTransition(b.node, collector.ActionUnlink) != nil {
		if b.answer.Consequence == collector.ConsequenceNone {
			b.answer.Consequence = collector.ConsequenceUnlink
		}
		b.answer.next("Meanwhile, it loses its reference to an owner that is being deleted and orphans its dependents.")
	}
}

// deletesContents reports whether the object is a Namespace, or a CustomResourceDefinition with objects.
func (b *answerBuilder) deletesContents() bool {
	return b.object.IsNamespace() || b.object.IsCRD() && len(b.contents()) > 0
}

// irreversible says of a deletion under way that it cannot be undone, and how the data on volumes can still be kept.
func (b *answerBuilder) irreversible() {
	if !b.object.Terminating() {
		return
	}
	if b.object.Kind != "Pod" || !b.object.Controlled() { // a controller replaces its Pods
		b.answer.Caveats = append(b.answer.Caveats, "A deletion cannot be canceled. Afterwards, recreate the object from a manifest or, if this tool deleted it, with restore.")
	}
	lost := []*simulate.Data{simulate.NewVolumes(b.graph).Data(b.node)}
	for _, c := range b.answer.Cascade.Claims {
		lost = append(lost, c.Data)
	}
	for _, d := range lost[:min(len(lost), maxNames)] {
		if d != nil && d.Lost != simulate.DataKept && d.Volume != "" {
			b.answer.suggest("keep the data on volume "+d.Volume+", if its deletion has not begun: with the policy Retain, no controller deletes it",
				"kubectl", "patch", "persistentvolume/"+d.Volume, "--patch", `{"spec":{"persistentVolumeReclaimPolicy":"Retain"}}`)
		}
	}
}

// foregroundDeletion is what a foreground deletion does.
const foregroundDeletion = "foreground: dependents that block it are deleted first"

// underWay says for how long the object has been terminating, and the rest of the sentence.
func (b *answerBuilder) underWay(c collector.Consequence, rest string) {
	b.answer.say(c, "%s has been terminating for %s%s", b.object, b.since(b.object.DeletionRequested()), rest)
}

// collectorCompletes explains a deletion that the garbage collector completes.
func (b *answerBuilder) collectorCompletes(h *terminating.Hold) {
	blocking := h.BlockedBy
	switch n := len(blocking); {
	case b.object.Orphaning():
		b.underWay(collector.ConsequenceDelete, " with policy Orphan: the garbage collector removes its dependents' references to it, and then completes the deletion.")
		if n := objects(b.referrers(b.graph.Dependents(b.node))); n > 0 {
			b.answer.nextf("%s: each loses its reference to it, and stays.", reason.Count(n, "dependent"))
		}
	case n == 0:
		b.underWay(collector.ConsequenceDelete, " ("+foregroundDeletion+"), and nothing blocks it anymore: the garbage collector completes the deletion.")
	default:
		b.underWay(collector.ConsequenceDelete, fmt.Sprintf(" (%s): the garbage collector deletes it after the %s it.", foregroundDeletion,
			plural(n, "object that blocks", fmt.Sprintf("%d objects that block", n))))
		for _, n := range blocking[:min(n, maxNames)] {
			b.answer.WaitsFor = append(b.answer.WaitsFor, Link{n, "blocks it, and is deleted before it"})
		}
		if more := n - maxNames; more > 0 {
			b.answer.nextf("%s %s it as well.", reason.Count(more, "more object"), plural(more, "blocks", "block"))
		}
	}
	if h.RootCause != nil {
		b.answer.nextf("%s %s.", h.RootCause, h.ObstacleReason.Message())
	}
	b.answer.next("A running garbage collector does this within seconds. If the object stays longer, the garbage collector is off or has lost track of it: then this tool, or a restart of the controller manager, completes the deletion.")
	where, of := "the cluster", []string{"-A"}
	if b.object.Namespace != "" {
		where, of = "the namespace", []string{"-n", b.object.Namespace}
	}
	b.answer.suggest("complete the deletion, if no garbage collector runs; this previews a pass over "+where, plugin.Line(slices.Concat([]string{"collect"}, of, []string{"--dry-run"})...)...)
}

// held explains a deletion by what holds it. left is what is left of the object when the garbage collector has done all it can; nil if it is
// gone then.
func (b *answerBuilder) held(h *terminating.Hold, left *object.Object) {
	blocked := left != nil && left.HasCollectorFinalizer()
	switch {
	case b.object.Contested:
		b.answer.say(collector.ConsequenceUnknown, "It is unknown what happens to %s: %s.", b.object, snapshot.UIDContested(b.object).Contest())
	case left == nil && (h.Holder == terminating.HolderCollector || h.Holder == terminating.HolderDependents):
		b.collectorCompletes(h)
	case h.Namespace != nil && !blocked:
		b.namespace(h)
	case blocked || h.Holder == terminating.HolderDependents:
		b.stuck(h, left)
	case h.Holder == terminating.HolderContents:
		b.underWay(collector.ConsequenceNone, ", and "+remaining(len(b.contents()), "of its kind")+".")
		b.blockedContents(false)
	case len(h.OwnFinalizers) > 0:
		b.finalizers(h)
	case h.Holder == terminating.HolderKubelet:
		b.answer.say(collector.ConsequenceNone, "%s %s.", b.object, h.Reason.Message())
		b.removal()
		b.answer.suggest("remove it without waiting for the kubelet, only if its containers cannot run anymore", b.command("delete", b.object.Identity, "--force", "--dry-run")...)
	case h.Holder == terminating.HolderGracePeriod:
		b.stopping()
	default:
		b.nothingBlocks()
	}
}

// finalizers explains a deletion that waits for others to remove their finalizers.
func (b *answerBuilder) finalizers(h *terminating.Hold) {
	held := b.initial.HeldBy(b.node)
	held.Since = reason.Since{} // the headline begins with it
	b.underWay(collector.ConsequenceNone, ", and "+held.Message()+".")
	b.explainFinalizers(b.object.Identity, held)
	if h.Holder == terminating.HolderKubelet {
		b.answer.nextf("%s %s.", b.object, h.Reason.Message())
	}
	if b.object.DeletingDependents() {
		b.answer.next("The garbage collector removes its own finalizer first; that is not enough.")
	}
}

// stopping explains a Pod in its grace period.
func (b *answerBuilder) stopping() {
	b.underWay(collector.ConsequenceNone, fmt.Sprintf(", and is still stopping: its kubelet has %ds to stop its containers (grace period).", *b.object.GraceSeconds))
	b.answer.next("It is gone once its kubelet reports that it has stopped.")
}

// removal says what ends a Pod past its grace period.
func (b *answerBuilder) removal() {
	state := object.NodeUnknown
	if b.object.Node != nil {
		state = b.object.Node.State
	}
	switch state {
	case object.NodeAbsent:
		b.answer.next("No kubelet can report that it has stopped. kube-controller-manager removes the Pods of a missing Node, usually within a minute.")
	case object.NodeNotReady:
		b.answer.next("It is gone once the kubelet is back and reports that it has stopped.")
	case object.NodeReady, object.NodeUnknown:
		b.answer.next("It is gone once its kubelet reports that it has stopped, or its Node is removed from the cluster.")
	}
}

// nothingBlocks explains an object that was read just before its removal, or whose
// deletion was interrupted between the server's two writes (Store.Delete): the garbage
// collector skips a terminating object without its own finalizers (attemptToDeleteItem).
func (b *answerBuilder) nothingBlocks() {
	b.underWay(collector.ConsequenceNone, ", and this tool found nothing that blocks it.")
	b.answer.next("It should be gone by now. If it stays, its deletion was interrupted: the API server marked it, but did not remove it. The garbage collector does not process it again.")
	b.answer.suggest("if it stays, delete it again, which completes the deletion", append([]string{"kubectl", "delete"}, b.arguments(b.object.Identity)...)...)
}

// remaining returns that some objects still exist, as a clause; which says where they are.
func remaining(n int, which string) string {
	return fmt.Sprintf("%s %s still %s", reason.Count(n, "object"), which, plural(n, "exists", "exist"))
}

// explainFinalizers says who has to remove the finalizers of others, and what a person may do.
func (b *answerBuilder) explainFinalizers(i object.Identity, held reason.HeldByFinalizers) {
	finalizers := b.holds.Finalizers(held.Finalizers, i)
	if i != b.object.Identity { // each of its own finalizers is listed with its controller
		b.nameControllers(finalizers)
	}
	b.answer.next("The garbage collector only removes its own finalizers.")
	says := held.Due == nil && b.says(i) // else nothing that it says keeps the controller from acting
	ask := "fix or restart its controller. If that is gone for good, preview removing the finalizer by hand"
	switch {
	case len(b.graph.Snapshot().Refused) > 0 && len(held.UsedBy) == 0: // to anybody else, too
		return
	case held.Due != nil && !held.Due.Late:
		return
	case held.Due != nil:
		b.answer.suggest("see whether the control plane works", plugin.Line("doctor")...)
		ask = "preview removing it in place of " + held.Due.Controller
	case len(held.UsedBy) > 0:
		words := []string{"delete"}
		for _, user := range held.UsedBy {
			if user.Use == reason.Uses || user.Use == reason.CreatedFrom {
				words = append(words, b.arguments(user.Identity)[0])
			} else if !user.IsAttachment() && user.UID != "" {
				b.answer.suggest("see what becomes of "+user.String(), b.command("why", user.Identity)...)
			}
		}
		if len(words) > 1 {
			b.answer.suggest("preview deleting its users, also a Pod that has completed", plugin.Line(append(words, "-n", i.Namespace, "--dry-run")...)...)
		}
		return
	case held.UsersUnknown:
		b.answer.suggest("see what uses it, before anything else", append([]string{"kubectl", "describe"}, b.arguments(i)...)...)
		return
	}
	for _, f := range finalizers {
		if f.Misspelled() {
			ask = "preview removing it"
		}
		if says && (f.Traces == nil || !f.Traces.NothingFound()) {
			continue // its controller is at work
		}
		if f.Name != simulate.DefinitionFinalizer {
			b.answer.suggest(ask, plugin.Line(slices.Concat([]string{"finalizer", "remove"}, slices.Insert(b.arguments(i), 1, f.Name), []string{"--dry-run"})...)...)
			break
		}
	}
}

// says repeats what an object says itself, and suggests to do that first. It reports whether the object says anything.
func (b *answerBuilder) says(i object.Identity) bool {
	o := b.graph.Object(b.graph.Find(i.UID))
	if o == nil || o.Says(b.graph.Snapshot().Taken) == "" {
		return false
	}
	if o != b.object {
		b.answer.next(o.Says(b.graph.Snapshot().Taken) + ".")
	}
	b.answer.suggest("first do what its status and Events say")
	words := map[string]bool{}
	for _, text := range o.Status.Messages() {
		for _, word := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '.' }) {
			words[strings.ToLower(strings.Trim(word, "."))] = true
		}
	}
	named := 0
	for n := range b.graph.Listed() {
		other := b.graph.Object(graph.Node(n))
		kind := strings.ToLower(other.Kind)
		if words[other.Name] && (words[kind] || words[kind+"s"]) && (other.Namespace == "" || other.Namespace == o.Namespace) && other != o && named < maxNames {
			named++
			b.answer.suggest("see what becomes of "+other.String()+", which these name", b.command("why", other.Identity)...)
		}
	}
	return true
}

// nameControllers says who has to remove finalizers, and what the scan shows of these controllers.
func (b *answerBuilder) nameControllers(finalizers []terminating.Finalizer) {
	for _, f := range finalizers {
		b.answer.nextf("The finalizer %s: %s.", f.Name, f.Removal())
		if f.Traces != nil {
			b.answer.next(f.Traces.Sentence() + ".")
		}
	}
}

// stuck explains a deletion that the garbage collector cannot complete, with the chain of
// objects that block it. left is as in held.
func (b *answerBuilder) stuck(h *terminating.Hold, left *object.Object) {
	chain := b.result.Model.Chain(b.node)[1:]
	for i, n := range chain {
		what := "waits for a dependent to be deleted first"
		switch last := i+1 == len(chain) && h.Obstacle.Reason != simulate.InCycle; {
		case last && b.result.Model.Object(n).Terminating():
			what = h.ObstacleReason.Message()
		case last:
			what = "is not being deleted"
		}
		b.answer.WaitsFor = append(b.answer.WaitsFor, Link{b.graph.Object(n).Identity, "blocks it, and " + what})
	}
	rest := ""
	switch {
	case left.Orphaning():
		rest = " (orphan: its dependents lose their references to it first)"
	case left.DeletingDependents():
		rest = " (" + foregroundDeletion + ")"
	}
	switch h.Consequence {
	case collector.ConsequenceStuck:
		rest += ", and the deletion never completes: it "
	case collector.ConsequenceUnknown:
		rest += ", and it is unknown whether the deletion completes: it "
	case collector.ConsequenceNone, collector.ConsequenceDelete, collector.ConsequenceUnlink:
		rest += ", and "
	}
	b.underWay(h.Consequence, rest+h.Reason.Message()+".")
	if more := len(h.BlockedBy) - 1; len(chain) > 0 && more > 0 {
		b.answer.nextf("%s %s it, too.", reason.Count(more, "more object"), plural(more, "blocks", "block"))
	}
	switch end := b.graph.Object(h.Obstacle.Node).Identity; h.Obstacle.Reason {
	case simulate.InCycle:
		b.answer.suggest("complete the deletion by deleting it again, without waiting for dependents; this previews that", b.command("delete", b.object.Identity, "--cascade=background", "--dry-run")...)
	case simulate.CannotBeJudged:
		b.answer.suggest("see what is wrong with "+end.String(), b.command("why", end)...)
	case simulate.HeldByFinalizers:
		b.explainFinalizers(end, b.result.Model.HeldBy(h.Obstacle.Node))
	case simulate.NotAllListed, simulate.SharesUID, simulate.PodStillStopping, simulate.PatchRejected, simulate.WriteRefused, simulate.ContentsUnlistable,
		simulate.ContentsNotListed, simulate.ContentsStillDeleting, simulate.GroupsUndiscoverable, simulate.LimitReached, simulate.NothingBlocks:
	}
}
