package plan

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// accepted returns the words that accept a gap of the scan, or one that may hide contents of
// what the plan deletes.
func accepted(g *graph.Graph, p *Plan, o Purpose) snapshot.AcceptedGaps {
	if len(o.Predictor.Accepted) == 0 {
		return nil
	}
	gaps := slices.Clone(p.Gaps)
	for _, lost := range p.LostObjects {
		gaps = append(gaps, g.View().ContentsGaps(lost.Object, nil)...)
	}
	return o.Predictor.Accepted.Matching(gaps)
}

// markAccepted records at each step that the plan without accepted gaps lacks on which words
// it depends: for a namespace or CustomResourceDefinition on those that may hide its
// contents, otherwise on all, because each may hide a dependent.
func markAccepted(g *graph.Graph, p, without *Plan) {
	type write struct {
		object    object.Identity
		action    Action
		policy    metav1.DeletionPropagation
		finalizer string
	}
	writeOf := func(s *Step) write { return write{s.Object.Identity, s.Action, s.Transition().Policy, s.Finalizer()} }
	known := map[write]bool{}
	for i := range without.Steps {
		known[writeOf(&without.Steps[i])] = true
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		if known[writeOf(s)] {
			continue
		}
		if s.Action == ActionDelete {
			s.AcceptedGaps = p.AcceptedGaps.Matching(g.View().ContentsGaps(s.Object.Identity, nil))
		}
		if len(s.AcceptedGaps) == 0 {
			s.AcceptedGaps = p.AcceptedGaps
		}
	}
}

// CompleteButAccepted reports whether everything was read except accepted gaps.
func (p *Plan) CompleteButAccepted() bool {
	return p.Complete || !slices.ContainsFunc(p.Gaps, func(g snapshot.Gap) bool { return !p.AcceptedGaps.Covers(g) })
}

// AcceptableGaps returns the words that would accept the remaining gaps of a plan and those
// that may hide the contents of a namespace or CustomResourceDefinition.
func AcceptableGaps(g *graph.Graph, p *Plan) snapshot.AcceptedGaps {
	var out snapshot.AcceptedGaps
	add := func(gaps []snapshot.Gap) {
		for _, gap := range gaps {
			if word := gap.Word(); word != "" && gap.Name == "" && !p.AcceptedGaps.Covers(gap) {
				out = append(out, word)
			}
		}
	}
	add(p.Gaps)
	for n := range g.Listed() {
		if o := g.Object(graph.Node(n)); simulate.DeletesContents(o.Identity) {
			add(g.View().ContentsGaps(o.Identity, p.AcceptedGaps))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
