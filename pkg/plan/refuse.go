package plan

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// contentsGaps returns what may hide objects that the deletion of an object takes along.
func (m *builder) contentsGaps(n graph.Node) []snapshot.Gap {
	return m.graph.View().ContentsGaps(m.graph.Object(n).Identity, m.options.Accepted)
}

// refuseUnlistedContents takes those deletions out of the plan that take along what was not all
// listed.
func (m *builder) refuseUnlistedContents() {
	for _, d := range m.options.Bounds.Deletes {
		if o := m.graph.Object(d.Node); !o.Terminating() && len(m.contentsGaps(d.Node)) > 0 {
			m.refuse(d.Node, snapshot.ContentsUnknown(m.contentsGaps(d.Node)))
		}
	}
}

// refuseCascades takes those deletions out of the plan from which the deletion of an
// object follows that takes along what was not all listed. It reports whether there were
// any: then the plan has to be made again without them.
func (m *builder) refuseCascades(p *Plan) bool {
	var found bool
	for i := range m.result.Transitions {
		transition := &m.result.Transitions[i]
		if transition.Asked || transition.Action != collector.ActionDelete || len(m.contentsGaps(transition.Node)) == 0 {
			continue
		}
		found = true
		root := i
		for !m.result.Transitions[root].Asked && m.result.Transitions[root].Follows >= 0 {
			root = m.result.Transitions[root].Follows
		}
		if m.result.Transitions[root].Asked {
			m.refuse(m.result.Transitions[root].Node, m.cascadeRefused(transition.Node))
		} else {
			m.refuseAll(transition.Node)
		}
	}
	for _, l := range p.DeletedLater {
		if n := m.graph.Find(l.Object.UID); len(m.contentsGaps(n)) > 0 {
			found = true
			m.refuseAll(n)
		}
	}
	return found
}

// refuseAll takes all deletions out of the plan, as n may follow from any of them.
func (m *builder) refuseAll(n graph.Node) {
	for _, d := range m.options.Bounds.Deletes {
		m.refuse(d.Node, m.cascadeRefused(n))
	}
}

// cascadeRefused returns why an object is not deleted from whose deletion that of n follows.
func (m *builder) cascadeRefused(n graph.Node) reason.CascadeRefused {
	return reason.CascadeRefused{Object: m.graph.Object(n).Identity, Gaps: snapshot.ContentsUnknown(m.contentsGaps(n)).Gaps}
}

func (m *builder) refuse(n graph.Node, why reason.Reason) {
	deletes := slices.DeleteFunc(slices.Clone(m.options.Bounds.Deletes), func(d simulate.Deletion) bool { return d.Node == n })
	if len(deletes) == len(m.options.Bounds.Deletes) {
		return
	}
	m.options.Bounds.Deletes = deletes
	m.refused = append(m.refused, Blocked{Object: m.graph.Object(n).Identity, By: []object.Identity{}, Reason: why})
}

// Refused returns the blocked objects that the plan neither deletes nor repairs. Of a
// deletion that are those that were asked for and are not deleted; they may lose a
// reference to what is.
func (p *Plan) Refused() []Blocked {
	done := map[string]bool{}
	for _, o := range p.Outcomes {
		done[string(o.Object.UID)] = p.Mode != Delete || o.State != Changed
	}
	return slices.DeleteFunc(slices.Clone(p.Blocked), func(b Blocked) bool { return done[string(b.Object.UID)] })
}
