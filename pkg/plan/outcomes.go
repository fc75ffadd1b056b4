package plan

import (
	"sort"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

func (b *builder) outcomes() []Outcome {
	out := []Outcome{}
	nondeterministic, obstacles := b.nondeterministic(), simulate.NewObstacles(b.result.Model)
	for _, n := range b.touched().Nodes() {
		by, pending := b.result.ContentsPending[n]
		if !b.result.Model.Changed(n) && !pending {
			continue
		}
		left := b.result.Model.Object(n)
		o := Outcome{Object: b.graph.Object(n).Identity, State: Changed, WaitsFor: []string{}, Nondeterministic: reason.Nested{Reason: nondeterministic[n]}}
		switch {
		case pending:
			o.State, o.Follows = Pending, id(by)
		case left == nil:
			o.State = Deleted
		case left.Terminating():
			o.State, o.WaitsFor = Terminating, waitsFor(left)
			if gaps, certain := b.result.Model.FinalizationGaps(n); len(gaps) > 0 && !certain && o.Nondeterministic.Reason == nil {
				o.Nondeterministic.Reason = snapshot.NotFinalized(gaps, false)
			}
			if end, _ := obstacles.RootCause(n); o.Nondeterministic.Reason == nil && nondeterministic[end.Node] != nil {
				o.Nondeterministic.Reason = reason.DependsOn{Object: b.graph.Object(end.Node).Identity}
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
		return []string{"kubernetes"} // a namespace that waits for its contents: the finalizer in its spec
	}
	return append([]string{}, o.Finalizers...)
}

// nondeterministic returns why the outcome for an object may differ. What follows from an
// uncertain transition is uncertain, too.
func (b *builder) nondeterministic() map[graph.Node]reason.Reason {
	out := map[graph.Node]reason.Reason{}
	why := make([]reason.Reason, len(b.result.Transitions))
	for i := range b.result.Transitions {
		transition := &b.result.Transitions[i]
		switch {
		case b.result.Entangled.Has(transition.Node):
			why[i] = reason.CyclePartlyRequested
		case transition.NondeterministicOwner != graph.None:
			why[i] = b.orderMatters(transition)
		}
		if transition.CausedBy >= 0 && why[i] == nil && why[transition.CausedBy] != nil {
			why[i] = reason.DependsOn{Object: b.graph.Object(b.result.Transitions[transition.CausedBy].Node).Identity}
		}
		if _, said := out[transition.Node]; why[i] != nil && !said {
			out[transition.Node] = why[i]
		}
	}
	return out
}

// orderMatters returns how the order of events decides the outcome for an object.
func (b *builder) orderMatters(transition *simulate.Transition) reason.OrderMatters {
	owner := b.result.Model.Object(transition.NondeterministicOwner)
	out := reason.OrderMatters{
		OwnerHeld: owner != nil && len(owner.ForeignFinalizers()) > 0, Orphaned: transition.OrphanedFrom != graph.None, Unblocked: transition.Action == collector.ActionUnblock,
	}
	if of := b.graph.Object(transition.NondeterministicOwner); of != nil {
		out.Owner = &of.Identity
	}
	return out
}
