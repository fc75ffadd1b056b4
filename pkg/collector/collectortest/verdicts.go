// Package collectortest has words for the verdicts and decisions of package collector,
// which the tests of several packages share.
package collectortest

import (
	"fmt"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// Causes are the words for causes that the tests use: those of the audit rules.
var Causes = map[collector.VerdictCause]string{
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

// Verdicts says of every reference of every listed object what it is worth
// and what comes of it, as in
//
//	Pod/ns1/a: Node/n dangling (missing), delete
func Verdicts(s *snapshot.Snapshot) []string {
	g := graph.New(s)
	judge := collector.NewJudge(g)
	var out []string
	for n := range g.Listed() {
		o := g.Object(graph.Node(n))
		judgements := judge.Object(graph.Node(n))
		outlook := collector.Assess(o, collector.Verdicts(judgements))
		for i, j := range judgements {
			out = append(out, fmt.Sprintf("%s: %s %s%s, %s",
				o.UID, o.Owners[i], j.Verdict, Causes[j.Cause], outlook.Of(j.Verdict)))
		}
	}
	return out
}

// Permute visits every order of a short list.
func Permute(list []*object.Object, visit func([]*object.Object)) {
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
