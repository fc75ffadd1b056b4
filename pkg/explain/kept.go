package explain

import (
	"fmt"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// kept explains an object of which every owner is there.
func (s *subject) kept() {
	n := len(s.object.Owners)
	switch circle := s.circle(); {
	case s.selfish() && n == 1:
		s.say(collector.ConsequenceNone, fmt.Sprintf("%s stays: it names itself as its owner, so its owner always exists.", s.object))
		s.next("The garbage collector never deletes it.")
		s.give("remove the reference to itself", string(s.object.UID))
	case circle != nil:
		s.say(collector.ConsequenceNone, fmt.Sprintf("%s stays: it is in a cycle of %d objects that own each other, so each of them has an existing owner.", s.object, len(circle)))
		s.next(fmt.Sprintf("The cycle is %s. The garbage collector deletes none of them until someone deletes one.", listed(s.names(circle))))
		s.give("break the cycle by removing its reference to "+s.within(circle).String(), string(s.within(circle).UID))
	default:
		s.say(collector.ConsequenceNone, fmt.Sprintf("%s stays: %s.", s.object, FinalizerKeeper(s.object.Owners)))
	}
	if !s.leaving() {
		s.ifOwnersGo()
	}
	s.deleteIt()
}

// FinalizerKeeper says why an object stays of which every owner is there.
func FinalizerKeeper(owners []object.Reference) string {
	switch n := len(owners); n {
	case 0:
		return "it has no owner, so the garbage collector never touches it"
	case 1:
		return fmt.Sprintf("its owner %s exists", owners[0])
	default:
		return fmt.Sprintf("its %d owners exist", n)
	}
}

// ifOwnersGo says when the object would go.
func (s *subject) ifOwnersGo() {
	owners := map[graph.Node]bool{}
	for _, owner := range s.graph.Owners(s.node) {
		if owner != s.node {
			owners[owner] = true
		}
	}
	switch n := len(owners); {
	case n == 0 || s.selfish() || s.circle() != nil:
	case n == 1:
		s.next(fmt.Sprintf("The garbage collector deletes it after %s is deleted.", s.object.Owners[0]))
	default:
		s.next(fmt.Sprintf("The garbage collector deletes it after the last of its %d owners is deleted. Until then, it only loses the references to deleted owners.", n))
	}
}

// leaving tells of owners that are being deleted, which count until they are
// gone. It is false where there are none.
func (s *subject) leaving() bool {
	then := collector.Verdicts(s.judged)
	var going []graph.Node
	for i, j := range s.judged {
		if o := j.Holder; o.Terminating() && !o.Orphaning() && !s.circular(i) {
			then[i] = collector.Dangling
			going = append(going, s.graph.Owners(s.node)[i])
		}
	}
	if len(going) == 0 {
		return false
	}
	first := s.graph.Object(going[0])
	link := Link{first.Identity, "is being deleted, and " + s.after.Of(going[0]).Reason.Message()}
	s.WaitsFor = append(s.WaitsFor, link)
	if collector.Assess(s.object, then).Consequence() == collector.ConsequenceDelete {
		s.next(fmt.Sprintf("After the deletion of %s, no owner is left, and the garbage collector deletes it.", listed(s.names(going))))
	} else {
		s.next(fmt.Sprintf("After the deletion of %s, it loses the reference and stays, because another owner exists.", listed(s.names(going))))
	}
	s.remedy("see what its owner waits for", s.gc("why", first.Identity)...)
	return true
}

// within is the first reference that leads to another object of a circle.
func (s *subject) within(circle []graph.Node) object.Reference {
	i := slices.IndexFunc(s.graph.Owners(s.node), func(owner graph.Node) bool { return owner != s.node && slices.Contains(circle, owner) })
	return s.object.Owners[i]
}

func (s *subject) names(nodes []graph.Node) []string {
	var out []string
	for _, n := range nodes {
		out = append(out, s.name(n))
	}
	return out
}

func (s *subject) circular(i int) bool { return s.graph.Owners(s.node)[i] == s.node }

func (s *subject) selfish() bool { return slices.Contains(s.graph.Owners(s.node), s.node) }

// circle are the objects, this one among them, that own each other; nil where
// there are none.
func (s *subject) circle() []graph.Node {
	if s.circles == nil {
		s.circles = map[graph.Node][]graph.Node{}
		for _, circle := range s.graph.Cycles(func(e graph.Edge) bool {
			v := s.judge.Reference(e).Verdict
			return v == collector.Solid || v == collector.Waiting
		}) {
			for _, n := range circle {
				s.circles[n] = circle
			}
		}
	}
	return s.Explainer.circles[s.node]
}

// deleteIt shows the way to delete the object.
func (s *subject) deleteIt() {
	s.remedy("delete it; this previews what is deleted with it", s.gc("delete", s.object.Identity, "--dry-run")...)
}
