package oracle

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/test/oracle/scenario"
)

// PredictCollect returns what `collect` would delete in a scenario without deletions: each of
// these objects must be deleted or terminating in some order, except by design. An object that was
// terminating before is.
func PredictCollect(s scenario.Scenario) []Prediction {
	p := collectPlan(s)
	deletes := map[types.UID]bool{}
	for i := range p.Steps {
		if p.Steps[i].Action == plan.ActionDelete {
			deletes[p.Steps[i].Object.UID] = true
		}
	}
	for _, o := range p.Outcomes {
		if o.State.Deletes() && o.When != plan.Later {
			deletes[o.Object.UID] = true
		}
	}
	deliberate := deliberatelyDeleted(s, deletes)
	var out []Prediction
	for i := range s.Objects {
		o := &s.Objects[i]
		if !deletes[o.UID] || deliberate[o.UID] {
			continue
		}
		out = append(out, Prediction{
			Command: "collect", Aspect: "deletion", Object: o.UID, Said: gone, None: DeletedByNoOrder,
			Holds:    func(e End) bool { return e.Deleted(o.UID) },
			Describe: func(e End) string { return stateOf(e.Object(o.UID)) },
		})
	}
	return out
}

// collectPlan returns the plan of `collect`.
func collectPlan(s scenario.Scenario) *plan.Plan {
	return plan.New(collector.NewJudge(graph.New(Scan(s))), plan.CollectPurpose(nil))
}

// deliberatelyDeleted returns the objects that `collect` deletes although no order may delete them,
// given all that it deletes: for a reason of their own that docs/differences.md gives, or because an
// owner is deleted for one. No object is among them that an owner keeps.
func deliberatelyDeleted(s scenario.Scenario, deletes map[types.UID]bool) map[types.UID]bool {
	objects, out := byUID(s.Objects), map[types.UID]bool{}
	for changed := true; changed; {
		changed = false
		for i := range s.Objects {
			o := &s.Objects[i]
			if !out[o.UID] && isDeliberate(s, objects, o, deletes, out) {
				out[o.UID], changed = true, true
			}
		}
	}
	return out
}

func isDeliberate(s scenario.Scenario, objects map[types.UID]*scenario.Object, o *scenario.Object, deletes, known map[types.UID]bool) bool {
	deliberate := false
	for i, r := range o.OwnerReferences {
		owner := objects[r.UID]
		if owner == nil {
			continue
		}
		matches, double := names(r, o, owner), false
		for j, other := range o.OwnerReferences {
			double = double || j != i && other.UID == r.UID
		}
		switch {
		case terminatesWith(owner, foregroundFinalizer): // a foreground deletion was under way
			deliberate = true
		case terminatesWith(owner, orphanFinalizer):
		case matches && !deletes[r.UID]:
			return false
		case known[r.UID], containsBoth(s, r.UID), double, !matches:
			deliberate = true
		}
	}
	return deliberate
}

// containsBoth reports whether a Namespace or CustomResourceDefinition waits for an object with both
// finalizers of the collector.
func containsBoth(s scenario.Scenario, container types.UID) bool {
	return slices.ContainsFunc(s.Objects, func(o scenario.Object) bool {
		return terminatesWith(&o, foregroundFinalizer) && terminatesWith(&o, orphanFinalizer) && slices.Contains(containers(s, &o), container)
	})
}

func terminatesWith(o *scenario.Object, finalizer string) bool {
	return o.DeletionTimestamp != nil && slices.Contains(o.Finalizers, finalizer)
}

// names reports whether a reference of an object names an owner rightly, in whatever version.
func names(r metav1.OwnerReference, o, owner *scenario.Object) bool {
	group := func(apiVersion string) string { return schema.FromAPIVersionAndKind(apiVersion, "").Group }
	return r.Kind == owner.Kind && r.Name == owner.Name && group(r.APIVersion) == group(owner.APIVersion) && (owner.Namespace == "" || owner.Namespace == o.Namespace)
}
