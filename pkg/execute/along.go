package execute

import (
	"sync"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// along knows which objects others delete on account of a step, as it deletes
// their namespace or CustomResourceDefinition: no answer to this run tells of
// them. It is safe for concurrent use.
type along struct {
	by   map[graph.Node]int          // the step that takes an object along
	what map[int][]graph.Node        // by step, what it takes along
	of   map[graph.Node][]graph.Node // by the object of that step
	last map[int]int                 // by step, the last one on what it takes along

	mu    sync.Mutex
	begun map[int]bool // steps that are done, of those that take something along
}

func alongOf(g *graph.Graph, p *plan.Plan) *along {
	a := &along{by: map[graph.Node]int{}, what: map[int][]graph.Node{}, of: map[graph.Node][]graph.Node{}, last: map[int]int{}, begun: map[int]bool{}}
	byID := make(map[string]int, len(p.Steps))
	for i := range p.Steps {
		byID[p.Steps[i].ID] = i
	}
	for _, o := range p.Outcomes {
		if by, ok := byID[o.Follows]; ok {
			n := g.Find(o.Object.UID)
			a.by[n], a.last[by] = by, by
			a.what[by] = append(a.what[by], n)
			taker := g.Find(p.Steps[by].Object.UID)
			a.of[taker] = append(a.of[taker], n)
		}
	}
	for i := range p.Steps {
		if by, ok := a.by[g.Find(p.Steps[i].Object.UID)]; ok {
			a.last[by] = max(a.last[by], i)
		}
	}
	return a
}

// within are the objects that go along with an object.
func (a *along) within(n graph.Node) []graph.Node { return a.of[n] }

// waits says whether what step i deletes cannot go before later steps are over.
func (a *along) waits(i int) bool { return a.last[i] > i }

// begin notes that step i is done.
func (a *along) begin(i int) {
	if _, takes := a.last[i]; takes {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.begun[i] = true
	}
}

// any says whether others delete anything on account of this run by now.
func (a *along) any() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.begun) > 0
}

// takes says whether others delete that object on account of this run by now.
func (a *along) takes(n graph.Node) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	by, ok := a.by[n]
	return ok && a.begun[by]
}
