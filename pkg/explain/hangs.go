package explain

import (
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// hangs explains a deletion that the collector cannot end: it says what it waits
// for, to the end of the chain.
func (s *subject) hangs(since string) {
	model := s.course.Model
	links, end, _ := model.Chain(s.node)
	for i, n := range links[1:] {
		s.WaitsFor = append(s.WaitsFor, Link{s.graph.Object(n).Identity, s.link(n, i+2 == len(links) && end.Why != simulate.InCycle)})
	}
	how := "foreground: dependents that block it are deleted first"
	if model.Object(s.node).Orphaning() {
		how = "orphan: its dependents lose their references to it first"
	}
	say := func(c collector.Consequence, what string) {
		s.say(c, fmt.Sprintf("%s has been terminating for %s (%s), and %s.", s.object, since, how, what))
	}
	last := s.graph.Object(end.Node).Identity
	waits := "is blocked by " + name(last, s.object.Namespace)
	if len(links) == 1 {
		waits = "is blocked"
	} else if more := len(model.Blocking(s.node)) - 1; more > 0 {
		s.next(fmt.Sprintf("%s %s it, besides the one that is named here.", count(more, "more object"), plural(more, "blocks", "block")))
	}
	switch end.Why {
	case simulate.InCycle:
		circle := "waits in a cycle, so the deletion never completes: each object in it waits for another to be deleted first"
		if len(links) == 1 {
			circle = "waits for itself to be deleted first, so the deletion never completes"
		}
		say(collector.ConsequenceStuck, circle)
		s.remedy("complete the deletion by deleting it again, without waiting for dependents", s.gc("delete", s.object.Identity, "--cascade=background")...)
	case simulate.CannotBeJudged:
		say(collector.ConsequenceStuck, waits+", which the garbage collector skips, so the deletion never completes")
		s.next(fmt.Sprintf("About %s: %s.", last, s.after.UndecidableReference(end.Node, end.Reference).Undecidable()))
		s.remedy("see what is wrong with "+last.String(), s.gc("why", last)...)
	case simulate.NotAllListed:
		say(collector.ConsequenceUnknown, "it is unknown whether anything blocks it: not all of its possible dependents could be read")
	case simulate.ContentsNotListed: // only a model that acts says so
	case simulate.SharesUID:
		say(collector.ConsequenceUnknown, "it is unknown what happens to it: "+snapshot.Contention(s.graph.Object(end.Node)).Contest())
	case simulate.HeldByFinalizers:
		say(collector.ConsequenceNone, waits+", which is held by "+s.foreign(end.Node))
		s.owed(last, s.course.Model.Object(end.Node))
	case simulate.PodStillStopping:
		say(collector.ConsequenceNone, waits+", a Pod that is still stopping")
	case simulate.ContentsStillDeleting, simulate.LimitReached, simulate.NothingBlocks:
		say(collector.ConsequenceNone, waits+", which "+s.after.Of(end.Node).Reason.Message())
	}
	if end.Why == simulate.HeldByFinalizers && len(links) == 1 {
		say(collector.ConsequenceNone, "is held by "+s.foreign(end.Node))
	}
}

func (s *subject) foreign(n graph.Node) string {
	held := s.course.Model.Object(n).ForeignFinalizers()
	return plural(len(held), "the finalizer ", "the finalizers ") + listed(held)
}

// link says what it is about an object in a chain. last says that the chain ends
// with it.
func (s *subject) link(n graph.Node, last bool) string {
	switch {
	case !last:
		return "blocks it, and waits for a dependent to be deleted first"
	case s.course.Model.Object(n).Terminating():
		return "blocks it, and " + s.after.Of(n).Reason.Message()
	}
	return "blocks it, and is not deleted"
}
