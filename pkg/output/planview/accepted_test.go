package planview_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/color"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/planview"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

func TestAPreviewSaysObjectByObjectWhatAnAcceptedGapLetsHappen(t *testing.T) {
	step := func(action collector.Action, kind, namespace, name string, words ...string) plan.Step {
		s := plan.Step{Action: action, AcceptedGaps: words}
		s.Object.Identity = object.Identity{APIVersion: "v1", Kind: kind, Namespace: namespace, Name: name}
		if action == collector.ActionRemoveFinalizer {
			s.Finalizer = object.ForegroundFinalizer
		}
		return s
	}
	p := &plan.Plan{AcceptedGaps: snapshot.AcceptedGaps{"metrics.k8s.io", "secrets"}, Steps: []plan.Step{
		step(collector.ActionRemoveFinalizer, "ConfigMap", "shop", "release", "metrics.k8s.io", "secrets"),
		step(collector.ActionDelete, "Secret", "shop", "garbage"),
		step(collector.ActionDelete, "Namespace", "", "old", "secrets"),
		step(collector.ActionUnlink, "Pod", "shop", "p", "secrets"),
		step(collector.ActionDelete, "Pod", "shop", "later\x1b[2J", "secrets"),
	}}
	want := []string{
		"Accepted although it could not be read: metrics.k8s.io, secrets. These actions depend on it:",
		"  ConfigMap/release -n shop: removes finalizer foregroundDeletion although its dependents in metrics.k8s.io, secrets were not read",
		"  Namespace/old: deletes it although its contents in secrets were not read; they are deleted with it and not backed up",
		"  Pod/p -n shop: changes its owner references although its dependents in secrets were not read",
		`  Pod/later\x1b[2J -n shop: deletes it; the decision depends on secrets, which was not read`,
	}
	plain := color.New(color.Never, false, false)
	if diff := cmp.Diff(want, planview.Accepted(p, 10, plain)); diff != "" {
		t.Error(diff)
	}
	if got := planview.Accepted(p, 1, plain); len(got) != 3 || got[2] != "  and 3 more" {
		t.Errorf("cut: %q", got)
	}
	p.Steps = nil
	if got := planview.Accepted(p, 10, plain); len(got) != 1 || got[0] != "Accepted although it could not be read: metrics.k8s.io, secrets. No action depends on it." {
		t.Errorf("nothing rests on it: %q", got)
	}
	if got := planview.Accepted(&plan.Plan{}, 10, plain); got != nil {
		t.Errorf("nothing was accepted: %q", got)
	}
}
