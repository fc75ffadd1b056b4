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
// collector reach the same final state, as the plan predicted. Where runs of the real
// collector differ, the program must agree with one of them, object by object.
func TestDifferentialCollect(t *testing.T) {
	t.Parallel()
	for _, seed := range graphs(t, 3168210554) {
		t.Run(fmt.Sprintf("%s=%d", seedVariable, seed), func(t *testing.T) {
			compare(t, draw(seed, 220).avoidOrphansUnderWrongName())
		})
	}
}

func compare(t *testing.T, b *blueprint) {
	t.Helper()
	ours := newScene(t)
	theirs := &trial{scene: withRealCollector.newScene(t), blueprint: b}
	g := b.build(ours, 0)[0]

	before := g.state()
	plan := ours.tool().plan()
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
	gone, changed := countChanges(before, after)
	t.Logf("%d objects: %d deleted, %d changed; %d differ between runs of the real collector", len(before), gone, changed, differing)
	if gone == 0 || changed == 0 {
		t.Error("the graph gave the collector too little to do")
	}
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
