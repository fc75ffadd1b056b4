package planview

import (
	"cmp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
)

// why returns why a line's object changes, what else is done to it, and what blocks it
// then. What the tree already shows is dim.
func (l *layout) why(on *line) string {
	switch short := l.ownerDeleted(on); {
	case on.outcome != nil && on.parent != nil:
		if why := l.whyWithout(on.outcome, on.parent.object()); why != withContainer { // which the tree shows
			return l.palette.Dim(why)
		}
		return ""
	case on.outcome != nil:
		return l.palette.Dim(l.whyWithout(on.outcome, object.Identity{}))
	case short != "":
		return l.withConsequences(on, l.palette.Dim(short))
	}
	return l.whyAlone(on)
}

// whyAlone is why for a row that does not stand below its cause.
func (l *layout) whyAlone(on *line) string {
	if on.outcome == nil {
		return l.withConsequences(on, escape.Line(on.main.Reason.Message()))
	}
	text := l.whyWithout(on.outcome, object.Identity{})
	if on.parent != nil {
		text = strings.Replace(text, withContainer, "deleted with "+name(on.parent.object()), 1)
	}
	return text
}

// withConsequences returns why a line's object changes, followed by what else is done to it
// and what blocks it then.
func (l *layout) withConsequences(on *line, why string) string {
	s, p := on.main, l.palette
	if r, keep := l.retained[on.object()]; keep && r.DroppedReferences > 0 && s.Action == plan.ActionUnlink {
		why = escape.Line(r.Reason.Message()) + "; removes " + wording.Count(r.DroppedReferences, "reference")
	}
	parts := append([]string{why}, otherSteps(on)...)
	if s.ManagedBy != nil {
		parts = append(parts, p.Changed(escape.Line(s.ManagedBy.Message())))
	}
	if s.Deletion != nil && s.Deletion.WaitsForKubelet {
		parts = append(parts, p.Changed("must stop first (grace period)"))
	}
	o := l.outcome(on.object())
	volume := data(o)
	if o.Data != nil && o.Data.Lost == simulate.DataLost {
		volume = p.Deleted(volume)
	}
	if s.Finalizer() == "" && len(o.UsedBy) > 0 && !o.InUse() {
		parts = append(parts, p.Deleted(usedBy(o)))
	}
	parts = append(parts, p.Changed(inventory(o)), p.Changed(l.held(on)), volume)
	if o.When == plan.Later {
		parts = append(parts, p.Changed("deleted "+l.whenGone(o, object.Identity{})))
	}
	return joined("; ", append(parts, uncertain(o))...)
}

// data returns what becomes of the data of a claim or a volume, and an empty string for others.
func data(o *plan.Outcome) string {
	if o.Data == nil {
		return ""
	}
	return wording.Data(o.Object, o.Data, o.InUse())
}

// uncertain returns why an outcome may differ, or an empty string if it cannot.
func uncertain(o *plan.Outcome) string {
	if why := o.Nondeterministic; why != nil {
		return "uncertain: " + escape.Line(why.Message())
	}
	return ""
}

// ownerDeleted returns a shorter reason for the deletion of an object whose only owner is
// the parent line: one that does not name the owner again. It returns an empty string if
// there is more to say.
func (l *layout) ownerDeleted(on *line) string {
	s, parent := on.main, on.parent
	if parent == nil || s.Action != plan.ActionDelete || !l.deletes(parent) || len(s.References) != 1 {
		return ""
	}
	reference, owner := &s.References[0], parent.object()
	// A reference that was bad before that has a reason of its own.
	if reference.UID != owner.UID || reference.Name != owner.Name || reference.Kind != owner.Kind ||
		owner.Namespace != "" && owner.Namespace != s.Object.Namespace {
		return ""
	}
	why := ""
	switch reference.Verdict {
	case collector.VerdictDangling:
		why = "its owner is gone"
	case collector.VerdictWaiting:
		why = "deleted before its owner"
	case collector.VerdictSolid, collector.VerdictUnresolvable, collector.VerdictScopeError, collector.VerdictUnknown:
		return ""
	}
	switch s.Deletion.Policy {
	case metav1.DeletePropagationForeground:
		why += "; its own dependents go first (foreground)"
	case metav1.DeletePropagationOrphan:
		why += "; its own dependents stay (orphan)"
	case metav1.DeletePropagationBackground:
	}
	return why
}

// otherSteps returns what the other steps on a line's object do.
func otherSteps(on *line) []string {
	var out []string
	add := func(n int, text string) {
		if n > 0 {
			out = append(out, text)
		}
	}
	var before, after, unblocked, finalizers int
	removed := &before
	for _, s := range on.steps {
		switch {
		case s == on.main:
			removed = &after
		case s.IsRepair():
			out = append(out, word(s.Action)+": "+escape.Line(s.Reason.Message()))
		case s.Action == plan.ActionUnlink:
			*removed += len(s.References)
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
func (l *layout) held(on *line) string {
	left := l.outcome(on.object())
	if left.State != plan.Terminating || !slices.ContainsFunc(on.steps, func(s *plan.Step) bool {
		return s.Action == plan.ActionDelete || s.Action == plan.ActionRemoveFinalizer
	}) {
		return ""
	}
	return l.waits(left)
}

// usedBy returns what uses an object, as a phrase.
func usedBy(o *plan.Outcome) string {
	return "in use by " + escape.Line(reason.InUse{UsedBy: o.UsedBy}.Names())
}

// untilUnused returns that an object stays because it is in use, and what holds it besides.
func (l *layout) untilUnused(o *plan.Outcome) string {
	text := usedBy(o) + ": stays until nothing uses it"
	if rest := slices.DeleteFunc(foreign(o.WaitsFor), func(f string) bool { return simulate.Protects(f, o.Object) }); len(rest) > 0 {
		text += " and " + removal(rest, l.listed)
	}
	return text
}

// waits returns what a terminating object waits for.
func (l *layout) waits(left *plan.Outcome) string {
	if left.InUse() {
		return l.untilUnused(left)
	}
	if b := l.blocked[left.Object]; b != nil && len(b.Finalizers) == 0 {
		return "then it " + escape.Line(b.Reason.Message())
	}
	switch by := foreign(left.WaitsFor); {
	case len(by) > 0 && by[0] != object.NamespaceFinalizer:
		return "then it is blocked until " + removal(by, l.listed)
	case len(by) == 0:
		return "then it waits for its dependents"
	case left.Object.Kind == "Pod":
		return "then it must stop"
	}
	return "then it waits for its contents"
}

// foreign returns the finalizers that are not those of the garbage collector. A plan says "kubernetes"
// for the namespace controller or a kubelet.
func foreign(finalizers []string) []string {
	return slices.DeleteFunc(slices.Clone(finalizers), func(f string) bool {
		return f == object.ForegroundFinalizer || f == object.OrphanFinalizer
	})
}

// byController splits the finalizers of other controllers into those whose controller is known, and others,
// which are escaped.
func byController(finalizers []string) (known, unknown []string) {
	for _, f := range foreign(finalizers) {
		switch _, _, isKnown := simulate.FinalizerController(f); {
		case f == object.NamespaceFinalizer:
		case isKnown:
			known = append(known, f)
		default:
			unknown = append(unknown, escape.Word(f))
		}
	}
	return known, unknown
}

// removal returns who removes which finalizers, as a clause. The inventories of what is listed say what else is deleted.
func removal(finalizers []string, listed map[string]bool) string {
	known, unknown := byController(finalizers)
	var parts []string
	if slices.Contains(finalizers, object.NamespaceFinalizer) {
		parts = append(parts, "Kubernetes has finished")
	}
	for _, f := range known {
		controller, _, _ := simulate.FinalizerController(f)
		if deletes := simulate.DeletesFirst(f); deletes != "" && !listed[f] {
			controller += " has deleted " + deletes + " (not shown here) and"
		}
		parts = append(parts, controller+" removes "+escape.Word(f))
	}
	switch {
	case len(unknown) == 1:
		parts = append(parts, "a controller removes "+unknown[0])
	case len(unknown) > 1:
		parts = append(parts, "controllers remove "+wording.List(unknown, maxNames))
	}
	return cmp.Or(strings.Join(parts, " and "), "the garbage collector has finished")
}

// withContainer is why one of the contents of an object is deleted.
const withContainer = "deleted with it"

// whyWithout returns why an object that has no line of its own is deleted. above is the object of the
// row it stands under, or the zero value. An object that waited for a Pod or a finalizer names that
// as the cause.
func (l *layout) whyWithout(o *plan.Outcome, above object.Identity) string {
	below := l.byObject[above] != nil
	container := withContainer
	switch {
	case below && (o.Object.IsNamespace() || o.Object.IsCRD()):
		container = "its deletion can complete, since nothing is left in it"
	case below && above.Kind == "Pod":
		container = "its namespace is being deleted, and no Pod is left in it"
	case below && above.IsServiceAccount():
		container = "the token controller deletes it"
	case below && above.Kind == "Service":
		container = "the endpoints controller deletes it"
	}
	if o.Already && container == withContainer {
		container += " (already being deleted)"
	}
	var parts []string
	switch {
	case o.When == plan.Later && o.Follows == "" && !l.plan.Mode.Cascades():
		parts = append(parts, "the next run deletes it "+l.whenGone(o, above))
	case o.When == plan.Later && o.Already && len(o.After) > 0 && !o.AfterNode():
		parts = append(parts, "it was already being deleted, which completes "+l.whenGone(o, above))
	case o.When == plan.Later:
		parts = append(parts, l.whenGone(o, above))
	case o.State == plan.Terminating:
		parts = append(parts, container, l.waits(o))
	case len(o.WaitsFor) > 0:
		parts = append(parts, "it was already being deleted, and now "+removal(o.WaitsFor, l.listed))
	default:
		parts = append(parts, container)
	}
	return joined("; ", append(parts, inventory(o), data(o), uncertain(o))...)
}

// whenGone returns after what an object is deleted later: "once its owner is gone". Below the row of
// what it waits for, it leaves out what that row says.
func (l *layout) whenGone(o *plan.Outcome, above object.Identity) string {
	names := make([]string, len(o.After))
	for i, before := range o.After {
		names[i] = name(before)
	}
	text := "once " + wording.List(names, maxNames) + " are gone"
	if len(names) == 1 {
		text = "once " + names[0] + " is gone"
	}
	switch {
	case o.DeletedBy != nil && names[0] == name(above):
		return escape.Line(o.DeletedBy.Brief())
	case o.DeletedBy != nil:
		return escape.Line(o.DeletedBy.Message())
	case len(names) == 1 && o.After[0].IsNode() && (o.AfterNode() || o.Object.Kind == "Pod"):
		if text = "about a minute after " + names[0] + " is gone"; o.NotRecreated {
			text += "; no controller recreates it"
		}
		return text
	case len(names) == 0 && o.InUse():
		return "it was already being deleted, " + l.untilUnused(o)
	case len(names) == 0:
		return "it was already being deleted, held until " + removal(o.WaitsFor, l.listed)
	case len(names) == 1 && names[0] == name(above):
		switch text = "once its owner is gone"; {
		case simulate.DeletesContents(o.Object):
			text = "once nothing is left in it"
		case simulate.DeletesContents(above):
			text = withContainer
		}
		if slices.Equal(foreign(l.outcome(above).WaitsFor), foreign(o.WaitsFor)) {
			return text
		}
	}
	if o.AfterNode() {
		return text
	}
	return text + ", held until " + removal(o.WaitsFor, l.listed)
}
