package repair

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// Planner decides how to repair the references of one graph. It is safe for concurrent use.
type Planner struct {
	graph       *graph.Graph
	judge       *collector.Judge
	closesCycle func(dependent, owner types.UID) bool
}

// New returns a Planner for the graph that j judges.
func New(j *collector.Judge) *Planner {
	g := j.Graph()
	p := &Planner{graph: g, judge: j}
	cycles := sync.OnceValue(p.cycles)
	p.closesCycle = func(dependent, owner types.UID) bool {
		from, ok := cycles()[g.Find(dependent)]
		to, in := cycles()[g.Find(owner)]
		return ok && in && from == to
	}
	return p
}

// Reconsider returns a Planner for a graph that holds only single objects in their current
// state. Such a graph shows no cycles, so those of p are used.
func (p *Planner) Reconsider(j *collector.Judge) *Planner {
	return &Planner{graph: j.Graph(), judge: j, closesCycle: p.closesCycle}
}

// Object returns how to repair each reference of n, in their order.
func (p *Planner) Object(n graph.Node) []Repair {
	return p.object(n, func(owner *object.Object) bool { return p.closesCycle(p.graph.UID(n), owner.UID) })
}

func (p *Planner) object(n graph.Node, closes func(*object.Object) bool) []Repair {
	o := p.graph.Object(n)
	if o == nil {
		return nil
	}
	judgements := p.judge.Object(n)
	owners, unverified := map[types.UID]bool{}, map[types.UID]bool{}
	for i, j := range judgements {
		switch {
		case j.Verdict == collector.VerdictSolid:
			owners[o.Owners[i].UID] = true
		case j.Cause == collector.CauseUnverified:
			unverified[o.Owners[i].UID] = true
		}
	}
	out := make([]Repair, len(o.Owners))
	for i, r := range o.Owners {
		in := input{
			judge: p.judge, node: n, object: o, reference: r, judgement: judgements[i],
			owners: owners, unverified: unverified, closesCycle: closes,
		}
		out[i] = in.decide()
		if becomes := out[i].Becomes.UID; becomes != "" {
			owners[becomes] = true
		}
	}
	return out
}

// cycles returns the objects that would own each other, directly or through others, if
// every reference that can be rewritten were, each with the number of its cycle. Rewriting
// any one reference of such a cycle may close it, so none of them is rewritten.
func (p *Planner) cycles() map[graph.Node]int {
	rewrites := p.possibleRewrites()
	out := map[graph.Node]int{}
	if len(rewrites) == 0 {
		return out
	}
	resolve := func(e graph.Edge) graph.Node {
		if to, rewritten := rewrites[e]; rewritten {
			return to
		}
		if p.judge.Resolves(e) {
			return p.graph.Owners(e.Node)[e.Index]
		}
		return graph.None
	}
	for i, cycle := range p.graph.CyclesThrough(resolve) {
		for _, n := range cycle {
			out[n] = i
		}
	}
	return out
}

// possibleRewrites returns the references that can be rewritten if cycles are ignored, each
// with its new owner.
func (p *Planner) possibleRewrites() map[graph.Edge]graph.Node {
	out := map[graph.Edge]graph.Node{}
	for n := graph.Node(0); p.graph.Object(n) != nil; n++ {
		if len(p.graph.Object(n).Owners) == 0 {
			continue
		}
		for i, repair := range p.object(n, func(*object.Object) bool { return false }) {
			if repair.Becomes.UID != "" {
				out[graph.Edge{Node: n, Index: i}] = p.graph.Find(repair.Becomes.UID)
			}
		}
	}
	return out
}
