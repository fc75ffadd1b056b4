package plan_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	. "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

func at(version string, o object.Object) object.Object {
	o.ResourceVersion = version
	return o
}

func TestOnlyStepsThatStillHoldAreRenewed(t *testing.T) {
	x, y := at("1", Secret("a/x", OwnedBy(gone))), at("1", Pod("a/y", OwnedBy(Secret("a/x"))))
	saved := planOf(absent, Listing(x, y, at("1", Secret("a/z", OwnedBy(gone)))))
	for name, c := range map[string]struct {
		now  []Part
		want []string
	}{
		"nothing has changed": {
			[]Part{absent, Listing(x, y, at("1", Secret("a/z", OwnedBy(gone))))},
			[]string{"1 delete x []", "2 delete z []", "3 delete y [1]"},
		},
		"one object was written to": {
			[]Part{absent, Listing(x, y, at("2", Secret("a/z", OwnedBy(gone))))},
			[]string{"1 delete x []", "3 delete y [1]", "stale z: it changed since the plan was made"},
		},
		"one object is gone": {
			[]Part{absent, Listing(x, y)},
			[]string{"1 delete x []", "3 delete y [1]", "stale z: the collector would not touch it any more"},
		},
		"an owner is there after all": {
			[]Part{Found(gone), Listing(x, y, at("1", Secret("a/z", OwnedBy(gone))))},
			[]string{
				"stale x: the collector would not touch it any more",
				"stale z: the collector would not touch it any more",
				"stale y: the collector would not touch it any more",
			},
		},
		"the same is done for another reason": {
			[]Part{Listing(x, y, at("1", Secret("a/z", OwnedBy(gone))), ConfigMap("a/gone", UID("successor")))},
			[]string{
				"3 delete y []",
				"stale x: the collector would do something else with it now, or for another reason",
				"stale z: the collector would do something else with it now, or for another reason",
			},
		},
		"there is more to do by now": {
			[]Part{absent, Listing(x, y, at("1", Secret("a/z", OwnedBy(gone))), Secret("a/a", OwnedBy(gone)))},
			[]string{"1 delete x []", "2 delete z []", "3 delete y [1]"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			renewed, stale := plan.Renew(saved, planOf(c.now...))
			if renewed.Digest != saved.Digest {
				t.Error("it is not the plan that was confirmed")
			}
			if _, err := plan.Load(bytes.NewReader(save(t, renewed.Sealed()))); err != nil {
				t.Errorf("what is left of it cannot be read back: %v", err)
			}
			got := []string{}
			for _, s := range renewed.Steps {
				got = append(got, fmt.Sprintf("%s %s %s %v", s.ID, s.Action, s.Object.Name, s.After))
			}
			for _, s := range stale {
				got = append(got, fmt.Sprintf("stale %s: %s", s.Step.Object.Name, s.Why))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("renewed (-want +got):\n%s", diff)
			}
		})
	}
}
