package cli

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

func TestResultContainsEveryStepAndHowItEnded(t *testing.T) {
	o := runOutcome{
		plan: &plan.Plan{Steps: []plan.Step{{ID: "1", Action: plan.ActionDelete}, {ID: "2"}, {ID: "3"}}},
		done: &execute.RunResult{Results: []event.Result{
			{Status: event.Failed, Reason: reason.WriteFailed(reason.Failure{ErrorClass: "forbidden", Detail: "no"})},
			{Status: event.Done},
			{},
		}},
	}
	data, err := json.Marshal(o.result())
	if err != nil {
		t.Fatal(err)
	}
	type why struct {
		Code       string          `json:"reason"`
		Parameters json.RawMessage `json:"parameters"`
		Message    string          `json:"message"`
	}
	type step struct {
		ID     string `json:"id"`
		Action string `json:"action"`
		Status string `json:"status"`
		Result *why   `json:"result"`
	}
	var got struct{ Steps []step }
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	want := []step{
		{"1", "delete", "failed", &why{Code: "WriteFailed", Parameters: json.RawMessage(`{"errorClass":"forbidden","detail":"no"}`), Message: "no"}},
		{"2", "", "done", nil},
		{"3", "", "skipped", &why{Code: "LeftToCollector", Message: "left to the cluster's garbage collector"}},
	}
	if diff := cmp.Diff(want, got.Steps); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestOnlyUnfinishedDeletionsAreStillThere(t *testing.T) {
	step := func(action plan.Action, why *reason.Reason) (*plan.Plan, *execute.RunResult) {
		s := plan.Step{ID: "1", Action: action, Object: plan.ObjectState{Identity: object.Identity{Kind: "Service", Name: "web"}}}
		if action == plan.ActionCreate {
			s.Creation = &plan.Creation{}
		}
		return &plan.Plan{Steps: []plan.Step{s}}, &execute.RunResult{Results: []event.Result{{Status: event.Done, Reason: why}}}
	}
	for name, c := range map[string]struct {
		action plan.Action
		why    *reason.Reason
		want   string
	}{
		"a deletion that is not complete":         {plan.ActionDelete, reason.Of(reason.DeletionIncomplete{}), ": Service/web " + reason.DeletionIncomplete{}.Message()},
		"a deletion that is":                      {plan.ActionDelete, nil, ""},
		"a Service that is created, with remarks": {plan.ActionCreate, reason.AddressReplaced, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var o runOutcome
			o.plan, o.done = step(c.action, c.why)
			if got := stillThere(o.result()); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
