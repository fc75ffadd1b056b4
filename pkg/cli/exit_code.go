package cli

// verification is what the scan after a run proves. The words are part of the JSON
// contract.
type verification string

// The verifications.
const (
	verifiedComplete   verification = "complete"   // the scan read everything, so what it did not find is not there
	verifiedIncomplete verification = "incomplete" // the scan had gaps
	verifiedFailed     verification = "failed"     // there was an error instead of a scan
	verifiedNone       verification = "none"       // no scan followed
)

func verifiedBy(complete bool) verification {
	if complete {
		return verifiedComplete
	}
	return verifiedIncomplete
}

// exitFacts is everything about a run that decides its exit code.
type exitFacts struct {
	dryRun string // as --dry-run says
	strict bool
	// complete says that the scan that the plan was made from was complete.
	complete bool
	// interrupted is by a signal, and timedOut by --timeout.
	interrupted, timedOut bool
	// failed counts the steps that failed or were refused. By the scan after the run,
	// left counts the steps that have yet to be done of what the run was about, and
	// blocked what cannot be done.
	failed, left, blocked int
	// verification is of the scan after the run or, where there was nothing to do, of
	// the scan that found that.
	verification verification
	// unrecorded says that the backup or its journal is not as it should be.
	unrecorded bool
}

// code returns the exit code of a run of collect, delete, repair or restore
// (docs/exit-codes.md).
func (e exitFacts) code() ExitError {
	unproven := e.verification == verifiedIncomplete || e.verification == verifiedFailed
	run := e.dryRun == DryRunNone
	switch {
	case e.interrupted:
		return exitInterrupted
	case e.strict && (!e.complete || run && unproven):
		return ExitIncomplete
	case e.dryRun == dryRunClient:
		return ExitDone
	case e.failed > 0:
		return ExitFound
	case run && (e.timedOut || e.unrecorded || e.left > 0 || e.blocked > 0 || unproven):
		return ExitFound
	}
	return ExitDone
}
