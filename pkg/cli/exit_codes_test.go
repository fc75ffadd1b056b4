package cli

import (
	"testing"
)

// completeRun returns the facts of a run that did everything, with a change.
func completeRun(change func(*exitFacts)) exitFacts {
	e := exitFacts{dryRun: DryRunNone, complete: true, verification: verifiedComplete}
	change(&e)
	return e
}

func TestExitCodeOfARun(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*exitFacts)
		want   ExitError
	}{
		"everything was done, and a complete scan found nothing left": {func(*exitFacts) {}, ExitDone},
		"the same with --strict":                               {func(e *exitFacts) { e.strict = true }, ExitDone},
		"the first scan was incomplete, and the last complete": {func(e *exitFacts) { e.complete = false }, ExitDone},
		"the same with --strict, which means any scan":         {func(e *exitFacts) { e.complete, e.strict = false, true }, ExitIncomplete},
		"a step failed":                                       {func(e *exitFacts) { e.failed = 1 }, ExitFound},
		"something is blocked":                                {func(e *exitFacts) { e.blocked = 1 }, ExitFound},
		"something is left to do":                             {func(e *exitFacts) { e.left = 1 }, ExitFound},
		"the time limit was reached":                          {func(e *exitFacts) { e.timedOut = true }, ExitFound},
		"the backup is incomplete":                            {func(e *exitFacts) { e.unrecorded = true }, ExitFound},
		"the last scan had gaps":                              {func(e *exitFacts) { e.verification = verifiedIncomplete }, ExitFound},
		"the same with --strict, after a complete first scan": {func(e *exitFacts) { e.verification, e.strict = verifiedIncomplete, true }, ExitIncomplete},
		"the last scan failed":                                {func(e *exitFacts) { e.verification = verifiedFailed }, ExitFound},
		"it failed, and --strict":                             {func(e *exitFacts) { e.verification, e.strict = verifiedFailed, true }, ExitIncomplete},
		"it failed, and --strict, and a step failed, too":     {func(e *exitFacts) { e.verification, e.strict, e.failed = verifiedFailed, true, 1 }, ExitIncomplete},
		"nothing to do by an incomplete scan":                 {func(e *exitFacts) { e.complete, e.verification = false, verifiedIncomplete }, ExitFound},
		"without --wait nothing is verified":                  {func(e *exitFacts) { e.verification = verifiedNone }, ExitDone},
		"without --wait, and --strict with a complete scan":   {func(e *exitFacts) { e.verification, e.strict = verifiedNone, true }, ExitDone},
		"without --wait, and a step failed":                   {func(e *exitFacts) { e.verification, e.failed = verifiedNone, 1 }, ExitFound},
		"an interrupt":                                        {func(e *exitFacts) { e.interrupted, e.verification = true, verifiedNone }, ExitInterrupted},
		"an interrupt comes before everything else":           {func(e *exitFacts) { e.interrupted, e.strict, e.complete, e.failed = true, true, false, 1 }, ExitInterrupted},
		"the time limit was reached, and an interrupt came in the scan after that": {func(e *exitFacts) { e.interrupted, e.timedOut = true, true }, ExitInterrupted},
		"a dry run, whatever it predicts": {func(e *exitFacts) {
			e.dryRun, e.complete, e.blocked, e.verification = dryRunClient, false, 1, verifiedNone
		}, ExitDone},
		"a dry run by an incomplete scan, and --strict": {func(e *exitFacts) { e.dryRun, e.complete, e.strict = dryRunClient, false, true }, ExitIncomplete},
		"the server would allow it, whatever remains blocked": {func(e *exitFacts) {
			e.dryRun, e.complete, e.blocked, e.verification = dryRunServer, false, 1, verifiedNone
		}, ExitDone},
		"the server would refuse a step":                         {func(e *exitFacts) { e.dryRun, e.failed = dryRunServer, 1 }, ExitFound},
		"a server's dry run by an incomplete scan, and --strict": {func(e *exitFacts) { e.dryRun, e.complete, e.strict = dryRunServer, false, true }, ExitIncomplete},
	} {
		t.Run(name, func(t *testing.T) {
			if e := completeRun(c.change); e.code() != c.want {
				t.Errorf("%+v ends with %d, want %d", e, e.code(), c.want)
			}
		})
	}
}

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
