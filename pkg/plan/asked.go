package plan

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// whyAsked says what is asked for, and what comes of it as such.
func (m *maker) whyAsked(move *collector.Move) string {
	text := "asked for"
	if move.Before.Terminating() {
		text = "asked for, though it is being deleted already"
	}
	switch before := move.Before; {
	case before.IsNamespace():
		text += ": everything in it goes along"
	case before.IsDefinition():
		text += ": every object of its kind goes along"
	}
	return text + m.askedHow(move) + m.remade(move)
}

func (m *maker) askedHow(move *collector.Move) string {
	if move.Before.IsDefinition() && !move.Before.Terminating() && move.Policy != metav1.DeletePropagationBackground {
		return "; of this kind the API server ignores the policy"
	}
	if len(m.graph.Dependents(move.Node)) == 0 {
		return ""
	}
	switch move.Policy {
	case metav1.DeletePropagationForeground:
		return "; its dependents go first (foreground)"
	case metav1.DeletePropagationOrphan:
		return "; its dependents stay (orphan)"
	case metav1.DeletePropagationBackground:
	}
	return "; its dependents follow (background)"
}

// remade warns of an object that has a controller which stays: most likely that
// one makes another. A CronJob does not, as it goes by the time.
func (m *maker) remade(move *collector.Move) string {
	i := slices.IndexFunc(move.Before.Owners, object.Reference.Controls)
	if i < 0 || verdictOf(move, i) != collector.Solid {
		return ""
	}
	controller := m.course.Model.Object(m.graph.Find(move.Before.Owners[i].UID))
	if controller == nil || controller.Terminating() || controller.Kind == "CronJob" {
		return ""
	}
	return "; its controller " + controller.String() + " stays, and will likely make another"
}

// Guarded are the namespaces of claims that are left with their protection, and
// the empty one where a volume is; sorted. Which Pods use a claim no list of
// metadata says: with that known (see object.Object's Claims), a plan that is made
// again can tell whether they go.
func (p *Plan) Guarded() []string {
	var out []string
	for _, o := range p.Outcomes {
		guarded := slices.Contains(o.WaitsFor, collector.ClaimProtection) || slices.Contains(o.WaitsFor, collector.VolumeProtection)
		if guarded && o.State == Terminating {
			out = append(out, o.Object.Namespace)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
