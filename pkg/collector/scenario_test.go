package collector_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector/collectortest"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// stage is a snapshot and the verdicts that it must lead to, for any order of objects. A
// single stage needs no name.
type stage struct {
	when string
	seen []st.Part
	want []string
}

func (s stage) check(t *testing.T) {
	t.Helper()
	whole := st.New(s.seen...)
	want := slices.Sorted(slices.Values(s.want))
	collectortest.Permute(whole.Objects, func(order []*object.Object) {
		for _, lookups := range [][]snapshot.Lookup{whole.Lookups, st.Reversed(whole.Lookups)} {
			shuffled := *whole
			shuffled.Objects, shuffled.Lookups = order, lookups
			got := slices.Sorted(slices.Values(collectortest.Verdicts(&shuffled)))
			if diff := cmp.Diff(want, got); diff != "" && !t.Failed() {
				t.Errorf("objects in the order %v:\n%s", order, diff)
			}
		}
	})
}

// scenario is a series of snapshots of one cluster.
type scenario struct {
	name   string
	stages []stage
}

func run(t *testing.T, scenarios []scenario) {
	t.Helper()
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			for _, stage := range s.stages {
				if stage.when == "" {
					stage.check(t)
				} else {
					t.Run(stage.when, stage.check)
				}
			}
		})
	}
}
