package cli

import (
	"testing"
)

// TestExitCodeOfEveryCombination checks rules that hold for all facts.
func TestExitCodeOfEveryCombination(t *testing.T) {
	forAllFacts(func(e exitFacts) {
		code, run := e.code(), e.dryRun == DryRunNone
		lastIncomplete := e.verification == verifiedIncomplete || e.verification == verifiedFailed
		for rule, broken := range map[string]bool{
			"130 is for an interrupt, always and alone": (code == ExitInterrupted) != e.interrupted,
			"3 is for --strict with any incomplete scan, always and alone": (code == ExitIncomplete) !=
				(!e.interrupted && e.strict && (!e.complete || run && lastIncomplete)),
			"0 of a run means that nothing is left, as far as it was to verify": run && code == ExitDone &&
				(e.failed+e.left+e.blocked > 0 || e.timedOut || e.unrecorded || lastIncomplete),
			"a run without a problem does not end with 1": run && code == ExitFound &&
				e.failed+e.left+e.blocked == 0 && !e.timedOut && !e.unrecorded && !lastIncomplete,
			"a client's dry run does not fail":            e.dryRun == dryRunClient && code == ExitFound && e.failed == 0,
			"a server's dry run fails by its steps alone": e.dryRun == dryRunServer && code == ExitFound && e.failed == 0,
			"it is one of four":                           code != ExitDone && code != ExitFound && code != ExitIncomplete && code != ExitInterrupted,
		} {
			if broken {
				t.Errorf("%s: %+v ends with %d", rule, e, code)
			}
		}
	})
}

func forAllFacts(do func(exitFacts)) {
	for bits := range 1 << 8 {
		is := func(n int) bool { return bits>>n&1 == 1 }
		count := func(n int) int { return bits >> n & 1 }
		for _, dryRun := range dryRunChoices.Values() {
			for _, v := range []verification{verifiedComplete, verifiedIncomplete, verifiedFailed, verifiedNone} {
				do(exitFacts{
					dryRun: dryRun, strict: is(0), complete: is(1), interrupted: is(2), timedOut: is(3),
					failed: count(4), left: count(5), blocked: count(6), unrecorded: is(7), verification: v,
				})
			}
		}
	}
}
