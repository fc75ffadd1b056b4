package cli

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

func TestResultContainsEveryStepAndHowItEnded(t *testing.T) {
	o := runOutcome{
		plan: &plan.Plan{Steps: []plan.Step{{ID: "1", Action: plan.ActionDelete}, {ID: "2"}, {ID: "3"}}},
		done: &execute.Report{Results: []event.Result{
			{Status: event.Failed, Reason: reason.WriteFailed.Of(reason.Failure{ErrorClass: "forbidden", Detail: "no"})},
			{Status: event.Done},
			{},
		}},
	}
	data, err := json.Marshal(o.result())
	if err != nil {
		t.Fatal(err)
	}
	type step struct {
		ID     string        `json:"id"`
		Action string        `json:"action"`
		Status string        `json:"status"`
		Result reason.Stored `json:"result"`
	}
	var got struct{ Steps []step }
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	want := []step{
		{"1", "delete", "failed", reason.Stored{Code: "WriteFailed", Parameters: json.RawMessage(`{"errorClass":"forbidden","detail":"no"}`), Message: "no"}},
		{"2", "", "done", reason.Stored{}},
		{"3", "", "skipped", reason.Stored{Code: "LeftToCollector", Message: "left to the cluster's garbage collector"}},
	}
	if diff := cmp.Diff(want, got.Steps); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
