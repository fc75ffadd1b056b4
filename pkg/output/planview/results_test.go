package planview_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/color"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/planview"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

func numbered(of ...[]plan.Step) *plan.Plan {
	p := &plan.Plan{}
	for _, some := range of {
		for _, s := range some {
			s.ID = fmt.Sprint(len(p.Steps) + 1)
			if s.Object.Kind == "" {
				s.Object.Identity = object.Identity{APIVersion: "v1", Kind: "ConfigMap", Name: "a"}
			}
			p.Steps = append(p.Steps, s)
		}
	}
	for i := range p.Steps {
		if s := &p.Steps[i]; s.Action == plan.ActionDelete {
			p.LostObjects = append(p.LostObjects, plan.Loss{Object: s.Object.Identity, By: s})
		}
	}
	return p
}

func all(p *plan.Plan, status event.Status) []event.Result {
	return slices.Repeat([]event.Result{{Status: status, Reason: reason.ObjectGone}}, len(p.Steps))
}

func TestRan(t *testing.T) {
	p := numbered(stepsOf(3, plan.ActionDelete), stepsOf(2, plan.ActionUnlink), stepsOf(1, plan.ActionRemoveFinalizer), stepsOf(2, plan.ActionUnblock))
	some := all(p, event.Done)
	some[0].Status, some[3].Status, some[4].Status = event.Failed, event.Skipped, event.Failed
	for name, c := range map[string]struct {
		plan    *plan.Plan
		results []event.Result
		gone    int
		elapsed time.Duration
		want    string
	}{
		"all steps are done":      {p, all(p, event.Done), 3, 31 * time.Second, "deleted 3, unlinked 2, unblocked 2, removed 1 finalizer in 31s."},
		"some steps are not":      {p, some, 2, 75 * time.Second, "deleted 2 of 3, unblocked 2, removed 1 finalizer in 75s; 1 skipped, 2 failed: ConfigMap/a: it no longer exists."},
		"no step is":              {p, all(p, event.Failed), 0, 412345 * time.Microsecond, "nothing was changed in 412ms; 8 failed: ConfigMap/a: it no longer exists."},
		"the collector does most": {p, append(all(p, event.Done)[:1:1], all(p, "")[1:]...), 1, time.Hour, "deleted 1 in 60m."},
		"it was interrupted":      {p, append(all(p, event.Done)[:1:1], all(p, event.Skipped)[1:]...), 1, time.Hour, "deleted 1 of 3 in 60m; 7 skipped."},
		"there was nothing to do": {numbered(), nil, 0, 0, "nothing was changed in 0s."},
		"a repair":                {numbered(stepsOf(2, plan.ActionUpdateVersion)), []event.Result{{Status: event.Done}, {Status: event.Skipped}}, 0, time.Second, "updated 1 in 1s; 1 skipped."},
		"an unknown action":       {numbered(stepsOf(1, "adopt")), []event.Result{{Status: event.Done}}, 0, time.Second, "adopt 1 in 1s."},
	} {
		t.Run(name, func(t *testing.T) {
			_, got := planview.RunSummary(c.plan, c.results, c.gone, "", "", c.elapsed)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func unfinished(t *testing.T, p *plan.Plan, results []event.Result, mode color.Choice) string {
	t.Helper()
	var out bytes.Buffer
	if err := planview.Unfinished(&out, p, results, color.New(mode, false, false)); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func on(namespace, kind, name string, action plan.Action) []plan.Step {
	return []plan.Step{{Action: action, Object: plan.ObjectState{Identity: object.Identity{Kind: kind, Namespace: namespace, Name: name}}}}
}

func TestUnfinished(t *testing.T) {
	p := numbered(
		on("shop", "Secret", "x", plan.ActionDelete), on("", "Node", "n", plan.ActionUnlink),
		on("shop", "Secret", "y\n", plan.ActionDelete), on("shop", "ConfigMap", "z", plan.ActionRemoveFinalizer))
	results := []event.Result{
		{Status: event.Failed, Reason: saying("delete Secret/x in namespace shop: forbidden\x1b[31m")},
		{Status: event.Skipped, Reason: saying("it changed, and keeps its owners now")},
		{Status: event.Done},
		{Status: event.Failed, Reason: saying("remove a finalizer of ConfigMap/z in namespace shop: conflict")},
	}
	want := `RESULT   ACTION            NAMESPACE  OBJECT       WHY
failed   delete            shop       Secret/x     delete Secret/x in namespace shop: forbidden\x1b[31m
failed   remove-finalizer  shop       ConfigMap/z  remove a finalizer of ConfigMap/z in namespace shop: conflict
skipped  unlink            -          Node/n       it changed, and keeps its owners now
`
	if diff := cmp.Diff(want, unfinished(t, p, results, color.Never)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for _, part := range []string{"\x1b[31mfailed\x1b[0m", "\x1b[33mskipped\x1b[0m", "\x1b[31mdelete\x1b[0m", "\x1b[33munlink\x1b[0m"} {
		if got := unfinished(t, p, results, color.Always); !strings.Contains(got, part) {
			t.Errorf("%q is not in\n%s", part, got)
		}
	}
	if got := unfinished(t, p, all(p, event.Done), color.Always); got != "" {
		t.Errorf("got %s without failed or skipped steps", got)
	}
}

func TestManyUnfinishedSteps(t *testing.T) {
	many := func(n int, namespace string) []plan.Step {
		var out []plan.Step
		for i := range n {
			out = append(out, on(namespace, "Pod", fmt.Sprintf("%s-%04d", namespace, i), plan.ActionDelete)...)
		}
		return out
	}
	said := func(p *plan.Plan, status event.Status, message func(i int) string) []event.Result {
		out := all(p, status)
		for i := range out {
			out[i].Reason = saying(message(i))
		}
		return out
	}
	one := func(int) string { return "its owner is back" }
	each := func(i int) string { return fmt.Sprintf("message %04d", i) }
	forty := numbered(many(40, "a"))
	mixed := numbered(many(1500, "a"), many(2, "b"), on("c", "Pod", "c", plan.ActionUnlink))

	for name, c := range map[string]struct {
		plan    *plan.Plan
		results []event.Result
		lines   int
		has     []string
	}{
		"few skipped steps have a line each": {
			numbered(many(10, "a")), said(numbered(many(10, "a")), event.Skipped, one), 10, []string{"Pod/a-0009"},
		},
		"many steps with one message share a line": {
			forty, said(forty, event.Skipped, one), 1, []string{"skipped  delete  a          Pod/a-0000 and 39 more  its owner is back"},
		},
		"they do so across namespaces, but not across stepsOf": {
			mixed, said(mixed, event.Skipped, one), 2, []string{
				"skipped  delete  *          Pod/a-0000 and 1,501 more  its owner is back", "skipped  unlink  c          Pod/c",
			},
		},
		"beyond the limit, steps are counted": {
			mixed, said(mixed, event.Skipped, each), 51, []string{"message 0049", "skipped                     … and 1,453 more"},
		},
		"failed steps have a line each, up to the limit": {
			mixed, said(mixed, event.Failed, one), 51, []string{"Pod/a-0049", "failed                     … and 1,453 more"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := unfinished(t, c.plan, c.results, color.Never)
			if n := strings.Count(got, "\n") - 1; n != c.lines {
				t.Errorf("got %d lines, want %d\n%s", n, c.lines, got)
			}
			for _, part := range c.has {
				if !strings.Contains(got, part) {
					t.Errorf("%q is not in\n%s", part, got)
				}
			}
		})
	}
}
