package oracle

import (
	"reflect"
	"testing"
)

func TestDrawIsReproducible(t *testing.T) {
	for _, k := range Kinds {
		for seed := range uint64(50) {
			if a, b := Draw(k, seed), Draw(k, seed); !reflect.DeepEqual(a, b) {
				t.Fatalf("%s, seed %d: two scenarios:\n%s\n%s", k.Name, seed, Format(a), Format(b))
			}
		}
	}
}

func TestDrawnScenariosAreConsistent(t *testing.T) {
	for _, k := range Kinds {
		deletes := 0
		for seed := range uint64(300) {
			s := Draw(k, seed)
			problem := ""
			names, uids := map[string]bool{}, map[string]bool{}
			for i := range s.Objects {
				o := &s.Objects[i]
				name := o.APIVersion + " " + o.Kind + " " + o.Namespace + "/" + o.Name
				switch held := len(o.Finalizers) > 0 || len(o.SpecFinalizers) > 0 || o.DeletionGracePeriodSeconds != nil && *o.DeletionGracePeriodSeconds > 0; {
				case names[name] || uids[string(o.UID)]:
					problem = "two objects are " + name
				case typeOf(s.Types, o).Kind == "":
					problem = "the type is not served: " + name
				case o.DeletionTimestamp != nil && !held:
					problem = "it is terminating although nothing holds it: " + name
				}
				names[name], uids[string(o.UID)] = true, true
			}
			requested := map[string]bool{}
			for _, d := range s.Deletes {
				deletes++
				switch {
				case !uids[d.UID]:
					problem = "deletes what does not exist: " + d.UID
				case requested[d.UID] || d.Policy != s.Deletes[0].Policy:
					problem = "deletes as no command does: " + d.UID
				}
				requested[d.UID] = true
			}
			if len(s.Objects) < 1 || len(s.Objects) > maxObjects {
				problem = "the number of objects"
			}
			if problem != "" {
				t.Fatalf("%s, seed %d: %s\n%s", k.Name, seed, problem, Format(s))
			}
		}
		if deletes < 150 {
			t.Errorf("%s: only %d deletions in 300 scenarios", k.Name, deletes)
		}
	}
}
