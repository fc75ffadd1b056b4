package explain

import (
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plugin"
)

// terminating explains an object that somebody has deleted and that is still there.
func (s *subject) terminating() {
	since := s.since(*s.object.Deleted)
	switch {
	case s.course.Model.Object(s.node) == nil:
		s.ends(since)
	case s.object.Finishing() && s.course.Model.Object(s.node).Finishing():
		s.hangs(since)
	default:
		s.held(since)
	}
	if s.first(s.node, collector.ActionUnlink) != nil && s.course.Model.Object(s.node) != nil {
		if s.Consequence == collector.ConsequenceNone {
			s.Consequence = collector.ConsequenceUnlink
		}
		s.next("Meanwhile, it loses its reference to an owner that is being deleted and orphans its dependents.")
	}
}

// ends explains a deletion that the collector brings to its end.
func (s *subject) ends(since string) {
	_, swept := s.course.ContentsDeleted[s.node]
	switch {
	case !s.object.Finishing() && !swept && !s.object.IsNamespace() && !s.object.IsDefinition():
		s.free(since)
		return
	case !s.object.Finishing() && !swept:
		s.say(collector.ConsequenceNone, fmt.Sprintf("%s has been terminating for %s, and is deleted after its contents. No action is needed.", s.object, since))
		return
	case swept:
		s.goesWith(s.course.Transitions[s.course.ContentsDeleted[s.node]].Node)
		return
	case s.object.Orphaning():
		s.say(collector.ConsequenceDelete, fmt.Sprintf("%s has been terminating for %s (orphan: its dependents stay, and lose their references to it): then the garbage collector completes the deletion.", s.object, since))
		s.next(fmt.Sprintf("%s: each loses its reference to it, and stays.", count(s.dependents(), "dependent")))
		s.lost()
		return
	}
	blocking := s.now.Blocking(s.node)
	if len(blocking) == 0 {
		s.say(collector.ConsequenceDelete, fmt.Sprintf("%s has been terminating for %s (foreground: dependents that block it are deleted first), and nothing blocks it any more: the garbage collector completes the deletion.", s.object, since))
		s.lost()
		return
	}
	s.say(collector.ConsequenceDelete, fmt.Sprintf("%s has been terminating for %s (foreground: dependents that block it are deleted first): the garbage collector deletes it after the %s it.", s.object, since,
		plural(len(blocking), "object that blocks", fmt.Sprintf("%d objects that block", len(blocking)))))
	for _, n := range blocking[:min(len(blocking), most)] {
		s.WaitsFor = append(s.WaitsFor, Link{s.graph.Object(n).Identity, "blocks it, and is deleted before it"})
	}
	if more := len(blocking) - most; more > 0 {
		s.next(fmt.Sprintf("%s block it as well.", count(more, "more object")))
	}
	s.lost()
}

// lost says what to think of a deletion that a collector should have ended long ago.
func (s *subject) lost() {
	s.next("A running garbage collector does this within seconds. If the object stays longer, the garbage collector is off or has lost track of it: then this tool, or a restart of the controller manager, completes the deletion.")
	s.remedy("complete the deletion, after a preview", plugin.Line("collect")...)
}

func (s *subject) dependents() int {
	seen := map[graph.Node]bool{}
	for _, e := range s.graph.Dependents(s.node) {
		seen[e.Node] = true
	}
	return len(seen)
}

// held explains a deletion that waits for somebody else than the collector.
func (s *subject) held(since string) {
	o := s.object
	left := s.course.Model.Object(s.node)
	switch held := left.ForeignFinalizers(); {
	case o.IsDefinition() && len(s.members()) > 0:
		s.say(collector.ConsequenceNone, fmt.Sprintf("%s has been terminating for %s, with every object of its kind: %s.", o, since, remaining(len(s.members()))))
		s.inside()
	case len(held) > 0:
		s.say(collector.ConsequenceNone, fmt.Sprintf("%s has been terminating for %s, held by %s.", o, since, s.foreign(s.node)))
		s.owed(o.Identity, left)
		if o.DeletingDependents() {
			s.next("The garbage collector removes its own finalizer first; that is not enough.")
		}
	case left.Stopping():
		s.say(collector.ConsequenceNone, fmt.Sprintf("%s has been terminating for %s, and is still stopping: its kubelet has %ds to stop its containers (grace period).", o, since, *left.GraceSeconds))
		s.next("It is deleted when its kubelet reports that it has stopped. If the time has long passed, its node does not respond.")
	case o.IsNamespace() && len(s.members()) == 0:
		s.say(collector.ConsequenceNone, fmt.Sprintf("%s has been terminating for %s, and nothing that could be read is left in it.", o, since))
		s.next("It should be gone at the next scan.")
	case o.IsNamespace():
		s.say(collector.ConsequenceNone, fmt.Sprintf("%s has been terminating for %s, with everything in it: %s.", o, since, remaining(len(s.members()))))
		s.inside()
	default:
		s.free(since)
	}
}

// free explains an object that was seen in its last moment, or whose deletion was
// cut short between the server's two writes (Store.Delete): the collector passes by
// what is terminating without its finalizers (attemptToDeleteItem).
func (s *subject) free(since string) {
	s.say(collector.ConsequenceNone, fmt.Sprintf("%s has been terminating for %s, and nothing that could be read blocks it.", s.object, since))
	s.next("It should be gone at the next scan. If it stays, its deletion was interrupted: the API server marked it, but did not remove it. The garbage collector does not process it again.")
	s.remedy("if it stays, delete it again, which completes the deletion", append([]string{"kubectl", "delete"}, s.target(s.object.Identity)...)...)
}

func remaining(n int) string { return count(n, "object") + " still " + plural(n, "exists", "exist") }

// owed says who has to remove finalizers.
func (s *subject) owed(i object.Identity, o *object.Object) {
	for _, f := range o.ForeignFinalizers() {
		if i == s.object.Identity {
			break // said of each finalizer of its own
		}
		s.next(fmt.Sprintf("The finalizer %s: %s.", f, whose(f)))
	}
	s.next("The garbage collector only removes its own finalizers.")
	s.remedy("ask the controller behind it to remove it. Removing it by hand skips its cleanup", append([]string{"kubectl", "edit"}, s.target(i)...)...)
}
