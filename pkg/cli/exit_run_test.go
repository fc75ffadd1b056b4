package cli

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// proven is a run that did everything, and whose scan afterwards read everything.
func proven(change func(*ending)) ending {
	e := ending{dryRun: dryRunNone, complete: true, verification: verifiedComplete}
	change(&e)
	return e
}

func TestTheExitCodeOfARunIsThatOfTheWorstThatItLearned(t *testing.T) {
	for name, c := range map[string]struct {
		of   func(*ending)
		want status
	}{
		"everything was done, and a complete scan found nothing left": {func(*ending) {}, exitDone},
		"the same with --strict":                               {func(e *ending) { e.strict = true }, exitDone},
		"the first scan was incomplete, and the last complete": {func(e *ending) { e.complete = false }, exitDone},
		"the same with --strict, which means any scan":         {func(e *ending) { e.complete, e.strict = false, true }, exitIncomplete},
		"a step failed":           {func(e *ending) { e.failed = 1 }, exitFound},
		"something is blocked":    {func(e *ending) { e.blocked = 1 }, exitFound},
		"something is left to do": {func(e *ending) { e.left = 1 }, exitFound},
		"time was up":             {func(e *ending) { e.timedOut = true }, exitFound},
		"the backup is not whole": {func(e *ending) { e.unrecorded = true }, exitFound},
		"the last scan had gaps":  {func(e *ending) { e.verification = verifiedIncomplete }, exitFound},
		"the same with --strict, after a complete first scan":       {func(e *ending) { e.verification, e.strict = verifiedIncomplete, true }, exitIncomplete},
		"the last scan failed":                                      {func(e *ending) { e.verification = verifiedFailed }, exitFound},
		"it failed, and --strict":                                   {func(e *ending) { e.verification, e.strict = verifiedFailed, true }, exitIncomplete},
		"it failed, and --strict, and a step failed, too":           {func(e *ending) { e.verification, e.strict, e.failed = verifiedFailed, true, 1 }, exitIncomplete},
		"nothing to do by an incomplete scan":                       {func(e *ending) { e.complete, e.verification = false, verifiedIncomplete }, exitFound},
		"nobody waits, so nothing is verified":                      {func(e *ending) { e.verification = verifiedNone }, exitDone},
		"nobody waits, and --strict with a complete scan":           {func(e *ending) { e.verification, e.strict = verifiedNone, true }, exitDone},
		"nobody waits, and a step failed":                           {func(e *ending) { e.verification, e.failed = verifiedNone, 1 }, exitFound},
		"an interrupt":                                              {func(e *ending) { e.interrupted, e.verification = true, verifiedNone }, exitInterrupted},
		"an interrupt goes before all else":                         {func(e *ending) { e.interrupted, e.strict, e.complete, e.failed = true, true, false, 1 }, exitInterrupted},
		"time was up, and an interrupt came in the scan after that": {func(e *ending) { e.interrupted, e.timedOut = true, true }, exitInterrupted},
		"a dry run, whatever it foresees": {func(e *ending) {
			e.dryRun, e.complete, e.blocked, e.verification = dryRunClient, false, 1, verifiedNone
		}, exitDone},
		"a dry run by an incomplete scan, and --strict": {func(e *ending) { e.dryRun, e.complete, e.strict = dryRunClient, false, true }, exitIncomplete},
		"the server would allow it, whatever remains blocked": {func(e *ending) {
			e.dryRun, e.complete, e.blocked, e.verification = dryRunServer, false, 1, verifiedNone
		}, exitDone},
		"the server would refuse a step":                         {func(e *ending) { e.dryRun, e.failed = dryRunServer, 1 }, exitFound},
		"a server's dry run by an incomplete scan, and --strict": {func(e *ending) { e.dryRun, e.complete, e.strict = dryRunServer, false, true }, exitIncomplete},
	} {
		t.Run(name, func(t *testing.T) {
			if e := proven(c.of); e.code() != c.want {
				t.Errorf("%+v ends with %d, want %d", e, e.code(), c.want)
			}
		})
	}
}

// What holds of the exit code whatever comes together.
func TestTheExitCodeOfEveryCombination(t *testing.T) {
	everyEnding(func(e ending) {
		code, run := e.code(), e.dryRun == dryRunNone
		lastIncomplete := e.verification == verifiedIncomplete || e.verification == verifiedFailed
		for rule, broken := range map[string]bool{
			"130 is for an interrupt, always and alone": (code == exitInterrupted) != e.interrupted,
			"3 is for --strict with any incomplete scan, always and alone": (code == exitIncomplete) !=
				(!e.interrupted && e.strict && (!e.complete || run && lastIncomplete)),
			"0 of a run means that nothing is left, as far as it was to find out": run && code == exitDone &&
				(e.failed+e.left+e.blocked > 0 || e.timedOut || e.unrecorded || lastIncomplete),
			"what spoils nothing does not end with 1": run && code == exitFound &&
				e.failed+e.left+e.blocked == 0 && !e.timedOut && !e.unrecorded && !lastIncomplete,
			"a client's dry run does not fail":            e.dryRun == dryRunClient && code == exitFound && e.failed == 0,
			"a server's dry run fails by its steps alone": e.dryRun == dryRunServer && code == exitFound && e.failed == 0,
			"it is one of four":                           code != exitDone && code != exitFound && code != exitIncomplete && code != exitInterrupted,
		} {
			if broken {
				t.Errorf("%s: %+v ends with %d", rule, e, code)
			}
		}
	})
}

func everyEnding(do func(ending)) {
	for bits := range 1 << 8 {
		is := func(n int) bool { return bits>>n&1 == 1 }
		count := func(n int) int { return bits >> n & 1 }
		for _, dryRun := range dryRuns.values() {
			for _, v := range []verification{verifiedComplete, verifiedIncomplete, verifiedFailed, verifiedNone} {
				do(ending{
					dryRun: dryRun, strict: is(0), complete: is(1), interrupted: is(2), timedOut: is(3),
					failed: count(4), left: count(5), blocked: count(6), unrecorded: is(7), verification: v,
				})
			}
		}
	}
}

// What else came to be garbage is not what a saved plan is about; what its own
// deletions have made garbage is.
func TestWhatIsLeftOfASavedPlanIsWhatItIsAbout(t *testing.T) {
	step := func(uid string, owners ...string) plan.Step {
		return plan.Step{Object: plan.Object{Identity: object.Identity{UID: types.UID(uid)}}, OwnerUIDs: owners}
	}
	saved := &plan.Plan{
		Steps:    []plan.Step{step("deleted")},
		Outcomes: []plan.Outcome{{Object: object.Identity{UID: "along"}, State: plan.Deleted}},
	}
	for name, c := range map[string]struct {
		left []plan.Step
		want int
	}{
		"nothing":                           {nil, 0},
		"an object of a step":               {[]plan.Step{step("deleted")}, 1},
		"an object that was to go along":    {[]plan.Step{step("along")}, 1},
		"something else":                    {[]plan.Step{step("other", "gone")}, 0},
		"what depends on what was deleted":  {[]plan.Step{step("dependent", "deleted")}, 1},
		"what depends on that":              {[]plan.Step{step("dependent", "deleted"), step("below", "dependent")}, 2},
		"one that is about it, and one not": {[]plan.Step{step("other"), step("along"), step("below other", "other")}, 1},
	} {
		if got := dueOf(saved, &plan.Plan{Steps: c.left}); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}
