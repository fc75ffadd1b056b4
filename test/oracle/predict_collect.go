package oracle

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/test/oracle/scenario"
)

// PredictCollect returns what `collect` would delete in a scenario without deletions: each of
// these objects must be deleted or terminating in some order. An object that was terminating
// before is.
func PredictCollect(s scenario.Scenario) []Prediction {
	p := plan.New(collector.NewJudge(graph.New(Scan(s))), plan.Options{Mode: plan.Collect, Actor: collector.ActorClient})
	deletes := map[types.UID]bool{}
	for i := range p.Steps {
		if p.Steps[i].Action == plan.ActionDelete {
			deletes[p.Steps[i].Object.UID] = true
		}
	}
	for _, o := range p.Outcomes {
		if o.State == plan.Deleted || o.State == plan.Terminating {
			deletes[o.Object.UID] = true
		}
	}
	var out []Prediction
	for i := range s.Objects {
		if o := &s.Objects[i]; deletes[o.UID] {
			out = append(out, Prediction{
				Command: "collect", Aspect: "deletion", Object: o.UID, Said: gone, None: DeletedByNoOrder,
				Holds:    func(e End) bool { return e.Deleted(o.UID) },
				Describe: func(e End) string { return stateOf(e.Object(o.UID)) },
			})
		}
	}
	return out
}
