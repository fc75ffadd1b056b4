package plan

import (
	"cmp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
)

// requested returns what is special about a deletion that somebody asked for.
func (m *builder) requested(transition *simulate.Transition) reason.Requested {
	out := reason.Requested{
		Terminating: transition.StateBefore.Terminating(), Namespace: transition.StateBefore.IsNamespace(), Definition: transition.StateBefore.IsDefinition(),
		RecreatedBy: m.recreatedBy(transition),
	}
	out.PolicyIgnored = out.Definition && !out.Terminating && transition.Policy != metav1.DeletePropagationBackground
	if len(m.graph.Dependents(transition.Node)) > 0 {
		out.Dependents = reason.Cascade(cmp.Or(transition.Policy, metav1.DeletePropagationBackground))
	}
	return out
}

// recreatedBy returns the controller of an object where it stays: most likely it creates
// another one. A CronJob does not, as it goes by the time.
func (m *builder) recreatedBy(transition *simulate.Transition) *object.Identity {
	i := slices.IndexFunc(transition.StateBefore.Owners, object.Reference.Controls)
	if i < 0 || verdictOf(transition, i) != collector.Solid {
		return nil
	}
	controller := m.result.Model.Object(m.graph.Find(transition.StateBefore.Owners[i].UID))
	if controller == nil || controller.Terminating() || controller.Kind == "CronJob" {
		return nil
	}
	return &controller.Identity
}

// Guarded are the namespaces of claims that are left with their protection, and
// the empty one where a volume is; sorted. Which Pods use a claim no list of
// metadata says: with that known (see object.Object's Claims), a plan that is made
// again can tell whether they go.
func (p *Plan) Guarded() []string {
	var out []string
	for _, o := range p.Outcomes {
		guarded := slices.Contains(o.WaitsFor, simulate.ClaimProtection) || slices.Contains(o.WaitsFor, simulate.VolumeProtection)
		if guarded && o.State == Terminating {
			out = append(out, o.Object.Namespace)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
