package oracle

import (
	"reflect"
	"testing"
)

func TestTextHasTheWholeScenario(t *testing.T) {
	for _, k := range Kinds {
		for seed := range uint64(100) {
			want := Draw(k, seed)
			got, err := Parse(Format(want))
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Fatalf("%s, seed %d: %v\n%s\nbecame\n%s", k.Name, seed, err, Format(want), Format(got))
			}
		}
	}
}

func TestParseReportsTheLineOfAMistake(t *testing.T) {
	for _, text := range []string{"\nobject v1 ConfigMap", "\nobject v1 ConfigMap a/c c color=red", "\nobject v1 ConfigMap a/c c owner=v1,ConfigMap", "\ntype v1 Pod pods huge", "\npod a"} {
		if _, err := Parse(text); err == nil || err.Error()[:7] != "line 2:" {
			t.Errorf("%q: got %v", text, err)
		}
	}
}
