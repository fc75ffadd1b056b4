// Package collectortest describes verdicts and decisions of package collector in words,
// for the tests of several packages.
package collectortest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// Causes are all causes.
var Causes = []collector.Cause{
	collector.CauseNone, collector.CauseUnverified, collector.CauseClusterToNamespaced, collector.CauseUnservedVersion, collector.CauseUnknownKind,
	collector.CauseCrossNamespace, collector.CauseMismatched, collector.CauseReplaced, collector.CauseMissing, collector.CauseTerminating,
}

// DescribeCause returns a cause in parentheses, without what all causes share, as in " (missing)"; empty for none.
func DescribeCause(c collector.Cause) string {
	if c == collector.CauseNone {
		return ""
	}
	return " (" + strings.Replace(string(c), "-owner", "", 1) + ")"
}

// Verdicts describes the verdict on each reference of each listed object, and its
// consequence, as in
//
//	Pod/ns1/a: Node/n dangling (missing), delete
func Verdicts(s *snapshot.Snapshot) []string {
	g := graph.New(s)
	judge := collector.NewJudge(g)
	var out []string
	for n := range g.Listed() {
		o := g.Object(graph.Node(n))
		judgements := judge.Object(graph.Node(n))
		assessment := collector.Assess(o, collector.Verdicts(judgements))
		for i, j := range judgements {
			out = append(out, fmt.Sprintf("%s: %s %s%s, %s",
				o.UID, o.Owners[i], j.Verdict, DescribeCause(j.Cause), assessment.ConsequenceFor(o.Owners[i].UID, j.Verdict)))
		}
	}
	return out
}

// Permute calls visit with every order of a short list, and with two orders of a long one.
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

// Finalizers and API versions that the tests use.
const (
	Foreground = object.ForegroundFinalizer
	Orphan     = object.OrphanFinalizer
	RbacBeta   = "rbac.authorization.k8s.io/v1beta1"
	Extensions = "extensions/v1beta1"
)

// noActions describe why there is no action.
var noActions = map[collector.NoActionReason]string{
	collector.ObjectGone: "gone", collector.NoOwners: "no owners", collector.AllOwnersSolid: "kept", collector.AlreadyTerminating: "going",
	collector.ReferenceUnknown: "undecidable", collector.BlockedByDependents: "blocked", collector.DependentsUnknown: "not all listed",
}

// DescribeDecision describes a decision on an object.
func DescribeDecision(o *object.Object, d collector.Decision) string {
	switch {
	case d.Action != collector.ActionNone:
		return strings.TrimSpace(strings.Replace(DescribeAction("", o, d), "  ", " ", 1))
	case d.NoAction == collector.ReferenceUnknown:
		return fmt.Sprintf("%s: %s", noActions[d.NoAction], o.Owners[d.UndecidableReference].Name)
	}
	return noActions[d.NoAction]
}

// DescribeAction describes the action of a decision on an object with this name.
func DescribeAction(name string, o *object.Object, d collector.Decision) string {
	line := fmt.Sprintf("%s %s", d.Action, name)
	switch d.Action {
	case collector.ActionDelete:
		line += " " + string(d.Policy)
	case collector.ActionRemoveFinalizer:
		line += " " + d.Change.RemoveFinalizer
	case collector.ActionUnlink:
		line += " " + owners(o, d.Change.Drop)
	case collector.ActionUnblock:
		line += " " + owners(o, d.Change.Unblock)
	case collector.ActionNone, collector.ActionOrphanDependents:
	}
	return line
}

func owners(o *object.Object, of []int) string {
	var out []string
	for _, i := range of {
		out = append(out, o.Owners[i].Name)
	}
	return strings.Join(out, ",")
}
