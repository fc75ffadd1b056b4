package plan

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	"github.com/kubectl-gc/kubectl-gc/pkg/terminating"
)

// blocked returns the deletions that the run does not complete, and objects that would go
// if a reference could be judged. A plan for deletions lists only what they affect; what
// cannot be judged is in Retained there.
func (b *builder) blocked() []Blocked {
	out := append([]Blocked{}, b.refused...)
	// A deletion that was under way before may complete although the request is refused.
	out = slices.DeleteFunc(out, func(r Blocked) bool { return b.result.Model.Object(b.graph.Find(r.Object.UID)) == nil })
	holds := terminating.InState(b.result.Model)
	changed := graph.NewSet(b.graph)
	for i := range b.result.Transitions {
		changed.Add(b.result.Transitions[i].Node)
	}
	for _, n := range b.result.Requested {
		changed.Add(n)
	}
	for n := range b.graph.Listed() {
		node := graph.Node(n)
		o := b.result.Model.Object(node)
		if within := b.options.Bounds.Within; o == nil || within != nil && !within(node) {
			continue
		}
		_, withContents := b.result.ContentsDeleted[node]
		stuck := o.HasCollectorFinalizer() || o.Terminating() && (changed.Has(node) || withContents)
		switch {
		case o.Contested && !o.Terminating():
			if b.inScope(node, changed.Has(node)) && (changed.Has(node) || slices.ContainsFunc(b.result.Model.Verdicts(node), collector.Verdict.IsDanglingOrWaiting)) {
				out = append(out, b.blockedObject(node, reason.Of(snapshot.UIDContested(o))))
			}
		case stuck && b.inScope(node, changed.Has(node) || withContents && b.options.Mode.Cascades()):
			out = append(out, BlockedBy(holds.Of(node)))
		case !o.Terminating() && b.admissionKeeps(node):
			out = append(out, b.blockedObject(node, reason.Of(b.result.Model.RefusedBy(node))))
		case o.Terminating() || len(o.Owners) == 0:
		case simulate.DeletesContents(o.Identity) && b.result.Model.Decide(node).NoAction == collector.ContentsUnknown:
			losesOwner := slices.ContainsFunc(b.graph.Owners(node), b.result.Model.Changed)
			if b.options.Mode.Cascades() && losesOwner || !b.options.Mode.Cascades() && b.inScope(node, false) {
				out = append(out, b.blockedObject(node, snapshot.ContentsUnknown(b.contentsGaps(node))))
			}
		case !b.options.Mode.Cascades() && b.inScope(node, false):
			if owner, ok := b.undecidable(node); ok {
				out = append(out, b.blockedObject(node, reason.OwnerLossUndecided(owner)))
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Blocked) int { return a.Object.Compare(b.Object) })
	return out
}

// BlockedBy returns a deletion that something holds.
func BlockedBy(h terminating.Hold) Blocked {
	return Blocked{Object: h.Object, By: h.BlockedBy, Reason: h.Reason, Finalizers: h.OwnFinalizers}
}

func (b *builder) blockedObject(n graph.Node, why *reason.Reason) Blocked {
	return Blocked{Object: b.graph.Object(n).Identity, By: []object.Identity{}, Reason: why}
}

// inScope reports whether the plan is about an object.
func (b *builder) inScope(n graph.Node, changed bool) bool {
	return changed || b.options.Bounds.Roots == nil || b.options.Bounds.Roots(n)
}

// undecidable returns the owner that could not be judged of an object that has lost another
// one.
func (b *builder) undecidable(n graph.Node) (owner reason.Owner, ok bool) {
	d := b.result.Model.Decide(n)
	if d.NoAction != collector.ReferenceUnknown {
		return reason.Owner{}, false
	}
	reference := b.result.Model.Object(n).Owners[d.UndecidableReference]
	if !slices.ContainsFunc(b.result.Model.Verdicts(n), collector.Verdict.IsDanglingOrWaiting) && !b.judge.FindReference(n, reference).NamesListKind() {
		return reason.Owner{}, false
	}
	return terminating.UndecidableReference(b.result.Model, n, d.UndecidableReference), true
}

// contentsGaps returns the gaps that may hide contents of a Namespace or CustomResourceDefinition, which
// is then not deleted. What a file leaves out does not count: a plan from a file deletes nothing.
func (b *builder) contentsGaps(n graph.Node) []snapshot.Gap {
	gaps := b.graph.View().ContentsGaps(b.graph.Object(n).Identity, b.options.Predictor.Accepted)
	return slices.DeleteFunc(gaps, func(g snapshot.Gap) bool { return g.Reason == snapshot.NotInFile })
}

// refuseRequests leaves out deletions that the API server refuses, and those whose contents were not completely
// listed.
func (b *builder) refuseRequests() {
	for _, d := range b.options.Bounds.Deletes {
		answer := b.graph.Snapshot().Admission(b.graph.UID(d.Node), "DELETE")
		switch o := b.graph.Object(d.Node); {
		case o.DeleteForbidden():
			b.refuse(d.Node, reason.DeletionForbidden)
		case answer.Refused:
			b.refuse(d.Node, reason.Of(answer.Because))
			b.keptRequests = append(b.keptRequests, o.Identity)
		case !o.Terminating() && len(b.contentsGaps(d.Node)) > 0:
			b.refuse(d.Node, snapshot.ContentsUnknown(b.contentsGaps(d.Node)))
		}
	}
}

// refuseCascades leaves out deletions that cascade to an object whose contents were not
// completely listed. It reports whether there were any: then the plan has to be built again.
func (b *builder) refuseCascades(p *Plan) bool {
	var found bool
	transitions := b.result.Transitions
	for i := range transitions {
		transition := &transitions[i]
		if transition.Requested || transition.Action != collector.ActionDelete || len(b.contentsGaps(transition.Node)) == 0 {
			continue
		}
		found = true
		root := i
		for !transitions[root].Requested && transitions[root].CausedBy >= 0 {
			root = transitions[root].CausedBy
		}
		if transitions[root].Requested {
			b.refuse(transitions[root].Node, b.cascadeRefused(transition.Node))
		} else {
			b.refuseAll(transition.Node)
		}
	}
	for i := range p.Outcomes {
		o := &p.Outcomes[i]
		if n := b.graph.Find(o.Object.UID); o.When == Later && len(b.contentsGaps(n)) > 0 {
			found = true
			b.refuseAll(n)
		}
	}
	return found
}

// refuseAll leaves out everything that is requested, because any of it may cascade to n.
func (b *builder) refuseAll(n graph.Node) {
	b.refuse(b.options.Bounds.Removal.Node, b.cascadeRefused(n))
	for _, d := range b.options.Bounds.Deletes {
		b.refuse(d.Node, b.cascadeRefused(n))
	}
}

// cascadeRefused returns why a deletion that cascades to n is left out.
func (b *builder) cascadeRefused(n graph.Node) *reason.Reason {
	return reason.CascadeRefused(b.graph.Object(n).Identity, snapshot.Parameters(b.contentsGaps(n)))
}

func (b *builder) refuse(n graph.Node, why *reason.Reason) {
	bounds := &b.options.Bounds
	deletes := slices.DeleteFunc(slices.Clone(bounds.Deletes), func(d simulate.DeleteRequest) bool { return d.Node == n })
	removes := bounds.Removal.Finalizer != "" && bounds.Removal.Node == n
	if len(deletes) == len(bounds.Deletes) && !removes {
		return
	}
	bounds.Deletes = deletes
	if removes {
		bounds.Removal = simulate.FinalizerPatch{}
	}
	b.refused = append(b.refused, b.blockedObject(n, why))
}
