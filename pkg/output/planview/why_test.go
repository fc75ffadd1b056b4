package planview_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/color"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	. "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// TestWhy changes a plan in which the deletion of a Secret causes that of a Pod.
func TestWhy(t *testing.T) {
	const reason = "the plan's reason"
	for name, c := range map[string]struct {
		change func(p *plan.Plan, owner, pod *plan.Step)
		want   string
	}{
		"its only owner is deleted":                {func(*plan.Plan, *plan.Step, *plan.Step) {}, "its owner is gone"},
		"its only owner waits for it":              {func(_ *plan.Plan, _, pod *plan.Step) { pod.References[0].Verdict = collector.VerdictWaiting }, "deleted before its owner"},
		"its own dependents are deleted first":     {func(_ *plan.Plan, _, pod *plan.Step) { pod.Deletion.Policy = "Foreground" }, "its owner is gone; its own dependents go first (foreground)"},
		"its own dependents stay":                  {func(_ *plan.Plan, _, pod *plan.Step) { pod.Deletion.Policy = "Orphan" }, "its owner is gone; its own dependents stay (orphan)"},
		"its owner is cluster-scoped":              {func(_ *plan.Plan, owner, _ *plan.Step) { owner.Object.Namespace = "" }, "its owner is gone"},
		"its owner was in another namespace":       {func(_ *plan.Plan, owner, _ *plan.Step) { owner.Object.Namespace = "b" }, reason},
		"its owner had another name":               {func(_ *plan.Plan, _, pod *plan.Step) { pod.References[0].Name = "other" }, reason},
		"its owner had another kind":               {func(_ *plan.Plan, _, pod *plan.Step) { pod.References[0].Kind = "ConfigMap" }, reason},
		"its owner is another one than its parent": {func(_ *plan.Plan, _, pod *plan.Step) { pod.References[0].UID = "u" }, reason},
		"it has several owners":                    {func(_ *plan.Plan, _, pod *plan.Step) { pod.References = append(pod.References, pod.References...) }, reason},
		"it is not deleted":                        {func(_ *plan.Plan, _, pod *plan.Step) { pod.Action = plan.ActionUnlink }, reason},
		"its owner is not deleted":                 {func(_ *plan.Plan, owner, _ *plan.Step) { owner.Action = plan.ActionRemoveFinalizer }, reason},
		"its owner could not be verified":          {func(_ *plan.Plan, _, pod *plan.Step) { pod.References[0].Verdict = collector.VerdictUnknown }, reason},
		"it has to stop":                           {func(_ *plan.Plan, _, pod *plan.Step) { pod.Deletion.WaitsForKubelet = true }, "its owner is gone; must stop first (grace period)"},
		"it is blocked afterwards":                 {leaves("foregroundDeletion", "x/y"), "its owner is gone; then it is blocked until a controller removes x/y"},
		"its dependents are not deleted":           {leaves("foregroundDeletion"), "its owner is gone; then it waits for its dependents"},
		"its grace period does not end":            {leaves("kubernetes"), "its owner is gone; then it must stop"},
		"it is blocked, but not deleted": {
			func(p *plan.Plan, owner, pod *plan.Step) {
				leaves("x/y")(p, owner, pod)
				pod.Action = plan.ActionUnlink
			}, reason,
		},
	} {
		t.Run(name, func(t *testing.T) {
			owner := Secret("a/owner")
			p := &plan.Plan{Steps: []plan.Step{
				{ID: "1", Action: plan.ActionDelete, Object: plan.ObjectState{Identity: owner.Identity}, Reason: saying("owner's")},
				{ID: "2", Action: plan.ActionDelete, Object: plan.ObjectState{Identity: Pod("a/pod").Identity}, Reason: saying(reason), Follows: "1", References: []plan.StepReference{
					{Reference: To(owner), Verdict: collector.VerdictDangling},
				}, Deletion: &plan.Deletion{Transition: &simulate.Transition{}}},
			}}
			c.change(p, &p.Steps[0], &p.Steps[1])
			_, got, _ := strings.Cut(previewed(t, p, 0, color.Never), "Pod/pod")
			got, _, _ = strings.Cut(got, "\n")
			if diff := cmp.Diff(c.want, strings.TrimSpace(got)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// leaves makes the Pod terminating at the end of the run.
func leaves(waitsFor ...string) func(p *plan.Plan, owner, pod *plan.Step) {
	return func(p *plan.Plan, _, pod *plan.Step) {
		p.Outcomes = append(p.Outcomes, plan.Outcome{Object: pod.Object.Identity, State: plan.Terminating, WaitsFor: waitsFor})
	}
}

func TestDeletionListsContents(t *testing.T) {
	deleted := func(id string, o object.Object) plan.Step {
		return plan.Step{ID: id, Action: plan.ActionDelete, Object: plan.ObjectState{Identity: o.Identity}, Reason: saying("why")}
	}
	contents := func(o object.Object, with string) plan.Outcome {
		return plan.Outcome{Object: o.Identity, State: plan.Deleted, Follows: with}
	}
	p := &plan.Plan{
		Steps: []plan.Step{deleted("1", CRD("widgets.example.com")), deleted("2", CRD("leaf")), deleted("3", Namespace("b")), deleted("4", Pod("b/z"))},
		Outcomes: []plan.Outcome{
			contents(widget("a/x"), "1"), contents(widget("a/y"), "1"), contents(Pod("b/x"), "3"), contents(Pod("b/z"), "3"),
			{Object: Pod("b/y").Identity, State: plan.Changed},
		},
	}
	want := `ACTION  NAMESPACE  OBJECT                                        WHY
delete  -          CustomResourceDefinition/widgets.example.com  why
                   └─ 2 objects of its kind                      deleted with it
delete  -          CustomResourceDefinition/leaf                 why
delete  -          Namespace/b                                   why
                   └─ 1 object in it                             deleted with it
delete  b          Pod/z                                         why
`
	if diff := cmp.Diff(want, previewed(t, p, 0, color.Never)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
