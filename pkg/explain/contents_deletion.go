package explain

import (
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// contentsDeletion explains that the object's namespace or CustomResourceDefinition is
// being deleted, which deletes the object regardless of its owners.
func (b *builder) contentsDeletion() {
	for n := range b.graph.Listed() {
		o := b.graph.Object(graph.Node(n))
		if !o.Terminating() || !b.graph.View().Contains(o.Identity, b.object) {
			continue
		}
		b.answer.Headline = fmt.Sprintf("%s is deleted %s.", b.object, DeletedWith(o))
		what := "the namespace controller deletes everything in it"
		if o.IsCRD() {
			what = "the API server deletes all objects of its kind"
		}
		b.answer.Next = append([]string{fmt.Sprintf("%s has been terminating for %s: %s, regardless of owners.", o.Identity, b.explainer.since(*o.Deleted), what)}, b.answer.Next...)
		b.answer.WaitsFor = []Link{}
		return
	}
}

// DeletedWith returns what an object is deleted with, if its namespace or
// CustomResourceDefinition is being deleted.
func DeletedWith(container *object.Object) string {
	return fmt.Sprintf("with %s, which is being deleted", container.Identity)
}

// contents returns the existing objects that are deleted with a namespace or
// CustomResourceDefinition.
func (b *builder) contents() []graph.Node {
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

// blockedContents explains what has to be deleted before a namespace or
// CustomResourceDefinition is.
func (b *builder) blockedContents() {
	members := b.contents()
	var held []string
	for _, n := range members {
		o := b.graph.Object(n)
		if f := o.ForeignFinalizers(); len(f) > 0 {
			held = append(held, fmt.Sprintf("%s (%s)", o, strings.Join(f, ", ")))
			if len(b.answer.WaitsFor) < maxNames {
				b.answer.WaitsFor = append(b.answer.WaitsFor, Link{o.Identity, "is in it, and is held by " + list(f)})
			}
		}
	}
	if len(held) > 0 {
		b.answer.next("Finalizers have to be removed from: " + list(held) + ".")
		first := b.answer.WaitsFor[0].Object
		b.answer.suggest("see why the first of them still exists", b.explainer.command("why", first)...)
	} else {
		b.answer.next("None of these has a finalizer that blocks its deletion, so they should be deleted without help.")
	}
}
