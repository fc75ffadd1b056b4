package plan

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// accepted returns the words that accept a gap of the scan, or one that may hide the
// contents of what the plan deletes.
func accepted(g *graph.Graph, p *Plan, o Options) snapshot.AcceptedGaps {
	if len(o.Accepted) == 0 {
		return nil
	}
	gaps := slices.Clone(p.Gaps)
	for i := range p.Steps {
		if s := &p.Steps[i]; s.Action == collector.ActionDelete {
			gaps = append(gaps, g.View().ContentsGaps(s.Object.Identity, nil)...)
		}
	}
	return o.Accepted.Matching(gaps)
}

// markAccepted names, at each step that without is a plan without, the words on which it
// rests. A Namespace or CustomResourceDefinition rests on those that may hide its
// contents, everything else on all, as each of them may hide a dependent.
func markAccepted(g *graph.Graph, p, without *Plan) {
	type act struct {
		object    object.Identity
		action    collector.Action
		policy    string
		finalizer string
	}
	actOf := func(s *Step) act { return act{s.Object.Identity, s.Action, s.PropagationPolicy, s.Finalizer} }
	known := map[act]bool{}
	for i := range without.Steps {
		known[actOf(&without.Steps[i])] = true
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		if known[actOf(s)] {
			continue
		}
		if s.Action == collector.ActionDelete {
			s.AcceptedGaps = p.AcceptedGaps.Matching(g.View().ContentsGaps(s.Object.Identity, nil))
		}
		if len(s.AcceptedGaps) == 0 {
			s.AcceptedGaps = p.AcceptedGaps
		}
	}
}

// unaccepted returns the words on which a step rests and that a plan has not.
func unaccepted(s Step, p *Plan) []string {
	return slices.DeleteFunc(slices.Clone(s.AcceptedGaps), func(word string) bool { return slices.Contains(p.AcceptedGaps, word) })
}

// CompleteButAccepted reports whether everything was read but what a person accepted.
func (p *Plan) CompleteButAccepted() bool {
	return p.Complete || !slices.ContainsFunc(p.Gaps, func(g snapshot.Gap) bool { return !p.AcceptedGaps.Covers(g) })
}

// AcceptableGaps returns the words that would accept the gaps of a plan and of what it blocks, save
// those that are accepted.
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
