package planrun_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	. "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

func TestConcurrencyIsUsedAndBounded(t *testing.T) {
	var objects []object.Object
	for i := range 40 {
		objects = append(objects, Secret(fmt.Sprintf("a/s%d", i), OwnedBy(gone)))
	}
	for _, concurrency := range []int{0, 1, 4, 100} {
		s := newScenario(objects...)
		s.options.Common.Concurrency = concurrency
		allowed := min(max(concurrency, 1), len(objects))
		var mu sync.Mutex
		deleting := 0
		full := make(chan struct{})
		s.server.before = func(c call) error {
			if c.verb == "delete" {
				mu.Lock()
				if deleting++; deleting == allowed {
					close(full)
				}
				mu.Unlock()
				<-full // as many as allowed must arrive
			}
			return nil
		}
		if n := tallyOf(s.plan, s.run(t.Context())).deleted; n != len(objects) || s.server.maxInFlight != allowed {
			t.Errorf("concurrency %d: %d deleted, at most %d at once", concurrency, n, s.server.maxInFlight)
		}
	}
}

func TestStepsStartAfterTheirPredecessorsEnd(t *testing.T) {
	s := newScenario(
		ConfigMap("a/one", OwnedBy(gone)), ConfigMap("a/two", OwnedBy(gone)),
		Secret("a/both", OwnedBy(ConfigMap("a/one"), ConfigMap("a/two"))), Pod("a/last", OwnedBy(Secret("a/both"))),
	)
	s.run(t.Context())
	over := map[string]bool{}
	for _, e := range s.events {
		switch e.Event {
		case "started":
			i := slices.IndexFunc(s.plan.Steps, func(step plan.Step) bool { return step.ID == e.Step })
			for _, before := range s.plan.Steps[i].After {
				if !over[before] {
					t.Errorf("step %s began before %s was over", e.Step, before)
				}
			}
		case "ended":
			over[e.Step] = true
		default:
		}
	}
	if len(over) != 4 {
		t.Errorf("%d steps ended", len(over))
	}
}

func TestLongChainOfStepsCompletes(t *testing.T) {
	objects := []object.Object{Secret("a/s0", OwnedBy(gone))}
	for i := range 2000 {
		objects = append(objects, Secret(fmt.Sprintf("a/s%d", i+1), OwnedBy(objects[i])))
	}
	s := newScenario(objects...)
	if n := tallyOf(s.plan, s.run(t.Context())).deleted; n != len(objects) {
		t.Errorf("%d deleted", n)
	}
}

func TestStepsInACycleFail(t *testing.T) {
	s := newScenario(Secret("a/one", OwnedBy(gone)), Secret("a/two", OwnedBy(gone)), Secret("a/three", OwnedBy(gone)))
	s.plan.Steps[0].After = []string{s.plan.Steps[1].ID}
	s.plan.Steps[1].After = []string{s.plan.Steps[0].ID}
	s.plan.Steps[2].After = []string{"nothing"}
	s.checkResults(t, s.run(t.Context()),
		"delete one: failed PrecedingStepNeverEnds",
		"delete three: failed PrecedingStepNeverEnds",
		"delete two: failed PrecedingStepNeverEnds")
	s.checkRequests(t, writes)
}

func TestEveryStepEmitsEvents(t *testing.T) {
	s := newScenario(ConfigMap("a/parent", OwnedBy(gone)), Secret("a/child", OwnedBy(ConfigMap("a/parent"))))
	s.failAll("delete child", forbidden)
	s.run(t.Context())
	var got []string
	for _, e := range s.events {
		line := string(e.Event) + " " + e.Step + " " + e.Action + " " + string(e.Status) + " " + describeReason(e.Reason)
		if e.Object != nil {
			line += " " + e.Object.Name
		}
		got = append(got, line)
	}
	want := []string{
		"backup    BackedUp 2 2",
		"started 1 delete   parent", "ended 1 delete done  parent",
		"started 2 delete   child", "ended 2 delete failed WriteFailed forbidden refused: forbidden child",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestEmptyPlanSendsNothing(t *testing.T) {
	s := newScenario(ConfigMap("a/stays"))
	if report := s.run(t.Context()); len(report.Results) != 0 || report.Interrupted || len(s.events) != 0 || len(s.server.calls) != 0 {
		t.Errorf("%+v, %v, %v", report, s.events, s.server.calls)
	}
}
