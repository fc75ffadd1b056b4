package planview_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/planview"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

func stepsOf(n int, action plan.Action) []plan.Step {
	out := make([]plan.Step, n)
	for i := range out {
		out[i].Action = action
	}
	return out
}

func TestSummaryLine(t *testing.T) {
	several := append(append(stepsOf(1, plan.ActionRemoveFinalizer), stepsOf(3, plan.ActionDelete)...), stepsOf(1, plan.ActionUnlink)...)
	for want, p := range map[string]plan.Plan{
		"delete 3, unlink 1, remove-finalizer 1; 1 remains blocked. Complete scan.": {Complete: true, Steps: several, Blocked: make([]plan.Blocked, 1)},
		"delete 3, unlink 1, remove-finalizer 1. Incomplete scan.":                  {Steps: several},
		"delete 12,345; 1,000 remain blocked. Complete scan.":                       {Complete: true, Steps: stepsOf(12345, plan.ActionDelete), Blocked: make([]plan.Blocked, 1000)},
		"relink 2, update-version 1, unlink 1. Complete scan.":                      {Complete: true, Steps: append(append(stepsOf(1, plan.ActionUnlink), stepsOf(1, plan.ActionUpdateVersion)...), stepsOf(2, plan.ActionRelink)...)},
		"unblock 2. Complete scan.":                                                 {Complete: true, Steps: stepsOf(2, plan.ActionUnblock)},
		`delete 1, a\nb 1, adopt 2. Complete scan.`:                                 {Complete: true, Steps: append(append(stepsOf(2, "adopt"), stepsOf(1, "a\nb")...), stepsOf(1, plan.ActionDelete)...)},
		"delete 1; 2 more objects with them. Complete scan.": {
			Complete: true, Steps: stepsOf(1, plan.ActionDelete), Outcomes: []plan.Outcome{{Object: object.Identity{UID: "x"}, Follows: "1"}, {Object: object.Identity{UID: "y"}, Follows: "1"}},
			LostObjects: make([]plan.Loss, 3),
		},
		"Nothing to do. Complete scan.":                     {Complete: true},
		"Nothing to do; 2 remain blocked. Incomplete scan.": {Blocked: make([]plan.Blocked, 2)},
	} {
		t.Run(want, func(t *testing.T) {
			if diff := cmp.Diff(want, planview.SummaryLine(&p, "")); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
