package plan

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// blocked lists what does not come to its end: deletions that wait for
// something at the end of the course, and objects that a reference of theirs
// keeps from being judged while another leads nowhere.
func (m *maker) blocked() []Blocked {
	out := []Blocked{}
	hindrances := audit.NewHindrances(m.judge, m.course.Model)
	ours := graph.NewSet(m.graph)
	for i := range m.course.Moves {
		ours.Add(m.course.Moves[i].Node)
	}
	for n := range m.graph.Listed() {
		node := graph.Node(n)
		o := m.course.Model.Object(node)
		if o == nil || m.bounds.Within != nil && !m.bounds.Within(node) {
			continue
		}
		_, swept := m.course.Swept[node]
		hangs := o.Finishing() || o.Terminating() && (ours.Has(node) || swept)
		switch {
		case hangs && m.rooted(node, ours.Has(node)):
			by := hindrances.Of(node)
			out = append(out, Blocked{Object: m.graph.Object(node).Identity, By: by.By, Reason: by.Reason})
		case !o.Terminating() && len(o.Owners) > 0 && m.rooted(node, false):
			if b, stuck := m.undecided(hindrances, node); stuck {
				out = append(out, b)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Blocked) int { return a.Object.Compare(b.Object) })
	return out
}

// rooted says whether an object is one that the plan is about.
func (m *maker) rooted(n graph.Node, ours bool) bool {
	return ours || m.bounds.Roots == nil || m.bounds.Roots(n)
}

// undecided is an object that cannot be judged although a reference of it leads
// nowhere.
func (m *maker) undecided(hindrances *audit.Hindrances, n graph.Node) (Blocked, bool) {
	d := m.course.Model.Decide(n)
	if d.Hold != collector.Undecidable {
		return Blocked{}, false
	}
	culprit := m.course.Model.Object(n).Owners[d.Culprit]
	if !slices.ContainsFunc(m.course.Model.Verdicts(n), collector.Verdict.Lost) && !m.judge.Of(n, culprit).Withheld() {
		return Blocked{}, false
	}
	return Blocked{
		Object: m.graph.Object(n).Identity, By: []object.Identity{},
		Reason: "would lose an owner, but cannot be judged: " + hindrances.Culprit(n, d.Culprit),
	}, true
}
