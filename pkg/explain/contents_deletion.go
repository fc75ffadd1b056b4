package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plugin"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// contentsDeletion explains that the object's namespace or CustomResourceDefinition is
// being deleted, which deletes the object regardless of its owners.
func (b *answerBuilder) contentsDeletion() {
	o := b.container
	if o == nil {
		return
	}
	b.answer.Headline = fmt.Sprintf("%s will be deleted %s.", b.object, DeletedWith(o))
	if o.IsNamespace() && b.result.Terminates(b.node) != simulate.Always && !b.object.Contested {
		b.answer.Headline = fmt.Sprintf("%s will be deleted %s, once no Pod is left in it.", b.object, DeletedWith(o))
	}
	what := "the namespace controller deletes everything in it"
	if o.IsCRD() {
		what = "the API server deletes all objects of its kind"
	}
	b.answer.Next = append([]string{fmt.Sprintf("%s has been terminating for %s: %s, regardless of owners.", o.Identity, b.since(*o.Deleted), what)}, b.answer.Next...)
	b.answer.WaitsFor = []Link{}
	if o.NamespaceStatus != nil && o.NamespaceStatus.Fails() {
		b.answer.Headline = strings.TrimSuffix(b.answer.Headline, ".") + ", unless the namespace controller keeps failing."
		b.answer.next("The namespace controller reports that its last attempt failed.")
		b.answer.suggest("see what keeps "+o.String(), b.command("why", o.Identity)...)
	}
}

// DeletedWith returns what an object is deleted with, if its namespace or
// CustomResourceDefinition is being deleted.
func DeletedWith(container *object.Object) string {
	return fmt.Sprintf("with %s, which is being deleted", container.Identity)
}

// contents returns the existing objects that are deleted with a namespace or
// CustomResourceDefinition.
func (b *answerBuilder) contents() []graph.Node {
	if !b.object.IsNamespace() && !b.object.IsCRD() {
		return nil
	}
	var out []graph.Node
	for n := range b.graph.Listed() {
		if b.graph.View().Contains(b.object.Identity, b.graph.Object(graph.Node(n))) {
			out = append(out, graph.Node(n))
		}
	}
	return out
}

// unreadableContents explains that objects in a namespace which nobody can read keep it.
func (b *answerBuilder) unreadableContents() {
	for _, g := range b.graph.View().ContentsGaps(b.object.Identity, nil) {
		if in, ok := g.In(b.object.Name); ok {
			b.answer.nextf("Once it is deleted, it stays while the API server cannot list %s in it: %s.", g.Word(), in.Why())
			b.suggestUnreadable(in)
		}
	}
}

// suggestUnreadable suggests to look at the first object that the API server cannot read.
func (b *answerBuilder) suggestUnreadable(g snapshot.Gap) {
	if args := g.FirstObject(); args != nil {
		b.answer.suggest("see what you can do about an object that cannot be read", plugin.Line(append([]string{"why"}, args...)...)...)
	}
}

// blockedContents explains what has to be deleted before a namespace or
// CustomResourceDefinition is. silent leaves out that nothing in it blocks that.
func (b *answerBuilder) blockedContents(silent bool) {
	members := b.contents()
	var held, overdue []string
	waitFor := func(o *object.Object, why string) {
		if len(b.answer.WaitsFor) < maxNames {
			b.answer.WaitsFor = append(b.answer.WaitsFor, Link{o.Identity, why})
		}
	}
	for _, n := range members {
		o := b.graph.Object(n)
		if b.initial.Overdue(o) {
			overdue = append(overdue, o.String())
			waitFor(o, "should have stopped "+b.since(*o.Deleted)+" ago")
		}
		if f := o.ForeignFinalizers(); len(f) > 0 {
			held = append(held, fmt.Sprintf("%s (%s)", o, strings.Join(f, ", ")))
			waitFor(o, "still exists, held by "+list(f)+b.initial.HeldBy(n).Because())
		}
	}
	if len(overdue) > 0 {
		b.answer.next("The nodes of Pods that should have stopped may be down: " + list(overdue) + ".")
	}
	switch {
	case len(held) > 0:
		if len(held) > maxNames {
			b.answer.next("These still have finalizers: " + list(held) + ".")
		}
		first := b.answer.WaitsFor[0].Object
		b.answer.suggest("see why "+first.String()+" still exists", b.command("why", first)...)
	case len(overdue) == 0 && !silent:
		b.answer.next("None of these has a finalizer that blocks its deletion, so they should be deleted without help.")
	}
	if b.object.IsNamespace() && b.judge.Behavior().OrderedNamespaceDeletion && slices.ContainsFunc(members, func(n graph.Node) bool {
		return b.graph.Object(n).Kind == "Pod"
	}) {
		b.answer.next("The namespace controller deletes the Pods first, and everything else once none is left.")
	}
}
