package planview

import (
	"cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
)

// inventory returns what the controller of an object deletes with it, or an empty string.
func inventory(o *plan.Outcome) string {
	if o.Inventory == nil {
		return ""
	}
	return escape.Line(o.Inventory.Message())
}

// listed returns the finalizers of objects of which the plan says what their controllers delete with them.
func listed(p *plan.Plan) map[string]bool {
	out := map[string]bool{}
	for i := range p.Outcomes {
		if o := &p.Outcomes[i]; o.Inventory != nil {
			for _, f := range o.WaitsFor {
				out[f] = true
			}
		}
	}
	return out
}

// unseen returns which controller deletes more than the plan shows, as a clause, or an empty string.
func unseen(p *plan.Plan) string {
	known, out := listed(p), ""
	for i := range p.Outcomes {
		o := &p.Outcomes[i]
		if o.Inventory != nil && o.Inventory.MayDeleteMore {
			return escape.Line(o.Inventory.Brief())
		}
		for _, f := range o.WaitsFor {
			if also := simulate.AlsoDeleted([]string{f}); also != "" && !known[f] {
				out = cmp.Or(out, also+", which is not shown here")
			}
		}
	}
	return out
}
