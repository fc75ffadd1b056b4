package cli

import "fmt"

// The exit codes are a public contract (docs/exit-codes.md).
const (
	ExitDone        = 0
	ExitFound       = 1   // findings at or above --fail-on; a step failed, something is left, blocked or not verified
	ExitUsage       = 2   // the command line is wrong, or no answer is possible
	ExitIncomplete  = 3   // a scan was incomplete, and --strict
	ExitUnconfirmed = 4   // declined, or there was nobody to ask
	ExitInterrupted = 130 // as a shell reports SIGINT
)

// ExitError ends a command that has printed everything with this exit code.
type ExitError int

func (e ExitError) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// OrNil returns the code as an error, or nil for ExitDone.
func (e ExitError) OrNil() error {
	if e == ExitDone {
		return nil
	}
	return e
}

// verification is what the scan after a run proves. The values are part of the JSON
// contract.
type verification string

const (
	verifiedComplete   verification = "complete"   // the scan read everything: what it did not find does not exist
	verifiedIncomplete verification = "incomplete" // the scan had gaps
	verifiedFailed     verification = "failed"     // the scan failed
	verifiedNone       verification = "none"       // there was no scan
)

func verifiedBy(complete bool) verification {
	if complete {
		return verifiedComplete
	}
	return verifiedIncomplete
}

// exitFacts are everything about a run that decides its exit code.
type exitFacts struct {
	dryRun       string // the value of --dry-run
	strict       bool
	complete     bool // the scan of the plan was complete
	interrupted  bool // by a signal
	timedOut     bool // by --timeout
	failed       int  // steps that failed or were refused
	refused      int  // objects that stay because admission refuses their deletion
	left         int  // steps of the run that remain, by the scan after the run
	blocked      int  // objects that are blocked, by the scan after the run
	verification verification
	unrecorded   bool // the backup or its journal is incomplete
}

// code returns the exit code of collect, delete, repair and restore (docs/exit-codes.md).
func (e exitFacts) code() ExitError {
	unverified := e.verification == verifiedIncomplete || e.verification == verifiedFailed
	run := e.dryRun == DryRunNone
	switch {
	case e.interrupted:
		return ExitInterrupted
	case e.strict && (!e.complete || run && unverified):
		return ExitIncomplete
	case e.dryRun == dryRunClient:
		return ExitDone
	case e.failed > 0, e.refused > 0:
		return ExitFound
	case run && (e.timedOut || e.unrecorded || e.left > 0 || e.blocked > 0 || unverified):
		return ExitFound
	}
	return ExitDone
}
