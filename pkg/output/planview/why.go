package planview

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/color"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// why says why a line's object is touched, what else is done to it, and what it
// then waits for. Dim is what the tree has shown already.
func (l *layout) why(i int, p *color.Palette) string {
	s := l.main(i)
	why := escape.Short(reason.Message(s.Reason), reasonWidth)
	if short := l.follows(i); short != "" {
		why = p.Dim(short)
	}
	if stays := l.outlives(s.Object.Identity); stays != "" && s.Action == collector.ActionUnlink {
		why = stays
	}
	said := append([]string{why}, l.further(i)...)
	if s.WaitsForKubelet {
		said = append(said, p.Changes("must stop first (grace period)"))
	}
	if held := l.held(i); held != "" {
		said = append(said, p.Changes(held))
	}
	return strings.Join(slices.DeleteFunc(said, func(s string) bool { return s == "" }), "; ")
}

// follows is the reason of a deletion whose one owner is the line above, in
// place of the plan's, which would name that owner again. It is empty where
// there is more to say.
func (l *layout) follows(i int) string {
	s, above := l.main(i), l.lines[i].above
	if above == none || s.Action != collector.ActionDelete || !l.deletes(above) || len(s.References) != 1 {
		return ""
	}
	of, owner := &s.References[0], l.main(above).Object
	// A reference that was bad before the owner goes has a reason of its own.
	if of.UID != string(owner.UID) || of.Name != owner.Name || of.Kind != owner.Kind ||
		owner.Namespace != "" && owner.Namespace != s.Object.Namespace {
		return ""
	}
	said := ""
	switch of.Verdict {
	case collector.Dangling:
		said = "its owner is deleted"
	case collector.Waiting:
		said = "deleted before its owner, which waits for it"
	case collector.Solid, collector.Unresolvable, collector.ScopeError, collector.Unknown:
		return ""
	}
	switch metav1.DeletionPropagation(s.PropagationPolicy) {
	case metav1.DeletePropagationForeground:
		said += "; its own dependents are deleted first (foreground)"
	case metav1.DeletePropagationOrphan:
		said += "; its own dependents stay (orphan)"
	case metav1.DeletePropagationBackground:
	}
	return said
}

// further says what the other steps on a line's object do.
func (l *layout) further(i int) []string {
	if l.plan.Mode == plan.Repair {
		return l.alsoRepaired(i)
	}
	var out []string
	add := func(n int, said string) {
		if n > 0 {
			out = append(out, said)
		}
	}
	var before, after, unblocked, released int
	for _, other := range l.lines[i].others {
		switch s := l.step(other); {
		case s.Action == collector.ActionUnlink && other < l.lines[i].main:
			before += len(s.References)
		case s.Action == collector.ActionUnlink:
			after += len(s.References)
		case s.Action == collector.ActionUnblock:
			unblocked++
		case s.Action == collector.ActionRemoveFinalizer:
			released++
		case s.Action == plan.Link: // the reason of what is made names its owners
		default:
			add(1, "also: "+word(s.Action))
		}
	}
	add(before, "removes "+wording.Count(before, "reference")+" first")
	add(unblocked, "its references stop blocking first, to break a cycle")
	add(after, "then removes "+wording.Count(after, "more reference"))
	add(released, "removes its finalizer at the end")
	return out
}

// alsoRepaired says what else repairs the references of a line's object.
func (l *layout) alsoRepaired(i int) []string {
	var out []string
	for _, other := range l.lines[i].others {
		s := l.step(other)
		out = append(out, word(s.Action)+": "+escape.Short(reason.Message(s.Reason), reasonWidth))
	}
	return out
}

// held says what keeps an object that was deleted or released from going.
func (l *layout) held(i int) string {
	left := l.left[l.main(i).Object.Identity]
	ends := func(step int) bool {
		return l.step(step).Action == collector.ActionDelete || l.step(step).Action == collector.ActionRemoveFinalizer
	}
	if left == nil || !ends(l.lines[i].main) && !slices.ContainsFunc(l.lines[i].others, ends) {
		return ""
	}
	return waits(left)
}

// waits names the finalizers of others. Where a plan has none of those to name,
// it says "kubernetes" for what the namespace controller or a kubelet has to do.
func waits(left *plan.Outcome) string {
	var by []string
	for _, finalizer := range left.WaitsFor {
		if finalizer != object.ForegroundFinalizer && finalizer != object.OrphanFinalizer {
			by = append(by, text(finalizer))
		}
	}
	switch others := slices.Equal(by, []string{"kubernetes"}); {
	case others && left.Object.IsNamespace():
		return "then waits for its contents"
	case others && left.Object.Kind == "Pod":
		return "then must stop"
	case len(by) == 0:
		return "then waits for its dependents"
	}
	return "then blocked by " + wording.List(by, mostNamed)
}
