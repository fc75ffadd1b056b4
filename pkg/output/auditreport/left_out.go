package auditreport

import (
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
)

// Settled returns in one line, without its line break, what became of the objects that were read
// again after the scan. It returns an empty string if none was.
func Settled(s *audit.Settlement) string {
	if s == nil || s.InProgress+s.Remaining+s.Unread == 0 {
		return ""
	}
	line := fmt.Sprintf("Read again %s after the scan:", s.After.Duration)
	if s.InProgress > 0 {
		line += fmt.Sprintf(" %s gone or changed, so not reported.", are(s.InProgress))
	}
	switch {
	case s.Remaining == 1 && s.InProgress > 0:
		line += " 1 object is unchanged, and may wait for its turn: use a longer --settle."
	case s.Remaining > 0 && s.InProgress > 0:
		line += fmt.Sprintf(" %s unchanged, and may wait for their turn: use a longer --settle.", are(s.Remaining))
	case s.Remaining > 0:
		line += fmt.Sprintf(" %s unchanged, so no garbage collector seems to be running.", are(s.Remaining))
	}
	if s.Unread > 0 {
		line += fmt.Sprintf(" %s could not be read.", wording.Count(s.Unread, "object"))
	}
	return line
}

// are returns how many objects, with the verb.
func are(objects int) string {
	if objects == 1 {
		return "1 object is"
	}
	return wording.Count(objects, "object") + " are"
}

// MayBeInProgress returns, in one line without its line break, the command that leaves out what a garbage
// collector is about to process. It returns an empty string if there are no such objects, or if they
// were read again.
func MayBeInProgress(r *audit.Report, command string) string {
	if len(r.Pending()) == 0 || r.Settled != nil {
		return ""
	}
	return "Leave out what a running garbage collector is about to do: " + command
}

// Known returns, in one line without its line break, how many findings a baseline left out. It
// returns an empty string without a baseline.
func Known(k *audit.SeverityCounts) string {
	if k == nil {
		return ""
	}
	return fmt.Sprintf("In the baseline, so not reported: %s.", counts(*k, "nothing"))
}
