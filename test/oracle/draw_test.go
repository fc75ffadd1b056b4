package oracle

import (
	"reflect"
	"slices"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/oracle/scenario"
)

func TestDrawnScenariosAreReproducibleAndConsistent(t *testing.T) {
	held := 0
	for _, k := range Kinds {
		deletes := 0
		for seed := range uint64(300) {
			s := Draw(k, seed)
			if again := Draw(k, seed); !reflect.DeepEqual(s, again) {
				t.Fatalf("%s, seed %d: two scenarios:\n%s\n%s", k.Name, seed, Format(s), Format(again))
			}
			if !consistent(s) || len(byUID(s.Objects)) != len(s.Objects) || len(s.Objects) < 1 || len(s.Objects) > maxObjects {
				t.Fatalf("%s, seed %d: not consistent:\n%s", k.Name, seed, Format(s))
			}
			if slices.ContainsFunc(s.Objects, func(o scenario.Object) bool { return slices.Contains(o.Finalizers, hold) }) {
				held++
			}
			for i, d := range s.Deletes {
				if deletes++; d.Policy != s.Deletes[0].Policy || i > 0 && d.UID == s.Deletes[i-1].UID {
					t.Fatalf("%s, seed %d: deletes as no command does:\n%s", k.Name, seed, Format(s))
				}
			}
		}
		if deletes < 150 {
			t.Errorf("%s: only %d deletions in 300 scenarios", k.Name, deletes)
		}
	}
	if held < 100*len(Kinds) {
		t.Errorf("only %d of %d scenarios have a finalizer of another controller", held, 300*len(Kinds))
	}
}
