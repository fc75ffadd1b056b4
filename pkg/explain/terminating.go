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
	h := b.now.Of(b.node)
	goes := b.result.Model.Object(b.node) == nil
	container, withContents := b.result.ContentsDeleted[b.node]
	switch {
	case goes && withContents:
		b.deletedWith(b.result.Transitions[container].Node, ".")
		b.afterDeletion()
	case goes && !b.object.HasCollectorFinalizer() && b.deletesContents() && !h.Late(b.StuckAfter) && len(b.graph.Snapshot().Refused) == 0:
		b.underWay(collector.ConsequenceNone, ", and goes once its contents are gone. No action is needed.")
	default:
		b.held(&h)
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
	blocking := h.By
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
		b.answer.nextf("%s %s.", h.RootCause, h.Cause.Message())
	}
	b.answer.next("A running garbage collector does this within seconds. If the object stays longer, the garbage collector is off or has lost track of it: then this tool, or a restart of the controller manager, completes the deletion.")
	where, of := "the cluster", []string{"-A"}
	if b.object.Namespace != "" {
		where, of = "the namespace", []string{"-n", b.object.Namespace}
	}
	b.answer.suggest("complete the deletion, if no garbage collector runs; this previews a pass over "+where, plugin.Line(slices.Concat([]string{"collect"}, of, []string{"--dry-run"})...)...)
}

// held explains a deletion by what holds it.
func (b *answerBuilder) held(h *terminating.Hold) {
	switch {
	case b.object.Contested:
		b.answer.say(collector.ConsequenceUnknown, "It is unknown what happens to %s: %s.", b.object, snapshot.UIDContested(b.object).Contest())
	case h.Completes() && len(h.Own) > 0:
		b.finalizers(h)
	case h.Completes():
		b.collectorCompletes(h)
	case b.object.IsNamespace() && !h.Blocked():
		b.namespace(h)
	case h.Blocked() || h.Holder == terminating.HolderDependents:
		b.stuck(h)
	case h.Holder == terminating.HolderContents:
		b.underWay(collector.ConsequenceNone, ", and "+remaining(len(b.contents()), "of its kind")+".")
		b.blockedContents(false)
	case h.Holder == terminating.HolderKubelet && len(h.Own) == 0:
		b.answer.say(collector.ConsequenceNone, "%s %s.", b.object, h.Why.Message())
		b.removal()
		b.answer.suggest("remove it without waiting for the kubelet, only if its containers cannot run anymore", b.command("delete", b.object.Identity, "--force", "--dry-run")...)
	case len(h.Own) > 0:
		b.finalizers(h)
	case h.Holder == terminating.HolderGracePeriod:
		b.stopping()
	default:
		b.nothingBlocks()
	}
}

// finalizers explains a deletion that waits for others to remove their finalizers.
func (b *answerBuilder) finalizers(h *terminating.Hold) {
	held := b.initial.HeldBy(b.node)
	b.underWay(collector.ConsequenceNone, ", held by "+foreign(held)+".")
	b.explainFinalizers(b.object.Identity, held)
	if h.Holder == terminating.HolderKubelet {
		b.answer.nextf("%s %s.", b.object, h.Why.Message())
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
	for _, f := range held.Finalizers {
		if i == b.object.Identity {
			break // each of its own finalizers is listed with its controller
		}
		b.explainFinalizer(f, i)
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
	for _, f := range held.Finalizers {
		if who, _, _ := simulate.FinalizerController(f); who == simulate.Nobody {
			ask = "preview removing it"
		}
		if traces := b.now.Traces().Of(f, i); says && (traces == nil || !traces.NothingFound()) {
			continue // its controller is at work
		}
		if f != simulate.DefinitionFinalizer {
			b.answer.suggest(ask, plugin.Line(slices.Concat([]string{"finalizer", "remove"}, slices.Insert(b.arguments(i), 1, f), []string{"--dry-run"})...)...)
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

// explainFinalizer says who has to remove a finalizer from an object, and what the scan shows of its controller.
func (b *answerBuilder) explainFinalizer(finalizer string, on object.Identity) {
	b.answer.nextf("The finalizer %s: %s.", finalizer, finalizerController(finalizer))
	if traces := b.now.Traces().Of(finalizer, on); traces != nil {
		b.answer.next(traces.Sentence() + ".")
	}
}

// finalizerController returns who removes a finalizer, and when, as far as its name tells.
func finalizerController(finalizer string) string {
	who, when, known := simulate.FinalizerController(finalizer)
	switch {
	case who == simulate.Nobody:
		return "nobody removes it: it is a misspelled finalizer of the garbage collector"
	case when != "":
		return fmt.Sprintf("%s removes it when %s", who, when)
	case known:
		return fmt.Sprintf("%s has to remove it", who)
	case who != "":
		return fmt.Sprintf("the controller behind %s has to remove it", who)
	}
	return "its name does not say which controller has to remove it"
}

// stuck explains a deletion that the garbage collector cannot complete, with the chain of
// objects that block it.
func (b *answerBuilder) stuck(h *terminating.Hold) {
	model := b.result.Model
	links, end, _ := model.Chain(b.node)
	for i, n := range links[1:] {
		b.answer.WaitsFor = append(b.answer.WaitsFor, Link{b.graph.Object(n).Identity, b.link(n, i+2 == len(links) && end.Reason != simulate.InCycle)})
	}
	how := ""
	switch left := model.Object(b.node); {
	case left.Orphaning():
		how = " (orphan: its dependents lose their references to it first)"
	case left.DeletingDependents():
		how = " (" + foregroundDeletion + ")"
	}
	say := func(what string) { b.underWay(h.Consequence, how+", and "+what+".") }
	last := b.graph.Object(end.Node).Identity
	waits := "is blocked by " + name(last, b.object.Namespace)
	which := waits + ", which "
	if end.Node == b.node { // it is in its own way
		which = ""
	}
	if more := len(h.By) - 1; len(links) > 1 && more > 0 {
		b.answer.nextf("%s %s it, too.", reason.Count(more, "more object"), plural(more, "blocks", "block"))
	}
	switch end.Reason {
	case simulate.InCycle:
		cycle := "waits in a cycle, so the deletion never completes: each object in it waits for another to be deleted first"
		if len(links) == 1 {
			cycle = "waits for itself to be deleted first, so the deletion never completes"
		}
		say(cycle)
		b.answer.suggest("complete the deletion by deleting it again, without waiting for dependents; this previews that", b.command("delete", b.object.Identity, "--cascade=background", "--dry-run")...)
	case simulate.CannotBeJudged:
		skips := ", which the garbage collector skips, so the deletion never completes"
		if h.Consequence == collector.ConsequenceUnknown {
			skips = ", which the garbage collector may skip, so it is unknown whether the deletion completes"
		}
		say(waits + skips)
		b.answer.nextf("About %s: %s.", last, terminating.UndecidableReference(model, end.Node, end.Reference).Undecidable())
		b.answer.suggest("see what is wrong with "+last.String(), b.command("why", last)...)
	case simulate.NotAllListed:
		say("it is unknown whether anything blocks it: this tool could not read everything that may depend on it")
	case simulate.SharesUID:
		say("it is unknown what happens to it: " + snapshot.UIDContested(b.graph.Object(end.Node)).Contest())
	case simulate.HeldByFinalizers:
		say(which + "is held by " + foreign(model.HeldBy(end.Node)))
		b.explainFinalizers(last, model.HeldBy(end.Node))
	case simulate.PodStillStopping:
		say(waits + ", a Pod that is still stopping")
	case simulate.PatchRejected, simulate.ContentsUnlistable, simulate.ContentsNotListed, simulate.ContentsStillDeleting, simulate.GroupsUndiscoverable, simulate.LimitReached, simulate.NothingBlocks:
		say(which + h.Cause.Message())
	}
}

func foreign(held reason.HeldByFinalizers) string {
	return plural(len(held.Finalizers), "the finalizer ", "the finalizers ") + list(held.Finalizers) + held.Because()
}

// link returns what blocks the deletion in an object of the chain. last is set for the end
// of the chain.
func (b *answerBuilder) link(n graph.Node, last bool) string {
	switch {
	case !last:
		return "blocks it, and waits for a dependent to be deleted first"
	case b.result.Model.Object(n).Terminating():
		return "blocks it, and " + b.later.Of(n).Why.Message()
	}
	return "blocks it, and is not being deleted"
}
