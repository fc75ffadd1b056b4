package oracle

import (
	"context"
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/test/oracle/scenario"
)

// nothingHappens replies that no controller ever does anything, not even the API server.
func nothingHappens(_ context.Context, r scenario.Request) (scenario.Reply, error) {
	return scenario.Reply{Ends: []scenario.End{{Orders: r.Orders, Objects: r.Scenario.Objects}}}, nil
}

func TestFindingIsReducedToWhatItNeeds(t *testing.T) {
	s := mustParse(t, `
		type v1 ConfigMap configmaps namespaced
		type v1 Pod pods namespaced
		unreachable x.example.com
		object v1 ConfigMap a/o o finalizers=example.com/hold owner=v1,ConfigMap,p,p,block,controller
		object v1 ConfigMap a/p p
		object v1 Pod a/q q pod=30,scheduled owner=v1,ConfigMap,o,o
		object v1 ConfigMap a/r r finalizers=orphan deleted=1m
		delete p Foreground
		delete o Background`)
	c := Checker{Orders: 3, Ask: nothingHappens}
	result, err := c.Check(t.Context(), s, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range result.Findings {
		if f.Command != "delete" || f.Object != types.UID("p") || f.Aspect != "state" {
			continue
		}
		got, err := c.Minimize(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		want := mustParse(t, "type v1 ConfigMap configmaps namespaced\nobject v1 ConfigMap a/p p\ndelete p Foreground")
		if !reflect.DeepEqual(got.Scenario, want) || !got.Same(f.Disagreement) {
			t.Errorf("got\n%s", got)
		}
		return
	}
	t.Errorf("got %v", result.Findings)
}
