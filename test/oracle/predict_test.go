package oracle

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/test/oracle/scenario"
)

const configMapType = "type v1 ConfigMap configmaps namespaced\n"

// TestPredictionsAreCompared has small scenarios with hand-written ends. No line of want is a
// disagreement; what a line leaves out of an object is not compared.
func TestPredictionsAreCompared(t *testing.T) {
	for _, c := range []struct {
		name, scenario string
		predict        func(scenario.Scenario) []Prediction
		ends           []string // each by one order
		want           []string // class, aspect and object
	}{
		{
			"delete/an order that keeps a dependent", `
				object v1 ConfigMap a/o o
				object v1 ConfigMap a/d d owner=v1,ConfigMap,o,o
				delete o Background`, PredictDelete,
			[]string{"", "object v1 ConfigMap a/d d"},
			[]string{"falsely certain state d", "falsely certain release d", "falsely certain number "},
		},
		{
			"delete/a held dependent", `
				object v1 ConfigMap a/o o
				object v1 ConfigMap a/d d finalizers=x/y owner=v1,ConfigMap,o,o,block
				delete o Foreground`, PredictDelete,
			[]string{`
				object v1 ConfigMap a/o o finalizers=foregroundDeletion deleted=0s
				object v1 ConfigMap a/d d finalizers=x/y deleted=0s owner=v1,ConfigMap,o,o,block`},
			nil,
		},
		{
			"delete/other finalizers", `
				object v1 ConfigMap a/o o finalizers=x/y
				delete o Foreground`, PredictDelete,
			[]string{"object v1 ConfigMap a/o o deleted=0s finalizers=x/z"},
			[]string{"wrong state o"},
		},
		{
			"delete/an object that is not backed up", `
				object v1 ConfigMap a/o o
				object v1 ConfigMap a/other other
				delete o Background`, PredictDelete,
			[]string{"object v1 ConfigMap a/other other", ""},
			[]string{"falsely certain state other", "not backed up backup other", "falsely certain release other", "not backed up backup of the release other", "falsely certain number "},
		},
		{
			"delete/a reference that is removed", `
				object v1 ConfigMap a/o o
				object v1 ConfigMap a/p p
				object v1 ConfigMap a/d d owner=v1,ConfigMap,o,o,block owner=v1,ConfigMap,p,p
				delete o Background`, PredictDelete,
			[]string{
				"object v1 ConfigMap a/p p\nobject v1 ConfigMap a/d d owner=v1,ConfigMap,p,p,noblock",
				"object v1 ConfigMap a/p p\nobject v1 ConfigMap a/d d owner=v1,ConfigMap,o,o,block owner=v1,ConfigMap,p,p",
			},
			[]string{"falsely certain references d"},
		},
		{
			"delete/references that the API server merges", `
				object v1 ConfigMap a/o o
				object v1 ConfigMap a/p p
				object v1 ConfigMap a/d d owner=v1,ConfigMap,p,p owner=v1,ConfigMap,o,o owner=v1,ConfigMap,p,p,noblock
				delete o Background`, PredictDelete,
			[]string{"object v1 ConfigMap a/p p\nobject v1 ConfigMap a/d d owner=v1,ConfigMap,p,p"},
			nil,
		},
		{
			"audit/a missing owner", "object v1 ConfigMap a/d d owner=v1,ConfigMap,gone,gone", PredictAudit,
			[]string{"object v1 ConfigMap a/d d owner=v1,ConfigMap,gone,gone"},
			[]string{"wrong missing-owner:gone d"},
		},
		{
			"audit/a cascade explains the deletion of an object without findings", `
				object v1 ConfigMap a/d d owner=v1,ConfigMap,gone,gone
				object v1 ConfigMap a/e e owner=v1,ConfigMap,d,d`, PredictAudit,
			[]string{""},
			nil,
		},
		{
			"audit/nothing explains the deletion of a cycle", `
				object v1 ConfigMap a/d d owner=v1,ConfigMap,e,e
				object v1 ConfigMap a/e e owner=v1,ConfigMap,d,d`, PredictAudit,
			[]string{""},
			[]string{"wrong owner-cycle d", "wrong owner-cycle e", "wrong no deletion d", "wrong no deletion e"},
		},
		{
			"audit/a reference is removed or not", `
				object v1 ConfigMap a/o o
				object v1 ConfigMap a/d d owner=v1,ConfigMap,gone,gone owner=v1,ConfigMap,o,o`, PredictAudit,
			[]string{
				"object v1 ConfigMap a/o o\nobject v1 ConfigMap a/d d owner=v1,ConfigMap,o,o",
				"object v1 ConfigMap a/o o\nobject v1 ConfigMap a/d d owner=v1,ConfigMap,gone,gone owner=v1,ConfigMap,o,o",
			},
			[]string{"falsely certain missing-owner:gone d"},
		},
		{
			"audit/an owner that cannot be resolved", "object v1 ConfigMap a/d d owner=v1,Gizmo,g,g", PredictAudit,
			[]string{""},
			[]string{"wrong unknown-owner-kind:g d", "wrong no deletion d"},
		},
		{
			"why/a cascade is part of the answer", `
				object v1 ConfigMap a/d d owner=v1,ConfigMap,gone,gone
				object v1 ConfigMap a/e e owner=v1,ConfigMap,d,d`, PredictWhy,
			[]string{"object v1 ConfigMap a/e e owner=v1,ConfigMap,d,d"},
			[]string{"wrong consequence e"},
		},
		{
			"why/a deletion that the collector completes", "object v1 ConfigMap a/d d finalizers=foregroundDeletion deleted=1m", PredictWhy,
			[]string{"object v1 ConfigMap a/d d finalizers=foregroundDeletion deleted=1m", ""},
			[]string{"falsely certain consequence d"},
		},
		{
			"collect/an object that some order deletes", "object v1 ConfigMap a/d d owner=v1,ConfigMap,gone,gone", PredictCollect,
			[]string{"", "object v1 ConfigMap a/d d"},
			nil,
		},
		{
			"collect/an object that no order deletes", "object v1 ConfigMap a/d d owner=v1,ConfigMap,gone,gone", PredictCollect,
			[]string{"object v1 ConfigMap a/d d"},
			[]string{"deleted by no order deletion d"},
		},
		{
			"collect/a dependent of a foreground deletion that was under way", underWayScenario, PredictCollect,
			[]string{underWayScenario},
			nil,
		},
		{
			"collect/a dependent of an object with a doubled reference", doubledScenario, PredictCollect,
			[]string{"object v1 ConfigMap a/d d\nobject v1 ConfigMap a/e e owner=v1,ConfigMap,d,d"},
			nil,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var reply scenario.Reply
			for _, end := range c.ends {
				reply.Ends = append(reply.Ends, scenario.End{Orders: 1, Objects: mustParse(t, end).Objects})
			}
			var got []string
			for _, d := range Compare(c.predict(mustParse(t, configMapType+c.scenario)), Ends(reply)) {
				got = append(got, strings.Join([]string{string(d.Class), d.Aspect, string(d.Object)}, " "))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

const (
	underWayScenario = `
		object v1 ConfigMap a/o o finalizers=foregroundDeletion,example.com/hold deleted=1m
		object v1 ConfigMap a/d d owner=v1,ConfigMap,o,o`
	doubledScenario = `
		object v1 ConfigMap a/o o owner=v1,ConfigMap,gone,gone
		object v1 ConfigMap a/d d owner=v1,ConfigMap,o,o owner=v1,ConfigMap,wrong,o
		object v1 ConfigMap a/e e owner=v1,ConfigMap,d,d`
)

func TestNoDeletionIsDeliberateIfAnOwnerKeepsTheObject(t *testing.T) {
	s := mustParse(t, configMapType+underWayScenario+" owner=v1,ConfigMap,kept,kept\nobject v1 ConfigMap a/kept kept")
	if got := deliberatelyDeleted(s, map[types.UID]bool{"d": true, "o": true}); len(got) > 1 || got["d"] {
		t.Errorf("got %v", got)
	}
}

// mustParse returns the scenario that a text describes.
func mustParse(t *testing.T, text string) scenario.Scenario {
	t.Helper()
	s, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
