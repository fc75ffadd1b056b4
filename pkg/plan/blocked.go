package plan

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// blocked lists what does not come to its end: deletions that wait for
// something at the end of the course, and objects that a reference of theirs
// keeps from being judged while another leads nowhere. In a plan that deletes,
// only what was asked for and what follows is of interest, and what cannot be
// judged is among what stays.
func (m *builder) blocked() []Blocked {
	out := append([]Blocked{}, m.refused...)
	blockers := audit.NewBlockers(m.judge, m.result.Model)
	changed := graph.NewSet(m.graph)
	for i := range m.result.Transitions {
		changed.Add(m.result.Transitions[i].Node)
	}
	for _, n := range m.result.Asked {
		changed.Add(n)
	}
	for n := range m.graph.Listed() {
		node := graph.Node(n)
		o := m.result.Model.Object(node)
		if within := m.options.Bounds.Within; o == nil || within != nil && !within(node) {
			continue
		}
		_, withContents := m.result.ContentsDeleted[node]
		stuck := o.Finishing() || o.Terminating() && (changed.Has(node) || withContents)
		switch {
		case o.Contested && !o.Terminating():
			if m.inScope(node, changed.Has(node)) && (changed.Has(node) || slices.ContainsFunc(m.result.Model.Verdicts(node), collector.Verdict.IsBad)) {
				out = append(out, Blocked{Object: m.graph.Object(node).Identity, By: []object.Identity{}, Reason: snapshot.Contention(o)})
			}
		case stuck && m.inScope(node, changed.Has(node) || withContents && m.options.Mode == Delete):
			by := blockers.Of(node)
			out = append(out, Blocked{Object: m.graph.Object(node).Identity, By: by.By, Reason: by.Reason})
		case o.Terminating() || len(o.Owners) == 0:
		case simulate.DeletesContents(o.Identity) && m.result.Model.Decide(node).NoAction == collector.ContentsUnknown:
			if m.options.Mode == Delete && m.losesOwner(node) || m.options.Mode != Delete && m.inScope(node, false) {
				out = append(out, Blocked{Object: m.graph.Object(node).Identity, By: []object.Identity{}, Reason: snapshot.ContentsUnknown(m.contentsGaps(node))})
			}
		case m.options.Mode != Delete && m.inScope(node, false):
			if b, stuck := m.undecided(blockers, node); stuck {
				out = append(out, b)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Blocked) int { return a.Object.Compare(b.Object) })
	return out
}

// losesOwner reports whether the course changes what an object depends on.
func (m *builder) losesOwner(n graph.Node) bool {
	return slices.ContainsFunc(m.graph.Owners(n), m.result.Model.Changed)
}

// inScope says whether an object is one that the plan is about.
func (m *builder) inScope(n graph.Node, changed bool) bool {
	return changed || m.options.Bounds.Roots == nil || m.options.Bounds.Roots(n)
}

// undecided is an object that cannot be judged although a reference of it leads
// nowhere.
func (m *builder) undecided(blockers *audit.Blockers, n graph.Node) (Blocked, bool) {
	d := m.result.Model.Decide(n)
	if d.NoAction != collector.ReferenceUnknown {
		return Blocked{}, false
	}
	culprit := m.result.Model.Object(n).Owners[d.UndecidableReference]
	if !slices.ContainsFunc(m.result.Model.Verdicts(n), collector.Verdict.IsBad) && !m.judge.References(n, culprit).Withheld() {
		return Blocked{}, false
	}
	return Blocked{
		Object: m.graph.Object(n).Identity, By: []object.Identity{},
		Reason: reason.OwnerLossUndecided{Owner: blockers.UndecidableReference(n, d.UndecidableReference)},
	}, true
}
