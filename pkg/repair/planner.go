package repair

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// Planner mends the references of one graph. It is safe for concurrent use.
type Planner struct {
	graph       *graph.Graph
	judge       *collector.Judge
	closesCycle func(dependent, owner types.UID) bool
}

// New prepares to mend the references of g.
func New(g *graph.Graph, j *collector.Judge) *Planner {
	m := &Planner{graph: g, judge: j}
	circles := sync.OnceValue(m.cycles)
	m.closesCycle = func(dependent, owner types.UID) bool {
		of, ok := circles()[g.Find(dependent)]
		to, in := circles()[g.Find(owner)]
		return ok && in && of == to
	}
	return m
}

// Reconsider prepares to mend the references of a graph that shows single objects as
// they are by now, which would not show who depends on them: that is taken from m.
func (m *Planner) Reconsider(g *graph.Graph, j *collector.Judge) *Planner {
	return &Planner{graph: g, judge: j, closesCycle: m.closesCycle}
}

// Object says how each reference of n is mended, in their order.
func (m *Planner) Object(n graph.Node) []Repair {
	return m.object(n, func(owner *object.Object) bool { return m.closesCycle(m.graph.UID(n), owner.UID) })
}

func (m *Planner) object(n graph.Node, closes func(*object.Object) bool) []Repair {
	o := m.graph.Object(n)
	if o == nil {
		return nil
	}
	judgements := m.judge.Object(n)
	owners := map[types.UID]bool{}     // by references that hold, or that are rewritten so
	unverified := map[types.UID]bool{} // by others
	for i, j := range judgements {
		switch {
		case j.Verdict == collector.Solid:
			owners[o.Owners[i].UID] = true
		case j.Cause == collector.Unverified:
			unverified[o.Owners[i].UID] = true
		}
	}
	out := make([]Repair, len(o.Owners))
	for i, r := range o.Owners {
		s := input{
			object: o, reference: r, judgement: judgements[i], closesCycle: closes,
			verdictFor:   func(other object.Reference) collector.Judgement { return m.judge.VerdictFor(n, other) },
			alreadyOwned: func(owner *object.Object) bool { return owners[owner.UID] },
			unverified:   func(owner *object.Object) bool { return unverified[owner.UID] },
		}
		out[i] = s.decide()
		if becomes := out[i].Becomes.UID; becomes != "" {
			owners[becomes] = true
		}
	}
	return out
}

// cycles are the objects that would own each other, if only by way of others, if
// every reference were rewritten that can be, each with the number of its circle.
// Rewriting any one reference of a circle may close it, whatever the order: so none
// in it is.
func (m *Planner) cycles() map[graph.Node]int {
	leads := m.possibleRewrites()
	out := map[graph.Node]int{}
	if len(leads) == 0 {
		return out
	}
	lead := func(e graph.Edge) graph.Node {
		if to, rewritten := leads[e]; rewritten {
			return to
		}
		if v := m.judge.Reference(e).Verdict; v == collector.Solid || v == collector.Waiting {
			return m.graph.Owners(e.Node)[e.Index]
		}
		return graph.None
	}
	for i, circle := range m.graph.CyclesOf(lead) {
		for _, n := range circle {
			out[n] = i
		}
	}
	return out
}

// possibleRewrites are the references that can be rewritten but for circles, and where
// they would lead.
func (m *Planner) possibleRewrites() map[graph.Edge]graph.Node {
	out := map[graph.Edge]graph.Node{}
	for n := graph.Node(0); m.graph.Object(n) != nil; n++ {
		if len(m.graph.Object(n).Owners) == 0 {
			continue
		}
		for i, mend := range m.object(n, func(*object.Object) bool { return false }) {
			if mend.Becomes.UID != "" {
				out[graph.Edge{Node: n, Index: i}] = m.graph.Find(mend.Becomes.UID)
			}
		}
	}
	return out
}
