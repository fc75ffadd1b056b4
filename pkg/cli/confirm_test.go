package cli

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

func TestTheQuestionSaysWhatCannotBeUndone(t *testing.T) {
	held := plan.Outcome{State: plan.Terminating}
	for name, c := range map[string]struct {
		outcome *plan.Outcome
		backsUp bool
		want    string
	}{
		"what a backup brings back":      {nil, true, "Delete 1 object in shop? Type 1 to confirm: "},
		"what a finalizer will block":    {&held, true, "Delete 1 object in shop? 1 deletion will be blocked, and cannot be canceled. Type 1 to confirm: "},
		"what nobody backs up":           {nil, false, "Delete 1 object in shop? Nothing is backed up, so it cannot be undone. Type 1 to confirm: "},
		"what is blocked without backup": {&held, false, "Delete 1 object in shop? Nothing is backed up, so it cannot be undone. 1 deletion will be blocked, and cannot be canceled. Type 1 to confirm: "},
	} {
		t.Run(name, func(t *testing.T) {
			p := &plan.Plan{Mode: plan.Delete, LostObjects: []plan.Loss{{Object: object.Identity{Kind: "ConfigMap", Name: "a"}, Outcome: c.outcome}}}
			if got, _ := question(p, " in shop", c.backsUp); got != c.want {
				t.Errorf("it asks %q, want %q", got, c.want)
			}
		})
	}
}
