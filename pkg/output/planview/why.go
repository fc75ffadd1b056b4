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

// why returns why a line's object changes, what else is done to it, and what blocks it
// then. What the tree already shows is dim.
func (l *layout) why(i int, p *color.Palette) string {
	if short := l.ownerDeleted(i); short != "" {
		return l.withConsequences(i, p.Dim(short), p)
	}
	return l.whyAlone(i, p)
}

// whyAlone is why for a row that does not stand below its cause.
func (l *layout) whyAlone(i int, p *color.Palette) string {
	return l.withConsequences(i, escape.Line(reason.Message(l.main(i).Reason)), p)
}

// withConsequences returns why a line's object changes, followed by what else is done to it
// and what blocks it then.
func (l *layout) withConsequences(i int, why string, p *color.Palette) string {
	s := l.main(i)
	if r, keep := l.retained[s.Object.Identity]; keep && r.DroppedReferences > 0 && s.Action == plan.ActionUnlink {
		why = escape.Line(r.Reason.Message()) + "; removes " + wording.Count(r.DroppedReferences, "reference")
	}
	parts := append([]string{why}, l.otherSteps(i)...)
	if s.WaitsForKubelet {
		parts = append(parts, p.Changed("must stop first (grace period)"))
	}
	if held := l.held(i); held != "" {
		parts = append(parts, p.Changed(held))
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "; ")
}

// ownerDeleted returns a shorter reason for the deletion of an object whose only owner is
// the parent line: one that does not name the owner again. It returns an empty string if
// there is more to say.
func (l *layout) ownerDeleted(i int) string {
	s, parent := l.main(i), l.lines[i].parent
	if parent == none || s.Action != plan.ActionDelete || !l.deletes(parent) || len(s.References) != 1 {
		return ""
	}
	reference, owner := &s.References[0], l.main(parent).Object
	// A reference that was bad before that has a reason of its own.
	if reference.UID != string(owner.UID) || reference.Name != owner.Name || reference.Kind != owner.Kind ||
		owner.Namespace != "" && owner.Namespace != s.Object.Namespace {
		return ""
	}
	why := ""
	switch reference.Verdict {
	case collector.VerdictDangling:
		why = "its owner is deleted"
	case collector.VerdictWaiting:
		why = "deleted before its owner, which waits for it"
	case collector.VerdictSolid, collector.VerdictUnresolvable, collector.VerdictScopeError, collector.VerdictUnknown:
		return ""
	}
	switch metav1.DeletionPropagation(s.PropagationPolicy) {
	case metav1.DeletePropagationForeground:
		why += "; its own dependents are deleted first (foreground)"
	case metav1.DeletePropagationOrphan:
		why += "; its own dependents stay (orphan)"
	case metav1.DeletePropagationBackground:
	}
	return why
}

// otherSteps returns what the other steps on a line's object do.
func (l *layout) otherSteps(i int) []string {
	var out []string
	add := func(n int, text string) {
		if n > 0 {
			out = append(out, text)
		}
	}
	var before, after, unblocked, finalizers int
	for _, other := range l.lines[i].others {
		switch s := l.step(other); {
		case l.plan.Mode == plan.Repair:
			out = append(out, word(s.Action)+": "+escape.Line(reason.Message(s.Reason)))
		case s.Action == plan.ActionUnlink && other < l.lines[i].main:
			before += len(s.References)
		case s.Action == plan.ActionUnlink:
			after += len(s.References)
		case s.Action == plan.ActionUnblock:
			unblocked++
		case s.Action == plan.ActionRemoveFinalizer:
			finalizers++
		case s.Action == plan.ActionLink: // the reason of the creation names its owners
		default:
			add(1, "also: "+word(s.Action))
		}
	}
	add(before, "removes "+wording.Count(before, "reference")+" first")
	add(unblocked, "its references stop blocking first, to break a cycle")
	add(after, "then removes "+wording.Count(after, "more reference"))
	add(finalizers, "removes its finalizer at the end")
	return out
}

// held returns what blocks an object after its deletion or the removal of a finalizer.
func (l *layout) held(i int) string {
	left := l.terminating[l.main(i).Object.Identity]
	final := func(step int) bool {
		return l.step(step).Action == plan.ActionDelete || l.step(step).Action == plan.ActionRemoveFinalizer
	}
	if left == nil || !final(l.lines[i].main) && !slices.ContainsFunc(l.lines[i].others, final) {
		return ""
	}
	return waits(left)
}

// waits returns what a terminating object waits for. A plan says "kubernetes" for the
// namespace controller or a kubelet.
func waits(left *plan.Outcome) string {
	var by []string
	for _, finalizer := range left.WaitsFor {
		if finalizer != object.ForegroundFinalizer && finalizer != object.OrphanFinalizer {
			by = append(by, escape.Word(finalizer))
		}
	}
	switch kubernetes := slices.Equal(by, []string{"kubernetes"}); {
	case kubernetes && left.Object.IsNamespace():
		return "then waits for its contents"
	case kubernetes && left.Object.Kind == "Pod":
		return "then must stop"
	case len(by) == 0:
		return "then waits for its dependents"
	}
	return "then blocked by " + wording.List(by, maxNames)
}
