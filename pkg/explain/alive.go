package explain

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plugin"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// alive explains an object that nobody has deleted.
func (s *subject) alive() {
	d := s.now.Decide(s.node)
	_, swept := s.course.ContentsDeleted[s.node]
	removed, detached := s.first(s.node, collector.ActionDelete), s.first(s.node, collector.ActionUnlink)
	switch {
	case s.unwatched():
		s.say(collector.ConsequenceNone, fmt.Sprintf("%s stays: the garbage collector does not watch objects of its type, and never acts on them.", s.object))
		s.deleteIt()
	case s.object.Contested:
		s.say(collector.ConsequenceUnknown, fmt.Sprintf("It is unknown what happens to %s: %s.", s.object, snapshot.Contention(s.object).Contest()))
	case removed != nil && (d.Action == collector.ActionDelete || d.Action == collector.ActionUnblock):
		s.say(collector.ConsequenceDelete, fmt.Sprintf("The garbage collector will delete %s: %s.", s.object, s.keeper()))
		s.goesNow(removed)
	case removed != nil:
		s.goesLater(removed)
	case swept:
		s.goesWith(s.course.Transitions[s.course.ContentsDeleted[s.node]].Node)
	case detached != nil && d.Action != collector.ActionUnlink:
		s.loses(detached)
	case d.NoAction == collector.ReferenceUnknown && s.misspelt():
		s.slip()
	case d.NoAction == collector.ReferenceUnknown && s.outlook.UndecidableReference >= 0:
		s.stuck(d.UndecidableReference)
	case d.NoAction == collector.ReferenceUnknown:
		s.unknown(d.UndecidableReference)
	case detached != nil && s.outlook.Refused(s.object):
		s.refused()
	case detached != nil:
		s.loses(detached)
	case len(s.object.Owners) == 0:
		s.say(collector.ConsequenceNone, fmt.Sprintf("%s stays: %s.", s.object, FinalizerKeeper(nil)))
		s.deleteIt()
	default:
		s.kept()
	}
	s.surroundings()
}

// unwatched says whether the object is of a type that the collector does not watch.
func (s *subject) unwatched() bool {
	m, ok := s.graph.View().Map(s.object.APIVersion, s.object.Kind)
	t := m.Type
	t.Preferred = true // a served version that is not the preferred one names the same objects
	return ok && s.graph.Virtual(s.node) && !t.Monitored()
}

// goesNow says what follows from the references as they are.
func (s *subject) goesNow(move *simulate.Transition) {
	s.next("A running garbage collector acts within seconds.")
	if s.first(s.node, collector.ActionUnblock) != nil {
		s.next("It waits in a cycle with its dependents, so its references stop blocking their owners first.")
	}
	s.policy(move.Policy)
	s.lingers()
	for i, j := range s.judged {
		if s.mend(i, j, "keep it by ") {
			break
		}
	}
	if len(s.Suggestions) == 0 { // what waits is no mistake, so nothing repairs it
		s.remedy(fmt.Sprintf("keep it by removing its reference to %s from its metadata", s.object.Owners[0]), append([]string{"kubectl", "edit"}, s.target(s.object.Identity)...)...)
	}
	s.remedy("delete it now, after a preview, if the cluster's garbage collector does not run", plugin.Line("collect")...)
}

// keeper says why no owner keeps the object, as a clause.
func (s *subject) keeper() string {
	waiting, n := 0, len(s.object.Owners)
	for _, j := range s.judged {
		if j.Verdict == collector.Waiting {
			waiting++
		}
	}
	switch {
	case waiting == n && n == 1:
		return "its only owner is being deleted in the foreground and waits for its dependents"
	case waiting == n:
		return fmt.Sprintf("all of its %d owners are being deleted in the foreground and wait for their dependents", n)
	case waiting > 0:
		return fmt.Sprintf("none of its %d owners keeps it: %s being deleted in the foreground, the others do not exist", n,
			plural(waiting, "one is", fmt.Sprintf("%d are", waiting)))
	case n == 1:
		return "its only owner does not exist"
	}
	return fmt.Sprintf("none of its %d owners exists", n)
}

func (s *subject) policy(p metav1.DeletionPropagation) {
	switch p {
	case metav1.DeletePropagationForeground:
		s.next("Its own dependents are deleted before it (foreground deletion).")
	case metav1.DeletePropagationOrphan:
		s.next("Its own dependents stay, because it has the finalizer orphan.")
	case metav1.DeletePropagationBackground:
	}
}

// lingers says what is left to wait for after the collector has deleted it.
func (s *subject) lingers() {
	if left := s.course.Model.Object(s.node); left != nil {
		s.next("After that, it still exists: it " + s.after.Of(s.node).Reason.Message() + ".")
	} else if s.object.Running {
		s.next("Its containers get their grace period to stop.")
	}
}

// goesLater says that an owner goes first, and with what that begins.
func (s *subject) goesLater(move *simulate.Transition) {
	var goes []string
	for i, v := range move.Verdicts {
		owner := s.graph.Find(move.StateBefore.Owners[i].UID)
		if v.IsBad() && s.graph.Object(owner) != nil {
			goes = append(goes, s.name(owner))
		}
	}
	switch n := len(goes); n {
	case 0: // what is not there was not all: another owner had to let go of it first
		s.say(collector.ConsequenceDelete, fmt.Sprintf("The garbage collector will delete %s: the owner that keeps it orphans it, and no other owner exists.", s.object))
	default:
		s.say(collector.ConsequenceDelete, fmt.Sprintf("The garbage collector will delete %s as a consequence: its %s deleted first.", s.object,
			plural(n, "owner "+listed(goes)+" is", "owners "+listed(goes)+" are")))
	}
	if len(s.object.Owners) > 1 {
		s.next(fmt.Sprintf("Then none of its %d owners keeps it.", len(s.object.Owners)))
	}
	s.begins(move)
	s.policy(move.Policy)
	s.lingers()
}

// deed is what the collector does to an object, behind "which the garbage collector".
func deed(m *simulate.Transition) string {
	switch m.Action {
	case collector.ActionDelete:
		return "deletes"
	case collector.ActionRemoveFinalizer:
		return "finishes deleting"
	case collector.ActionUnlink, collector.ActionUnblock, collector.ActionNone, collector.ActionOrphanDependents:
	}
	return "changes"
}

// begins names the first of the moves without which a move would not be.
func (s *subject) begins(move *simulate.Transition) {
	first := move
	for first.Follows >= 0 {
		first = &s.course.Transitions[first.Follows]
	}
	if first.Node == s.node {
		return
	}
	i := s.graph.Object(first.Node).Identity
	s.next(fmt.Sprintf("It begins with %s, which the garbage collector %s.", name(i, s.object.Namespace), deed(first)))
	s.remedy("see why that happens to "+name(i, s.object.Namespace), s.gc("why", i)...)
}

// goesWith says that a namespace or CustomResourceDefinition takes the object along.
func (s *subject) goesWith(container graph.Node) {
	i := s.graph.Object(container).Identity
	s.say(collector.ConsequenceDelete, fmt.Sprintf("%s is deleted with %s, which the garbage collector deletes.", s.object, i))
	s.lingers()
	s.remedy("see why that happens to "+i.String(), s.gc("why", i)...)
}
