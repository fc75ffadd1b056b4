package plan

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// uncertainty is what a repair may bring about in a view that is not whole. The collector's
// model lets stay what nobody could verify; a repair must not rely on that, where it
// lets the collector decide on an object on which it cannot now.
type uncertainty struct {
	scan     *snapshot.Snapshot // nil where the view is whole
	now      *simulate.Model    // the end without the repair, at worst
	affected map[graph.Node]bool
}

func (r *repairBuilder) uncertainty() *uncertainty {
	d := &uncertainty{affected: map[graph.Node]bool{}}
	if s := r.graph.Snapshot(); !s.Complete() {
		d.scan = worstCase(s)
		g := graph.New(d.scan)
		d.now = simulate.NewModel(g, collector.NewJudge(g)).Simulate(simulate.Bounds{}).Model
	}
	return d
}

// update adds the objects that go at worst if the repair is made, and not if it is not.
func (d *uncertainty) update(r *repairBuilder) {
	if d.scan == nil {
		return
	}
	then := r.simulateRepaired(d.scan)
	for n := range r.wanted {
		if r.deletedAfter(n, then) && !deletedOrTerminating(d.now.Object(n)) {
			d.affected[n] = true
		}
	}
}

// worstCase is a look that shows no more, and leaves nothing open: what could not be read
// is not there. Of groups that could not be discovered it knows no more either. The
// objects are the same, so that the nodes of what was listed are.
func worstCase(s *snapshot.Snapshot) *snapshot.Snapshot {
	worst := *s
	worst.Gaps, worst.Listed = nil, nil
	worst.Lookups = slices.DeleteFunc(slices.Clone(s.Lookups), func(l snapshot.Lookup) bool { return l.Outcome == snapshot.Failed })
	for _, t := range s.Types {
		worst.Listed = append(worst.Listed, snapshot.Listing{Group: t.Group, Resource: t.Resource})
	}
	return &worst
}
