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

func TestCheckReplacesObjectsThatChangeBeforeTheFirstDeletion(t *testing.T) {
	s := mustParse(t, configMapType+`
		object v1 ConfigMap a/garbage g owner=v1,ConfigMap,gone,gone
		object v1 ConfigMap a/o o
		delete g Background
		delete o Background`)
	var asked []scenario.Scenario
	c := Checker{Orders: 5, Ask: func(_ context.Context, r scenario.Request) (scenario.Reply, error) {
		asked = append(asked, r.Scenario)
		end := scenario.End{Orders: r.Orders, Objects: []scenario.Object{}}
		if len(r.Scenario.Deletes) == 0 || len(r.Scenario.Objects) == 2 {
			left := []scenario.Object{r.Scenario.Objects[1]}
			end.Settled = left
			if len(r.Scenario.Deletes) == 0 {
				end.Objects = left
			}
		}
		return scenario.Reply{Ends: []scenario.End{end}}, nil
	}}
	got, err := c.Check(t.Context(), s, 1)
	if err != nil || len(got.Findings) > 0 {
		t.Errorf("got %+v, %v", got, err)
	}
	if len(asked) != 3 || len(asked[2].Objects) != 1 || len(asked[2].Deletes) != 1 || asked[2].Deletes[0].UID != "o" {
		t.Errorf("asked %d times, the last time about\n%s", len(asked), Format(asked[len(asked)-1]))
	}
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

func TestReductionsAreConsistent(t *testing.T) {
	for _, k := range Kinds {
		for seed := range uint64(20) {
			s := Draw(k, seed)
			for _, smaller := range reductions(s) {
				if a, b := Format(s), Format(smaller); a == b || len(b) > len(a) || !consistent(smaller) {
					t.Fatalf("%s, seed %d:\n%s\nreduced to\n%s", k.Name, seed, a, b)
				}
			}
		}
	}
}
