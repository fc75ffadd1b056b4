package plan

import (
	"sort"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

func (b *builder) outcomes() []Outcome {
	out := []Outcome{}
	for _, n := range b.mayChange().Nodes() {
		by, pending := b.result.ContentsPending[n]
		left := b.result.Model.Object(n)
		o := Outcome{Object: b.graph.Object(n).Identity, State: Changed, WaitsFor: []string{}, Nondeterministic: reason.Nested{Reason: b.nondeterministic(n)}, MayBeDeleted: b.result.MayBeDeleted(n)}
		switch {
		case pending:
			o.State, o.Follows = Pending, id(by)
		case left == nil:
			o.State = Deleted
		case !b.result.Model.Changed(n):
			o.State = Unchanged
		case left.Terminating():
			o.State, o.WaitsFor = Terminating, waitsFor(left)
			if gaps, certain := b.result.Model.FinalizationGaps(n); len(gaps) > 0 && !certain {
				o.Nondeterministic.Reason = snapshot.NotFinalized(gaps, false)
			}
		}
		if by, withContents := b.result.ContentsDeleted[n]; withContents {
			o.Follows = id(by)
		}
		out = append(out, o)
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].Object.Compare(out[j].Object) < 0 })
	return out
}

// mayChange returns the objects that the run changes, and those that it would change in another
// order of events.
func (b *builder) mayChange() graph.Set {
	out := graph.NewSet(b.graph)
	for _, n := range b.touched().Nodes() {
		if _, pending := b.result.ContentsPending[n]; pending || b.result.Model.Changed(n) {
			out.Add(n)
		}
	}
	for _, n := range b.result.Reached() {
		if left := b.result.Model.Object(n); b.result.MayBeDeleted(n) || left != nil && b.result.Nondeterministic(n) {
			out.Add(n)
		}
	}
	return out
}

// touched returns the objects that the run may change, directly or through others.
func (b *builder) touched() graph.Set {
	out := graph.NewSet(b.graph)
	for i := range b.result.Transitions {
		out.Add(b.result.Transitions[i].Node)
	}
	for n := range b.result.ContentsDeleted {
		out.Add(n)
	}
	for n := range b.result.ContentsPending {
		out.Add(n)
	}
	for _, n := range b.result.FinalizersRemoved.Nodes() {
		out.Add(n)
	}
	return out
}

// waitsFor returns the finalizers that a terminating object is left with.
func waitsFor(o *object.Object) []string {
	if len(o.Finalizers) == 0 {
		return []string{object.NamespaceFinalizer} // a namespace that waits for its contents: the finalizer in its spec
	}
	return append([]string{}, o.Finalizers...)
}

// nondeterministic returns why the outcome for an object may differ in another order of events, or
// nil if it cannot.
func (b *builder) nondeterministic(n graph.Node) reason.Reason {
	if !b.result.Nondeterministic(n) {
		return nil
	}
	return b.result.Possibilities().Reason(n)
}
