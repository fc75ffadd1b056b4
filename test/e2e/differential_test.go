package e2e

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const (
	// seedVariable names the environment variable that repeats the random graph of a failed test.
	seedVariable = "KUBECTL_GC_SEED"
	// roundsVariable names the one with the number of random graphs.
	roundsVariable = "SEEDS"
)

// graphs returns the seeds to compare: the requested seed, the requested number of random
// ones, that number from the requested one on if both are set, or by default fixed ones, so that
// only a change of the code can cause a failure.
func graphs(t *testing.T, usual ...uint64) []uint64 {
	t.Helper()
	first, rounds := os.Getenv(seedVariable), os.Getenv(roundsVariable)
	if first == "" && rounds == "" {
		return usual
	}
	n, err := strconv.Atoi(cmp.Or(rounds, "1"))
	if err != nil {
		t.Fatalf("%s: %v", roundsVariable, err)
	}
	seed, err := strconv.ParseUint(cmp.Or(first, "0"), 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", seedVariable, err)
	}
	out := make([]uint64, n)
	for i := range out {
		out[i] = seed + uint64(i)
		if first == "" {
			out[i] = uint64(rand.Uint32())
		}
	}
	return out
}

// TestDifferentialCollect expects that from the same state the program and the real
// collector reach the same final state, as the plan and the audit predicted. Where runs of the real
// collector differ, the program must agree with one of them, object by object.
func TestDifferentialCollect(t *testing.T) {
	t.Parallel()
	for _, seed := range graphs(t, 3168210554) {
		t.Run(fmt.Sprintf("%s=%d", seedVariable, seed), func(t *testing.T) {
			compare(t, draw(seed, 220).avoidOrphansUnderWrongName().reorderCopies())
		})
	}
}

func compare(t *testing.T, b *blueprint) {
	t.Helper()
	ours := newScene(t)
	theirs := &trial{scene: withRealCollector.newScene(t), blueprint: b}
	g := b.build(ours, 0)[0]

	before := g.state()
	plan, found := ours.tool().plan(), ours.tool().audit()
	predicted := g.predicted(before, plan)
	done := ours.tool().collect("--backup-dir", t.TempDir())
	after := g.state()
	for _, role := range slices.Sorted(maps.Keys(after)) {
		if predicted[role].String() != after[role].String() {
			t.Errorf("%s %s\n  predicted: %s\n  done:     %s", role, g.describe(role), predicted[role], after[role])
		}
	}
	for _, s := range done.Steps {
		if s.Status != "done" {
			t.Errorf("step %s, %s of %s, is %s: %s", s.ID, s.Action, s.Object.identity, s.Status, s.Message)
		}
	}
	if again := ours.tool().plan(); len(again.Steps) > 0 {
		t.Errorf("a second run would still take %d steps, such as %+v", len(again.Steps), again.Steps[0])
	}

	differing := theirs.run(before, after)
	for _, role := range theirs.mismatches(after) {
		description := theirs.history(role, g, before, after)
		for _, s := range plan.Steps {
			if g.members[types.UID(s.Object.UID)] == role {
				description += fmt.Sprintf("step %s, pass %d: %s %s%s: %s\n", s.ID, s.Pass, s.Action, s.PropagationPolicy, s.Finalizer, s.Reason)
			}
		}
		t.Error(description)
	}
	for _, role := range theirs.keptByRace(before, after) {
		t.Errorf("it stayed, and the real collector leaves it only by a race: %s", theirs.history(role, g, before, after))
	}
	for role, said := range g.mispredictions(found.Findings, before, theirs.ends) {
		t.Errorf("audit: %s: %s", said, theirs.history(role, g, before, after))
	}
	gone, changed := countChanges(before, after)
	t.Logf("%d objects: %d deleted, %d changed; %d differ between runs of the real collector", len(before), gone, changed, differing)
	if gone == 0 || changed == 0 {
		t.Error("the graph gave the collector too little to do")
	}
}

// mispredictions returns, by role, what an audit says and none of these ends shows.
func (g *builtGraph) mispredictions(findings []finding, before graphState, ends []graphState) map[string]string {
	out, deletable := map[string]string{}, map[string]bool{}
	check := func(role, said string, holds func(end graphState, now partState) bool) {
		if !slices.ContainsFunc(ends, func(end graphState) bool { return holds(end, end[role]) }) {
			out[role] = said
		}
	}
	for _, f := range findings {
		role := g.members[types.UID(f.Object.UID)]
		deletable[role] = deletable[role] || f.Consequence == "delete" || f.Consequence == "unknown"
		if role == "" || f.Reference == nil || f.Nondeterministic != nil {
			continue
		}
		uid := g.roleOrValue(f.Reference.UID)
		// An owner that orphans its dependents takes references from them, whatever they are.
		orphans := func(r roleRef) bool {
			return slices.Contains(before[r.uid].Finalizers, metav1.FinalizerOrphanDependents)
		}
		check(role, f.String(), func(_ graphState, now partState) bool {
			deleted := now.Gone || now.Terminating
			owned := slices.ContainsFunc(now.Owners, func(r roleRef) bool { return r.uid == uid })
			switch {
			case f.Consequence == "delete":
				return deleted
			case f.Consequence == "unlink":
				return deleted || !owned
			case f.Effect.Reason == "CannotDecide":
				return !now.Gone && (owned || slices.ContainsFunc(before[role].Owners, orphans))
			}
			return true
		})
	}
	for role, was := range before {
		if was.Gone || was.Terminating || deletable[role] {
			continue
		}
		check(role, "no finding says that it is deleted", func(end graphState, now partState) bool {
			return !now.Gone || slices.ContainsFunc(was.Owners, func(r roleRef) bool {
				return before[r.uid].Terminating || end[r.uid].Gone || end[r.uid].Terminating
			})
		})
	}
	return out
}

// countChanges returns the numbers of deleted and of changed objects.
func countChanges(before, after graphState) (gone, changed int) {
	for role, c := range after {
		switch {
		case c.String() == before[role].String():
		case c.Gone:
			gone++
		default:
			changed++
		}
	}
	return gone, changed
}
