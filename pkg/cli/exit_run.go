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

// ending is everything about a run that decides its exit code.
type ending struct {
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
func (e ending) code() status {
	unproven := e.verification == verifiedIncomplete || e.verification == verifiedFailed
	run := e.dryRun == dryRunNone
	switch {
	case e.interrupted:
		return exitInterrupted
	case e.strict && (!e.complete || run && unproven):
		return exitIncomplete
	case e.dryRun == dryRunClient:
		return exitDone
	case e.failed > 0:
		return exitFound
	case run && (e.timedOut || e.unrecorded || e.left > 0 || e.blocked > 0 || unproven):
		return exitFound
	}
	return exitDone
}
