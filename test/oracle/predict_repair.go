package oracle

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/test/oracle/scenario"
)

// Repaired returns a scenario without deletions after the repair that `repair` makes of it without a further
// question, and whether there is one.
func Repaired(s scenario.Scenario) (_ scenario.Scenario, changed bool) {
	p := plan.NewRepair(collector.NewJudge(graph.New(Scan(s))), plan.RepairOptions{})
	s.Objects = slices.Clone(s.Objects)
	objects, refused := byUID(s.Objects), map[string]bool{}
	for i := range p.Steps {
		step, o := &p.Steps[i], objects[p.Steps[i].Object.UID]
		after := step.Transition().Change.Apply(object.FromMeta(o.APIVersion, o.Kind, &o.ObjectMeta, false))
		earlier := func(id string) bool { return refused[id] }
		if collector.UpdateRejected(&after) || slices.ContainsFunc(step.After, earlier) { // the API server refuses the patch, or one before it
			refused[step.ID] = true
			continue
		}
		o.OwnerReferences, changed = ownerReferences(after.Owners), true
	}
	return s, changed
}

func ownerReferences(references []object.Reference) []metav1.OwnerReference {
	out := make([]metav1.OwnerReference, len(references))
	for i, r := range references {
		out[i] = metav1.OwnerReference{
			APIVersion: r.APIVersion, Kind: r.Kind, Name: r.Name, UID: r.UID, Controller: r.Controller, BlockOwnerDeletion: r.BlockOwnerDeletion,
		}
	}
	return out
}

// PredictRepair returns what holds after the repair of a scenario: the collector deletes no object that it
// kept in every one of these ends, without the repair.
func PredictRepair(s scenario.Scenario, without []End) []Prediction {
	var out []Prediction
	for i := range s.Objects {
		o := &s.Objects[i]
		if slices.ContainsFunc(without, func(e End) bool { return e.Deleted(o.UID) }) {
			continue
		}
		out = append(out, Prediction{
			Command: "repair", Aspect: "deletion", Object: o.UID, Said: alive, None: DeletedByRepair, Some: DeletedByRepair,
			Holds:    func(e End) bool { return !e.Deleted(o.UID) },
			Describe: func(e End) string { return stateOf(e.Object(o.UID)) },
		})
	}
	return out
}
