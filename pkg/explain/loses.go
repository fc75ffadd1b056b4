package explain

import (
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
)

// loses says that the object stays, and loses references.
func (s *subject) loses(move *simulate.Transition) {
	n := len(move.Change.Drop)
	what := plural(n, "an owner reference", fmt.Sprintf("%d owner references", n))
	switch d := s.now.Decide(s.node); {
	case move.Requested != graph.None:
		s.say(collector.ConsequenceUnlink, fmt.Sprintf("%s stays, and loses its reference to %s, which is being deleted and orphans its dependents.", s.object, s.name(move.Requested)))
	case d.Action == collector.ActionUnlink:
		s.say(collector.ConsequenceUnlink, fmt.Sprintf("%s stays, and loses %s.", s.object, s.losses()))
	default:
		s.say(collector.ConsequenceUnlink, fmt.Sprintf("%s stays, and loses %s after an owner is deleted.", s.object, what))
		s.begins(move)
	}
	s.remains(move)
	if end := s.course.Model.Decide(s.node); end.NoAction == collector.ReferenceUnknown {
		s.next(fmt.Sprintf("After that, the garbage collector leaves it alone: %s.", s.after.UndecidableReference(s.node, end.UndecidableReference).Undecidable()))
	}
}

// losses names the owners to which the object loses its references.
func (s *subject) losses() string {
	var missing, waiting []string
	for i, j := range s.judged {
		switch r := s.object.Owners[i].String(); j.Verdict {
		case collector.Dangling:
			missing = append(missing, r)
		case collector.Waiting:
			waiting = append(waiting, r)
		case collector.Solid, collector.Unresolvable, collector.ScopeError, collector.Unknown:
		}
	}
	var said []string
	if n := len(missing); n > 0 {
		said = append(said, fmt.Sprintf("its %s to %s, which %s not exist", plural(n, "reference", "references"), listed(missing), plural(n, "does", "do")))
	}
	if n := len(waiting); n > 0 {
		said = append(said, fmt.Sprintf("its %s to %s, which %s being deleted in the foreground and %s for %s dependents",
			plural(n, "reference", "references"), listed(waiting), plural(n, "is", "are"), plural(n, "waits", "wait"), plural(n, "its", "their")))
	}
	return strings.Join(said, ", and ")
}

// remains says what is left to an object that loses references.
func (s *subject) remains(move *simulate.Transition) {
	left := s.course.Model.Object(s.node)
	if s.twin() {
		s.next("The cluster's garbage collector removes references by UID, so it removes the valid reference together with the invalid one.")
		if s.outlook.Left == 0 {
			s.next("Then it has no owner left, and the garbage collector never deletes it.")
		}
		s.remedy("keep its owner by removing only the invalid reference, before the garbage collector acts", s.gc("repair", s.object.Identity)...)
		return
	}
	switch n := len(left.Owners); {
	case n == 0:
		s.next("Then it has no owner left, and the garbage collector never deletes it.")
	default:
		s.next(fmt.Sprintf("%s and %s it. A running garbage collector does this within seconds.", count(n, "owner")+plural(n, " remains", " remain"), plural(n, "keeps", "keep")))
	}
	if move.Requested == graph.None && s.now.Decide(s.node).Action == collector.ActionUnlink {
		for i, j := range s.judged {
			s.mend(i, j, "do the same now by ")
		}
	}
}

// twin says whether a good reference goes with a bad one of the same UID.
func (s *subject) twin() bool {
	for i, j := range s.judged {
		if j.Verdict == collector.Solid && s.outlook.Drops(s.object.Owners[i].UID) {
			return true
		}
	}
	return false
}
