package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plugin"
	"github.com/kubectl-gc/kubectl-gc/pkg/repair"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// stuck explains an object that one reference keeps from being judged at all.
func (s *subject) stuck(culprit int) {
	s.say(collector.ConsequenceStuck, fmt.Sprintf("%s stays as it is: the garbage collector cannot resolve its reference to %s.", s.object, s.object.Owners[culprit]))
	s.next("Nothing happens until that reference is repaired: because of one reference that it cannot resolve, the garbage collector skips the whole object.")
	if s.judged[culprit].Verdict == collector.Unresolvable {
		s.next("It retries forever, and reports this nowhere.")
	}
	s.otherwise()
	for i, j := range s.judged {
		if j.Verdict == collector.Unresolvable || j.Verdict == collector.ScopeError {
			s.mend(i, j, "repair it by ")
		}
	}
	s.deleteIt()
}

// otherwise says what the collector would do without the references that cannot
// be judged.
func (s *subject) otherwise() {
	lost := 0
	for _, j := range s.judged {
		if j.Verdict.IsBad() {
			lost++
		}
	}
	switch {
	case lost == 0:
	case s.outlook.Consequence() == collector.ConsequenceUnlink:
		s.next(fmt.Sprintf("Once that can be resolved, it may lose %s that %s to no owner.", plural(lost, "another reference", fmt.Sprintf("%d other references", lost)), plural(lost, "leads", "lead")))
	default:
		s.next(fmt.Sprintf("Take care: %s, so once that can be resolved, the garbage collector may delete it.", plural(lost, "its other owner does not exist", fmt.Sprintf("%d other owners do not exist", lost))))
	}
}

// unknown explains an object about which nobody here can tell.
func (s *subject) unknown(culprit int) {
	r, j := s.object.Owners[culprit], s.judged[culprit]
	s.say(collector.ConsequenceUnknown, fmt.Sprintf("It is unknown what happens to %s: whether its owner %s exists could not be verified.", s.object, r))
	s.otherwise()
	s.next("The cluster's garbage collector may be able to read more than you, and act on it. If its request also fails, it keeps the object and tries again.")
	switch {
	case j.Gap != nil && j.Gap.Reason == snapshot.Forbidden:
		s.need("list", j)
	case j.Lookup != nil && j.Lookup.Reason == snapshot.Forbidden:
		s.need("get", j)
	case j.Gap != nil && j.Gap.Reason == snapshot.NotInFile:
		s.remedy("scan the cluster instead of a file, or a file that "+plugin.Command()+" snapshot wrote", plugin.Line("snapshot", "-o", "cluster.json.gz")...)
	default:
		s.remedy("try again when the API server can answer", s.gc("why", s.object.Identity)...)
	}
}

// need says which right would give an answer.
func (s *subject) need(verb string, j collector.Judgement) {
	words := []string{"kubectl", "auth", "can-i", verb, resource(j)}
	if j.Mapping.Type.Namespaced {
		words = append(words, "-n", s.object.Namespace)
	}
	s.remedy(fmt.Sprintf("try again with the right to %s %s", verb, resource(j)), words...)
}

func resource(j collector.Judgement) string {
	if j.Mapping.Type.Resource != "" {
		return j.Mapping.Type.String()
	}
	return j.Gap.String()
}

// misspelt says whether nothing but references to kinds of lists keeps this
// program from deciding, as the collector would.
func (s *subject) misspelt() bool {
	return s.outlook.UndecidableReference < 0 && !slices.ContainsFunc(s.judged, func(j collector.Judgement) bool { return j.Verdict == collector.Unknown })
}

// slip explains an object with a reference to the kind of a list.
func (s *subject) slip() {
	what := "deletes it"
	if s.outlook.Consequence() == collector.ConsequenceUnlink {
		what = "removes that reference"
	}
	i := slices.IndexFunc(s.judged, collector.Judgement.Withheld)
	s.say(s.outlook.Consequence(), fmt.Sprintf("%s names %s as its owner, with a list kind, most likely by mistake: because of that, the cluster's garbage collector %s.", s.object, s.object.Owners[i], what))
	s.next("A running garbage collector acts within seconds. " + plugin.Command() + " collect does not: it leaves the object alone.")
	s.remedy("remove the reference, or correct its kind", append([]string{"kubectl", "edit"}, s.target(s.object.Identity)...)...)
}

// refused explains an object of which the API server refuses every change that
// the collector tries.
func (s *subject) refused() {
	s.say(collector.ConsequenceStuck, fmt.Sprintf("%s stays as it is: the garbage collector tries to remove one of its references, and the API server refuses that.", s.object))
	s.next("Several of its references mark their owner as its controller. An object may have only one, so the API server refuses every change that keeps more than one.",
		"The garbage collector retries forever, without success.")
	first := slices.IndexFunc(s.object.Owners, object.Reference.Controls)
	var more []string
	for _, r := range s.object.Owners[first+1:] {
		if r.Controls() && r.UID != s.object.Owners[first].UID {
			more = append(more, string(r.UID))
		}
	}
	if len(more) > 0 {
		s.give("repair it by keeping only one controller, here the first one", more...)
	}
}

// mend offers what repairs the i-th reference, and says whether anything does.
func (s *subject) mend(i int, j collector.Judgement, purpose string) bool {
	r, m := s.object.Owners[i], s.mends[i]
	fix := ""
	switch m.Fix {
	case repair.Relink:
		fix = fmt.Sprintf("pointing the reference at the %s that exists now", r)
	case repair.UpdateVersion:
		fix = "rewriting the reference to a served version"
	case repair.Unlink:
		fix = fmt.Sprintf("removing the reference to %s", r)
	case repair.None:
		return false
	}
	flags := []string{"--rule", audit.RuleOf(j.Cause)}
	if m.Asked { // nobody but a person can say that the owner is not there
		flags = append(flags, "--fix", string(repair.Unlink))
	}
	s.remedy(purpose+fix, s.gc("repair", s.object.Identity, flags...)...)
	return true
}

// give offers to give up references that hold.
func (s *subject) give(purpose string, uids ...string) {
	s.remedy(purpose, s.gc("repair", s.object.Identity, "--fix", string(repair.Unlink), "--reference", strings.Join(uids, ","))...)
}
