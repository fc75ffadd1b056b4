package planrun_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute/planrun"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	. "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// scenario is a plan and the server to carry it out on.
type scenario struct {
	server  *fakeServer
	plan    *plan.Plan
	graph   *graph.Graph
	backup  *fakeBackup
	options planrun.RunOptions

	mu      sync.Mutex
	events  []event.Event
	onEvent func(kind string) // called with the kind of every event; may be nil
}

// newScenario returns the scenario of a collection pass over those objects, in which
// ConfigMap a/gone is known not to exist.
func newScenario(objects ...object.Object) *scenario {
	s := New(Serving(TypesWithContents()...), Listing(objects...), Absent("v1", "ConfigMap", "a/gone"))
	f := newFakeServer(s)
	p, g := newCollectPlan(s)
	return &scenario{server: f, plan: p, graph: g, backup: &fakeBackup{server: f}, options: planrun.RunOptions{Common: execute.Tuning{Concurrency: 4}}}
}

var gone = ConfigMap("a/gone")

// run carries the plan out.
func (s *scenario) run(ctx context.Context) *execute.RunResult {
	s.options.Common.OnEvent = func(e event.Event) {
		if !s.mu.TryLock() {
			panic("concurrent events")
		}
		defer s.mu.Unlock()
		s.events = append(s.events, e)
		if s.onEvent != nil {
			s.onEvent(string(e.Event))
		}
	}
	return planrun.Run(ctx, s.plan, collector.NewJudge(s.graph), s.server, s.backup, s.options)
}

// onRequestErr calls do before the nth request (from 1) of that name, such as "delete web".
// Its error is the error of the request.
func (s *scenario) onRequestErr(name string, nth int, do func() error) {
	earlier, seen := s.server.before, 0
	var mu sync.Mutex
	s.server.before = func(c call) error {
		mu.Lock()
		if c.String() == name {
			seen++
		}
		now := c.String() == name && seen == nth
		mu.Unlock()
		if earlier != nil {
			if err := earlier(c); err != nil {
				return err
			}
		}
		if now {
			return do()
		}
		return nil
	}
}

// failAll makes every request of that name fail.
func (s *scenario) failAll(name string, err error) {
	earlier := s.server.before
	s.server.before = func(c call) error {
		if c.String() == name {
			return err
		}
		if earlier != nil {
			return earlier(c)
		}
		return nil
	}
}

// onRequest is onRequestErr without an error.
func (s *scenario) onRequest(name string, nth int, do func()) {
	s.onRequestErr(name, nth, func() error { do(); return nil })
}

// describeResult returns the status of a step, and the code and parameters of its reason.
func describeResult(r event.Result) string {
	return strings.TrimSpace(string(r.Status) + " " + describeReason(r.Reason))
}

// describeReason returns the code and the parameters of a reason; "" if it is nil.
func describeReason(r *reason.Reason) string {
	switch {
	case r == nil:
		return ""
	case r.Parameters == nil:
		return string(r.Code)
	}
	of := reflect.ValueOf(r.Parameters)
	if parameter := of.FieldByName("Value"); parameter.IsValid() {
		of = parameter
	}
	return strings.TrimSpace(string(r.Code) + " " + parameters(of))
}

// parameters returns the values in v that are not zero.
func parameters(v reflect.Value) string {
	switch {
	case v.IsZero():
		return ""
	case v.Kind() == reflect.Pointer:
		return parameters(v.Elem())
	}
	switch value := v.Interface().(type) {
	case reason.Reason:
		return describeReason(&value)
	case reason.Gap:
		return value.String() + " (" + value.ErrorClass + ")"
	case fmt.Stringer:
		return value.String()
	}
	if v.Kind() != reflect.Struct {
		return fmt.Sprint(v.Interface())
	}
	var out []string
	for i := range v.NumField() {
		if text := parameters(v.Field(i)); text != "" {
			out = append(out, text)
		}
	}
	return strings.Join(out, " ")
}

// tally counts the steps of a run.
type tally struct{ deleted, changed, skipped, failed int }

func tallyOf(p *plan.Plan, report *execute.RunResult) tally {
	var out tally
	for i, r := range report.Results {
		switch {
		case r.Status == event.Skipped:
			out.skipped++
		case r.Status == event.Failed:
			out.failed++
		case r.Status == event.Done && p.Steps[i].Action == plan.ActionDelete:
			out.deleted++
		case r.Status == event.Done:
			out.changed++
		}
	}
	return out
}

// checkResults checks how the steps ended, in the order of the plan: each as "action name:
// status code parameters". want has the beginnings.
func (s *scenario) checkResults(t *testing.T, report *execute.RunResult, want ...string) {
	t.Helper()
	var got []string
	for i, r := range report.Results {
		step := s.plan.Steps[i]
		got = append(got, strings.TrimSpace(string(step.Action)+" "+step.Object.Name+": "+describeResult(r)))
	}
	if !slices.EqualFunc(got, want, strings.HasPrefix) || len(got) != len(want) {
		t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// checkRequests checks the requests with those verbs, in their order.
func (s *scenario) checkRequests(t *testing.T, verbs []string, want ...string) {
	t.Helper()
	if got := s.server.sent(verbs...); !slices.Equal(got, want) {
		t.Errorf("requests\n\t%s\nwant\n\t%s", strings.Join(got, ", "), strings.Join(want, ", "))
	}
}

func uid(o object.Object) types.UID { return o.UID }

var writes = []string{"delete", "patch"}
