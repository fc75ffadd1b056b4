package planview_test

import (
	"bytes"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/color"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/planview"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	. "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// made returns the plan of a collection of these objects, in a cluster that serves Types,
// Containers and volumes.
func made(objects []object.Object, parts ...Part) *plan.Plan {
	verbs := []string{"create", "delete", "get", "list", "patch", "update", "watch"}
	all := append([]Part{
		Serving(TypesWithContents()...),
		Serving(
			snapshot.Type{Version: "v1", Resource: "persistentvolumes", Kind: "PersistentVolume", Verbs: verbs, Preferred: true},
			snapshot.Type{Version: "v1", Resource: "persistentvolumeclaims", Kind: "PersistentVolumeClaim", Namespaced: true, Verbs: verbs, Preferred: true},
		),
		Listing(objects...),
	}, parts...)
	return plan.New(collector.NewJudge(graph.New(New(all...))), plan.CollectPurpose(nil))
}

func claim(at string, with ...Option) object.Object {
	return Object("v1", "PersistentVolumeClaim", at, with...)
}

func widget(at string, with ...Option) object.Object {
	return Object("example.com/v1", "Widget", at, with...)
}

func previewed(t *testing.T, p *plan.Plan, limit int, mode color.Choice) string {
	t.Helper()
	var out bytes.Buffer
	if _, err := planview.Preview(&out, p, limit, color.New(mode, false, false)); err != nil {
		t.Fatal(err)
	}
	return out.String()
}
