package oracle

import (
	"reflect"
	"slices"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/oracle/scenario"
)

func TestScanListsMonitoredTypesOnly(t *testing.T) {
	s := mustParse(t, `
		type v1 ConfigMap configmaps namespaced
		type events.k8s.io/v1 Event events namespaced
		type metrics.example.com/v1 Meter meters unwatchable
		type example.com/v1 Widget widgets namespaced custom also=v1beta1
		unreachable broken.example.com
		object v1 ConfigMap a/owned c1 owner=events.k8s.io/v1,Event,e,e1 owner=metrics.example.com/v1,Meter,m,other owner=v1,ConfigMap,gone,gone
		object events.k8s.io/v1 Event a/e e1 owner=example.com/v1beta1,Widget,w,w1
		object events.k8s.io/v1 Event a/unnamed e2
		object metrics.example.com/v1 Meter m m1
		object example.com/v1 Widget a/w w1
	`)
	got := Scan(s)
	var listed []string
	for _, o := range got.Objects {
		listed = append(listed, o.String())
	}
	if want := []string{"ConfigMap/owned", "Widget/w"}; !slices.Equal(listed, want) {
		t.Errorf("listed %v, want %v", listed, want)
	}
	lookups := map[string]string{}
	for _, l := range got.Lookups {
		uid := ""
		if l.Object != nil {
			uid = string(l.Object.UID)
		}
		lookups[l.APIVersion+" "+l.Kind+" "+l.Namespace+"/"+l.Name] = string(l.Outcome) + " " + uid
	}
	want := map[string]string{
		"events.k8s.io/v1 Event a/e":      "found e1",
		"metrics.example.com/v1 Meter /m": "found m1",
		"v1 ConfigMap a/gone":             "absent ",
		"example.com/v1beta1 Widget a/w":  "found w1",
	}
	if !reflect.DeepEqual(lookups, want) {
		t.Errorf("got lookups %v, want %v", lookups, want)
	}
	if len(got.Gaps) != 1 || got.Gaps[0].Group != "broken.example.com" || got.Gaps[0].Resource != snapshot.All {
		t.Errorf("got gaps %v", got.Gaps)
	}
}

func TestScanMarksPodsOnANodeAsRunning(t *testing.T) {
	s := mustParse(t, `
		type v1 Pod pods namespaced
		object v1 Pod a/running p1 pod=30,scheduled
		object v1 Pod a/pending p2 pod=30
		object v1 Pod a/finished p3 pod=30,scheduled,finished
		object v1 Pod a/stopping p4 pod=30,scheduled deleted=-10s grace=30
	`)
	for _, o := range Scan(s).Objects {
		if want := o.Name == "running"; o.Running != want {
			t.Errorf("%s: running %t", o, o.Running)
		}
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
