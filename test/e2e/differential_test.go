package e2e

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// roundsVariable names the environment variable with the number of random graphs on which the
// program and the real collector are compared.
const roundsVariable = "SEEDS"

// graphs returns the seeds to compare: the requested seed, the requested number of random
// ones, that number from the requested one on if both are set, or by default fixed ones, so that
// only a change of the code can cause a failure.
func graphs(t *testing.T, usual ...uint64) []uint64 {
	t.Helper()
	given := os.Getenv(roundsVariable)
	if given == "" && os.Getenv(seedVariable) == "" {
		return usual
	}
	n, err := strconv.Atoi(cmp.Or(given, "1"))
	if err != nil {
		t.Fatalf("%s: %v", roundsVariable, err)
	}
	all := seeds(t, n)
	for len(all) < n { // the requested seed alone
		all = append(all, all[len(all)-1]+1)
	}
	return all
}

// TestDifferentialCollect expects that from the same state the program and the real
// collector reach the same final state, as the plan predicted. Where runs of the real
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
	watch := newStopwatch()
	g := b.build(ours, 0)[0]
	watch.lap("built in")

	before := g.state()
	plan := ours.tool().plan()
	predicted := g.predicted(before, plan)
	watch.lap("planned in")
	done := ours.tool().collect("--backup-dir", t.TempDir())
	watch.lap("collected in")
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
	watch.lap("the real one ran in")
	for _, role := range theirs.mismatches(after) {
		description := theirs.history(role, g, before, after)
		for _, s := range plan.Steps {
			if g.members[types.UID(s.Object.UID)] == role {
				description += fmt.Sprintf("step %s, pass %d: %s %s%s: %s\n", s.ID, s.Pass, s.Action, s.PropagationPolicy, s.Finalizer, s.Reason)
			}
		}
		t.Error(description)
	}
	gone, changed := countChanges(before, after)
	t.Logf("%d objects in %d steps: %d deleted, %d changed; %d differ between %d runs of the real collector, and %d of them were kept here but deleted in some of those runs; %s",
		len(before), len(plan.Steps), gone, changed, differing, len(theirs.ends), len(theirs.keptByRace(after)), watch)
	for _, role := range theirs.keptByRace(after) {
		t.Errorf("it stayed, and the real collector leaves it only by a race: %s", theirs.history(role, g, before, after))
	}
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

// stopwatch measures durations.
type stopwatch struct {
	last time.Time
	laps string
}

func newStopwatch() *stopwatch { return &stopwatch{last: time.Now()} }

func (s *stopwatch) lap(what string) {
	now := time.Now()
	if s.laps != "" {
		s.laps += ", "
	}
	s.laps += fmt.Sprintf("%s %.1fs", what, now.Sub(s.last).Seconds())
	s.last = now
}

func (s *stopwatch) String() string { return s.laps }
