package steps_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/print/color"
	"github.com/kubectl-gc/kubectl-gc/pkg/print/steps"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

func TestAPreviewSaysObjectByObjectWhatAnAcceptedGapLetsHappen(t *testing.T) {
	step := func(action collector.Act, kind, namespace, name string, words ...string) plan.Step {
		s := plan.Step{Action: action, AcceptedGaps: words}
		s.Object.Identity = object.Identity{APIVersion: "v1", Kind: kind, Namespace: namespace, Name: name}
		if action == collector.FreeFinalizer {
			s.Finalizer = object.ForegroundFinalizer
		}
		return s
	}
	p := &plan.Plan{AcceptedGaps: snapshot.AcceptedGaps{"metrics.k8s.io", "secrets"}, Steps: []plan.Step{
		step(collector.FreeFinalizer, "ConfigMap", "shop", "release", "metrics.k8s.io", "secrets"),
		step(collector.Remove, "Secret", "shop", "garbage"),
		step(collector.Remove, "Namespace", "", "old", "secrets"),
		step(collector.Detach, "Pod", "shop", "p", "secrets"),
		step(collector.Remove, "Pod", "shop", "later\x1b[2J", "secrets"),
	}}
	want := []string{
		"Accepted, though it could not be read: metrics.k8s.io, secrets. Because of that:",
		"  ConfigMap/release in shop: its finalizer foregroundDeletion is removed, though dependents in metrics.k8s.io, secrets were not seen",
		"  Namespace/old: it is deleted, though contents in secrets were not seen; they go along and are not backed up",
		"  Pod/p in shop: its owner references change, though dependents in secrets were not seen",
		`  Pod/later\x1b[2J in shop: it is deleted, which follows from what was not seen in secrets`,
	}
	plain := color.New(color.Never, false, false)
	if diff := cmp.Diff(want, steps.Accepted(p, 10, plain)); diff != "" {
		t.Error(diff)
	}
	if got := steps.Accepted(p, 1, plain); len(got) != 3 || got[2] != "  and 3 more" {
		t.Errorf("cut: %q", got)
	}
	p.Steps = nil
	if got := steps.Accepted(p, 10, plain); len(got) != 1 || got[0] != "Accepted, though it could not be read: metrics.k8s.io, secrets. Nothing is done because of that." {
		t.Errorf("nothing rests on it: %q", got)
	}
	if got := steps.Accepted(&plan.Plan{}, 10, plain); got != nil {
		t.Errorf("nothing was accepted: %q", got)
	}
}
