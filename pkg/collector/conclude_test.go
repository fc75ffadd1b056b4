package collector_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// causes are the words for causes that the tests use: those of the audit rules.
var causes = map[collector.VerdictCause]string{
	collector.NoCause:             "",
	collector.Unverified:          " (unverified)",
	collector.ClusterToNamespaced: " (cluster-to-namespaced)",
	collector.UnservedVersion:     " (unserved-version)",
	collector.UnknownKind:         " (unknown-kind)",
	collector.CrossNamespace:      " (cross-namespace)",
	collector.Mismatched:          " (mismatched)",
	collector.Replaced:            " (replaced)",
	collector.Missing:             " (missing)",
	collector.Terminating:         " (terminating)",
}

// conclusions says of every reference of every listed object what it is worth
// and what comes of it, as in
//
//	Pod/ns1/a: Node/n dangling (missing), delete
func conclusions(s *snapshot.Snapshot) []string {
	g := graph.New(s)
	judge := collector.NewJudge(g)
	var out []string
	for n := range g.Listed() {
		o := g.Object(graph.Node(n))
		judgements := judge.Object(graph.Node(n))
		outlook := collector.Assess(o, collector.Verdicts(judgements))
		for i, j := range judgements {
			out = append(out, fmt.Sprintf("%s: %s %s%s, %s",
				o.UID, o.Owners[i], j.Verdict, causes[j.Cause], outlook.Of(j.Verdict)))
		}
	}
	return out
}

// stage is what a snapshot sees at one moment, and what must be concluded from
// it, whatever the order of the objects. The only stage of a scenario needs no
// name.
type stage struct {
	when string
	seen []st.Part
	want []string
}

func (s stage) check(t *testing.T) {
	t.Helper()
	whole := st.New(s.seen...)
	want := slices.Sorted(slices.Values(s.want))
	permute(whole.Objects, func(order []*object.Object) {
		for _, lookups := range [][]snapshot.Lookup{whole.Lookups, st.Reversed(whole.Lookups)} {
			shuffled := *whole
			shuffled.Objects, shuffled.Lookups = order, lookups
			got := slices.Sorted(slices.Values(conclusions(&shuffled)))
			if diff := cmp.Diff(want, got); diff != "" && !t.Failed() {
				t.Errorf("objects in the order %v:\n%s", order, diff)
			}
		}
	})
}

// permute visits every order of a short list.
func permute(list []*object.Object, visit func([]*object.Object)) {
	if len(list) > 6 {
		visit(list)
		visit(st.Reversed(list))
		return
	}
	var fill func(done, left []*object.Object)
	fill = func(done, left []*object.Object) {
		if len(left) == 0 {
			visit(slices.Clone(done))
			return
		}
		for i := range left {
			rest := slices.Concat(left[:i], left[i+1:])
			fill(append(slices.Clone(done), left[i]), rest)
		}
	}
	fill(nil, list)
}

// scenario is a history: what is seen at each of its stages.
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
