package explain

import (
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// stuck explains a deletion that the garbage collector cannot complete, with the chain of
// objects that block it.
func (b *builder) stuck(since string) {
	model := b.result.Model
	links, end, _ := model.Chain(b.node)
	for i, n := range links[1:] {
		b.answer.WaitsFor = append(b.answer.WaitsFor, Link{b.graph.Object(n).Identity, b.link(n, i+2 == len(links) && end.Reason != simulate.InCycle)})
	}
	how := "foreground: dependents that block it are deleted first"
	if model.Object(b.node).Orphaning() {
		how = "orphan: its dependents lose their references to it first"
	}
	say := func(c collector.Consequence, what string) {
		b.answer.say(c, fmt.Sprintf("%s has been terminating for %s (%s), and %s.", b.object, since, how, what))
	}
	last := b.graph.Object(end.Node).Identity
	waits := "is blocked by " + name(last, b.object.Namespace)
	if len(links) == 1 {
		waits = "is blocked"
	} else if more := len(model.Blocking(b.node)) - 1; more > 0 {
		b.answer.next(fmt.Sprintf("%s %s it, besides the one that is named here.", count(more, "more object"), plural(more, "blocks", "block")))
	}
	switch end.Reason {
	case simulate.InCycle:
		cycle := "waits in a cycle, so the deletion never completes: each object in it waits for another to be deleted first"
		if len(links) == 1 {
			cycle = "waits for itself to be deleted first, so the deletion never completes"
		}
		say(collector.ConsequenceStuck, cycle)
		b.answer.suggest("complete the deletion by deleting it again, without waiting for dependents", b.explainer.command("delete", b.object.Identity, "--cascade=background")...)
	case simulate.CannotBeJudged:
		say(collector.ConsequenceStuck, waits+", which the garbage collector skips, so the deletion never completes")
		b.answer.next(fmt.Sprintf("About %s: %s.", last, b.explainer.blockers.UndecidableReference(end.Node, end.Reference).Undecidable()))
		b.answer.suggest("see what is wrong with "+last.String(), b.explainer.command("why", last)...)
	case simulate.NotAllListed:
		say(collector.ConsequenceUnknown, "it is unknown whether anything blocks it: not all of its possible dependents could be read")
	case simulate.ContentsNotListed: // only in a model of this tool's own actions
	case simulate.SharesUID:
		say(collector.ConsequenceUnknown, "it is unknown what happens to it: "+snapshot.UIDContested(b.graph.Object(end.Node)).Contest())
	case simulate.HeldByFinalizers:
		say(collector.ConsequenceNone, waits+", which is held by "+b.foreign(end.Node))
		b.explainFinalizers(last, b.result.Model.Object(end.Node))
	case simulate.PodStillStopping:
		say(collector.ConsequenceNone, waits+", a Pod that is still stopping")
	case simulate.ContentsStillDeleting, simulate.LimitReached, simulate.NothingBlocks:
		say(collector.ConsequenceNone, waits+", which "+b.explainer.blockers.Blocker(end.Node).Reason.Message())
	}
	if end.Reason == simulate.HeldByFinalizers && len(links) == 1 {
		say(collector.ConsequenceNone, "is held by "+b.foreign(end.Node))
	}
}

func (b *builder) foreign(n graph.Node) string {
	held := b.result.Model.Object(n).ForeignFinalizers()
	return plural(len(held), "the finalizer ", "the finalizers ") + list(held)
}

// link returns what blocks the deletion in an object of the chain. last is set for the end
// of the chain.
func (b *builder) link(n graph.Node, last bool) string {
	switch {
	case !last:
		return "blocks it, and waits for a dependent to be deleted first"
	case b.result.Model.Object(n).Terminating():
		return "blocks it, and " + b.explainer.blockers.Blocker(n).Reason.Message()
	}
	return "blocks it, and is not deleted"
}
