package simulate_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector/collectortest"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
)

// Package execute relies on this: in every order in which each transition comes after its
// prerequisites, the model still decides on each of them, and the final state is the
// predicted one. Only the contents of a Namespace or CustomResourceDefinition may be gone
// before their own transition.
func TestTransitionsMayBeAppliedInAnyOrderThatRespectsPrerequisites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawCoherent(t)
		c := simulateAll(s)
		env := newEnvironment(modelOf(s))
		done := make([]bool, len(c.Transitions))
		for range c.Transitions {
			i := rapid.SampledFrom(ready(t, c.Transitions, done)).Draw(t, "next")
			done[i] = true
			m := c.Transitions[i]
			d := env.decide(m)
			env.compareWithFreshScan(t, m, d)
			if want, got := comparable(env, m, m.Decision), comparable(env, m, d); want != got {
				if _, deleted := c.ContentsDeleted[m.Node]; deleted && d.Action == collector.ActionNone {
					continue
				}
				t.Fatalf("move %d of %q: now %q", i, describe(c), got)
			}
			env.do(m.Node, d)
		}
		for n := range c.Model.Graph().Listed() {
			node := graph.Node(n)
			if diff := cmp.Diff(c.Model.Object(node), env.Object(node)); diff != "" {
				t.Fatalf("%s after %q (-predicted +applied):\n%s", s.Objects[n], describe(c), diff)
			}
		}
	})
}

// ready returns the transitions whose prerequisites are done.
func ready(t *rapid.T, moves []simulate.Transition, done []bool) []int {
	var out []int
	for i, m := range moves {
		for _, before := range m.Prerequisites {
			if before >= i {
				t.Fatalf("move %d comes after move %d", i, before)
			}
		}
		if m.CausedBy >= i {
			t.Fatalf("move %d follows move %d", i, m.CausedBy)
		}
		if !done[i] && !slices.ContainsFunc(m.Prerequisites, func(before int) bool { return !done[before] }) {
			out = append(out, i)
		}
	}
	return out
}

func comparable(w *environment, m simulate.Transition, d collector.Decision) string {
	o := w.Object(m.Node)
	if o == nil || d.Action == collector.ActionNone {
		return fmt.Sprint("leave: ", d.NoAction)
	}
	return collectortest.DescribeAction(string(o.UID), o, d)
}
