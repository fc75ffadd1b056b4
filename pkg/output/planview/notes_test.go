package planview_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/color"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/planview"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	. "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

func TestAlarming(t *testing.T) {
	gone, stays := Node("gone"), Deployment("kube-system/stays")
	top := ConfigMap("shop/top", OwnedBy(gone))
	for name, c := range map[string]struct {
		objects []object.Object
		want    []string
	}{
		"other objects are not critical": {[]object.Object{top, Pod("shop/x", OwnedBy(top))}, nil},
		"objects in kube-system are, also in a cascade": {
			[]object.Object{Pod("kube-system/x", OwnedBy(gone)), Pod("kube-system/y", OwnedBy(Pod("kube-system/x")))},
			[]string{"Pod/x -n kube-system", "Pod/y -n kube-system"},
		},
		"an object that only loses a reference is not": {[]object.Object{stays, Pod("kube-system/x", OwnedBy(gone, stays))}, nil},
		"volumes and claims are": {
			[]object.Object{Object("v1", "PersistentVolume", "disk", OwnedBy(gone)), top, claim("shop/data", OwnedBy(top))},
			[]string{"PersistentVolumeClaim/data -n shop", "PersistentVolume/disk"}, // as in the preview
		},
		"namespaces and definitions are, with their contents": {
			[]object.Object{
				Namespace("doomed", OwnedBy(gone)), Pod("doomed/x"), claim("doomed/data"),
				CRD("widgets.example.com", OwnedBy(gone)), widget("kube-system/w"),
				Namespace("empty", OwnedBy(gone)),
			},
			[]string{
				"CustomResourceDefinition/widgets.example.com: 1 object of its kind deleted with it", "Widget/w -n kube-system",
				"Namespace/doomed: 2 objects in it deleted with it", "PersistentVolumeClaim/data -n doomed",
				"Namespace/empty",
			},
		},
		"a kind of the same name in another group is not": {[]object.Object{Object("example.com/v1", "Widget", "a/Namespace", OwnedBy(gone))}, nil},
		"names are escaped": {
			[]object.Object{Pod("kube-system/a\x1b[2Jb", OwnedBy(gone))}, []string{`Pod/a\x1b[2Jb -n kube-system`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := planview.CriticalDeletions(made(c.objects, Absent("v1", "Node", "gone")))
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestAcceptedGapsListsStepsThatNeedThem(t *testing.T) {
	step := func(action plan.Action, kind, namespace, name string, words ...string) plan.Step {
		s := plan.Step{Action: action, AcceptedGaps: words}
		s.Object.Identity = object.Identity{APIVersion: "v1", Kind: kind, Namespace: namespace, Name: name}
		if action == plan.ActionRemoveFinalizer {
			s.Patch = &plan.Patch{Transition: &simulate.Transition{Decision: collector.Decision{Change: object.Change{RemoveFinalizer: object.ForegroundFinalizer}}}}
		}
		return s
	}
	p := &plan.Plan{AcceptedGaps: snapshot.AcceptedGaps{"metrics.k8s.io", "secrets"}, Steps: []plan.Step{
		step(plan.ActionRemoveFinalizer, "ConfigMap", "shop", "release", "metrics.k8s.io", "secrets"),
		step(plan.ActionDelete, "Secret", "shop", "garbage"),
		step(plan.ActionDelete, "Namespace", "", "old", "secrets"),
		step(plan.ActionUnlink, "Pod", "shop", "p", "secrets"),
		step(plan.ActionDelete, "Pod", "shop", "later\x1b[2J", "secrets"),
	}}
	want := []string{
		"Accepted, although this tool could not read it: metrics.k8s.io, secrets. These actions depend on it:",
		"  ConfigMap/release -n shop: its finalizer foregroundDeletion is removed, although this tool could not read metrics.k8s.io, secrets, which may depend on it",
		"  Namespace/old: its secrets are deleted, too, although this tool could not read them or back them up",
		"  Pod/p -n shop: its owner references are changed, although this tool could not read secrets, which may depend on it",
		`  Pod/later\x1b[2J -n shop: is deleted, although this tool could not read secrets, on which that depends`,
	}
	plain := color.New(color.Never, false, false)
	if diff := cmp.Diff(want, planview.AcceptedGaps(p, 10, plain)); diff != "" {
		t.Error(diff)
	}
	if got := planview.AcceptedGaps(p, 1, plain); len(got) != 3 || got[2] != "  and 3 more" {
		t.Errorf("with a limit of 1: %q", got)
	}
	p.Steps = nil
	if got := planview.AcceptedGaps(p, 10, plain); len(got) != 1 || got[0] != "Accepted, although this tool could not read it: metrics.k8s.io, secrets. No action depends on it." {
		t.Errorf("without steps that need it: %q", got)
	}
	if got := planview.AcceptedGaps(&plan.Plan{}, 10, plain); got != nil {
		t.Errorf("without accepted gaps: %q", got)
	}
}
