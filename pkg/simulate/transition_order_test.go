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

// What carries a plan out relies on this: in whatever order its moves are done,
// as long as each comes after what it names, every one of them is still what the
// model decides, and all ends in the state that was foretold. Only what others
// delete along with a namespace or a CustomResourceDefinition may be gone before
// its own move comes.
func TestTransitionsMayBeAppliedInAnyOrderThatRespectsPrerequisites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawCoherent(t)
		c := courseOf(s)
		world := newWorld(modelOf(s))
		done := make([]bool, len(c.Transitions))
		for range c.Transitions {
			i := rapid.SampledFrom(ready(t, c.Transitions, done)).Draw(t, "next")
			done[i] = true
			m := c.Transitions[i]
			d := world.decide(m)
			world.compareWithALook(t, m, d)
			if want, got := comparable(world, m, m.Decision), comparable(world, m, d); want != got {
				if _, swept := c.ContentsDeleted[m.Node]; swept && d.Action == collector.ActionNone {
					continue
				}
				t.Fatalf("move %d of %q: now %q", i, said(c), got)
			}
			world.do(m.Node, d)
		}
		for n := range c.Model.Graph().Listed() {
			node := graph.Node(n)
			if diff := cmp.Diff(c.Model.Object(node), world.Object(node)); diff != "" {
				t.Fatalf("%s after %q (-foretold +done):\n%s", s.Objects[n], said(c), diff)
			}
		}
	})
}

// ready are the moves that may be done next.
func ready(t *rapid.T, moves []simulate.Transition, done []bool) []int {
	var out []int
	for i, m := range moves {
		for _, before := range m.StateAfter {
			if before >= i {
				t.Fatalf("move %d comes after move %d", i, before)
			}
		}
		if m.Follows >= i {
			t.Fatalf("move %d follows move %d", i, m.Follows)
		}
		if !done[i] && !slices.ContainsFunc(m.StateAfter, func(before int) bool { return !done[before] }) {
			out = append(out, i)
		}
	}
	return out
}

func comparable(w *world, m simulate.Transition, d collector.Decision) string {
	o := w.Object(m.Node)
	if o == nil || d.Action == collector.ActionNone {
		return fmt.Sprint("leave: ", d.NoAction)
	}
	return collectortest.DescribeAction(string(o.UID), o, d)
}
