package execute

import (
	"sync"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// contentsOf knows which objects others delete on account of a step, as it deletes
// their namespace or CustomResourceDefinition: no answer to this run tells of
// them. It is safe for concurrent use.
type contentsOf struct {
	by   map[graph.Node]int          // the step that takes an object along
	does map[int]bool                // the steps that take any along
	of   map[graph.Node][]graph.Node // by the object of such a step, what goes along with it
	last map[graph.Node]int          // by that object, the last step on what goes along with it

	mu    sync.Mutex
	begun map[int]bool // steps that are done, of those that take something along
}

func alongOf(g *graph.Graph, p *plan.Plan) *contentsOf {
	a := &contentsOf{by: map[graph.Node]int{}, does: map[int]bool{}, of: map[graph.Node][]graph.Node{}, last: map[graph.Node]int{}, begun: map[int]bool{}}
	byID := make(map[string]int, len(p.Steps))
	for i := range p.Steps {
		byID[p.Steps[i].ID] = i
	}
	for _, o := range p.Outcomes {
		if by, ok := byID[o.Follows]; ok {
			n := g.Find(o.Object.UID)
			a.by[n], a.does[by] = by, true
			taker := g.Find(p.Steps[by].Object.UID)
			a.of[taker] = append(a.of[taker], n)
		}
	}
	for i := range p.Steps {
		if by, ok := a.by[g.Find(p.Steps[i].Object.UID)]; ok {
			a.last[g.Find(p.Steps[by].Object.UID)] = i
		}
	}
	return a
}

// within are the objects that go along with an object.
func (a *contentsOf) within(n graph.Node) []graph.Node { return a.of[n] }

// waits says whether an object cannot go before steps are over that come after
// step i, since they let go of what is in it.
func (a *contentsOf) waits(n graph.Node, i int) bool { return a.last[n] > i }

// begin notes that step i is done.
func (a *contentsOf) begin(i int) {
	if a.does[i] {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.begun[i] = true
	}
}

// any says whether others delete anything on account of this run by now.
func (a *contentsOf) any() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.begun) > 0
}

// takes says whether others delete that object on account of this run by now.
func (a *contentsOf) takes(n graph.Node) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	by, ok := a.by[n]
	return ok && a.begun[by]
}
