package planview_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/planview"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

func numbered(of ...[]plan.Step) *plan.Plan {
	p := &plan.Plan{}
	for _, some := range of {
		for _, s := range some {
			s.ID = fmt.Sprint(len(p.Steps) + 1)
			p.Steps = append(p.Steps, s)
		}
	}
	return p
}

func all(p *plan.Plan, status event.Status) []planview.Result {
	var out []planview.Result
	for _, s := range p.Steps {
		out = append(out, planview.Result{Step: s.ID, Status: status})
	}
	return out
}

func TestRan(t *testing.T) {
	p := numbered(acts(3, collector.ActionDelete), acts(2, collector.ActionUnlink), acts(1, collector.ActionRemoveFinalizer), acts(2, collector.ActionUnblock))
	some := all(p, event.Done)
	some[0].Status, some[3].Status, some[4].Status = event.Failed, event.Skipped, event.Failed
	for name, c := range map[string]struct {
		plan    *plan.Plan
		results []planview.Result
		elapsed time.Duration
		want    string
	}{
		"all went well":                {p, all(p, event.Done), 31 * time.Second, "deleted 3, unlinked 2, unblocked 2, removed finalizer 1 in 31s"},
		"some did not":                 {p, some, 75 * time.Second, "deleted 2, unblocked 2, removed finalizer 1 in 75s; 1 skipped, 2 failed"},
		"nothing did":                  {p, all(p, event.Failed), 412345 * time.Microsecond, "nothing was changed in 412ms; 8 failed"},
		"it was interrupted":           {p, all(p, event.Done)[:1], time.Hour, "deleted 1 in 60m; 7 not started"},
		"there was nothing to do":      {numbered(), nil, 0, "nothing was changed in 0s"},
		"a repair":                     {numbered(acts(2, plan.UpdateVersion)), []planview.Result{{Step: "1", Status: event.Done}, {Step: "2", Status: event.Skipped}}, time.Second, "updated 1 in 1s; 1 skipped"},
		"an act that is none of those": {numbered(acts(1, "adopt")), []planview.Result{{Step: "1", Status: event.Done}}, time.Second, "adopt 1 in 1s"},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, planview.Ran(c.plan, c.results, c.elapsed)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
