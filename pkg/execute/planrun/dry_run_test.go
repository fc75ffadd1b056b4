package planrun_test

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute/planrun"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	. "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// dryRunScenario returns a scenario with a server that changes nothing.
func dryRunScenario(objects ...object.Object) *scenario {
	s := newScenario(objects...)
	s.server.dry, s.options.Common.DryRun = true, true
	return s
}

func TestDryRunSendsEveryStepAndChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawCluster(t)
		f := newFakeServer(s)
		f.dry = true
		before := describeStates(f.state, s)
		p, g := newCollectPlan(s)
		backup := &fakeBackup{server: f}
		report := planrun.Run(t.Context(), p, collector.NewJudge(g), f, backup, planrun.RunOptions{Common: execute.Tuning{Concurrency: 3, DryRun: true}})
		if slices.ContainsFunc(report.Results, func(r event.Result) bool { return r.Status != event.Done }) {
			t.Fatalf("%+v", report.Results)
		}
		if diff := cmp.Diff(before, describeStates(f.state, s)); diff != "" {
			t.Fatal(diff)
		}
		if sent := f.sent("delete", "patch"); len(sent) != len(p.Steps) || len(f.calls) != len(p.Steps) {
			t.Fatalf("%d steps, requests %v", len(p.Steps), f.calls)
		}
	})
}

func TestDryRunSendsTheApplicablePartOfAPatch(t *testing.T) {
	one := ConfigMap("a/one", OwnedBy(Secret("a/two")), Terminating(object.ForegroundFinalizer, "x/y"))
	two := Secret("a/two", Owned(To(ConfigMap("a/one"), Blocking)))
	parent, stays := ConfigMap("a/parent", OwnedBy(gone)), ConfigMap("a/stays")
	child := Secret("a/child", OwnedBy(gone, parent, stays))
	s := dryRunScenario(one, two, parent, stays, child)
	s.options.Common.Concurrency = 1
	s.run(t.Context())
	var got []string
	var changes []object.Change
	for _, c := range s.server.calls {
		got = append(got, c.String())
		changes = append(changes, c.change)
	}
	want := map[string][]object.Change{
		"patch two":     {{Unblock: []int{0}}, {}}, // it gets its finalizer only by its DELETE
		"delete two":    {{}},
		"patch one":     {{RemoveFinalizer: object.ForegroundFinalizer}},
		"delete parent": {{}},
		"patch child":   {{Drop: []int{0}}, {Drop: []int{1}}},
	}
	for name, want := range want {
		var sent []object.Change
		for i := range got {
			if got[i] == name {
				sent = append(sent, changes[i])
			}
		}
		if diff := cmp.Diff(want, sent); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestDryRunReportsRefusedSteps(t *testing.T) {
	parent := ConfigMap("a/parent", OwnedBy(gone))
	s := dryRunScenario(parent, Secret("a/child", OwnedBy(parent)))
	s.failAll("delete parent", forbidden)
	s.checkResults(t, s.run(t.Context()), "delete parent: failed WriteFailed forbidden refused: forbidden", "delete child: done")
}

func TestDryRunSkipsChangedObjects(t *testing.T) {
	busy, changed, went := Secret("a/busy", OwnedBy(gone)), Secret("a/changed", OwnedBy(gone)), Secret("a/went", OwnedBy(gone))
	s := dryRunScenario(busy, changed, went)
	s.server.edit(uid(busy), func(*object.Object) {})
	s.server.edit(uid(changed), func(o *object.Object) { o.Owners = nil })
	s.server.edit(uid(went), nil)
	s.checkResults(t, s.run(t.Context()),
		"delete busy: done", "delete changed: skipped ChangedSincePlanned", "delete went: skipped ObjectGone")
}

func TestDryRunFailsIfAnObjectCannotBeReadAgain(t *testing.T) {
	busy, busier := Secret("a/busy", OwnedBy(gone)), Secret("a/busier", OwnedBy(gone))
	s := dryRunScenario(busy, busier)
	s.server.edit(uid(busy), func(*object.Object) {})
	s.failAll("read busy", forbidden)
	s.failAll("delete busier", classified{snapshot.Conflict})
	s.checkResults(t, s.run(t.Context()),
		"delete busier: failed KeepsChanging 20",
		"delete busy: failed RereadFailed forbidden refused: forbidden true")
}

func TestDryRunIsInterrupted(t *testing.T) {
	s := dryRunScenario(Secret("a/one", OwnedBy(gone)), Secret("a/two", OwnedBy(gone)))
	s.options.Common.Concurrency = 1
	ctx, cancel := context.WithCancel(t.Context())
	s.onRequest("delete one", 1, cancel)
	report := s.run(ctx)
	s.checkResults(t, report, "delete one: done", "delete two: skipped Interrupted")
	if !report.Interrupted {
		t.Error("not interrupted")
	}
}
