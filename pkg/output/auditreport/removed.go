package auditreport

import (
	"fmt"
	"io"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/table"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
)

// outcomeWords are the words for the outcomes in the table.
var outcomeWords = map[audit.RemovalOutcome]string{
	audit.ObjectDeleted: "object deleted",
	audit.Resolved:      "resolved",
	audit.Superseded:    "another rule reports it",
	audit.NoLongerRead:  "no longer read: nothing refers to the object",
}

// RemovedTable writes the latest findings that were removed, in the order given, after how many
// were in all since a time. It writes nothing if there are none.
func RemovedTable(w io.Writer, latest []audit.FindingChange, all int, since time.Time) error {
	if len(latest) == 0 {
		return nil
	}
	if _, err := fmt.Fprintf(w, "%s gone since %s, the latest first:\n", wording.Count(all, "finding"), clock(since)); err != nil {
		return err
	}
	rows := make([][]string, len(latest))
	for i := range latest {
		cells := cellsOf(&latest[i].Finding)
		rows[i] = []string{clock(latest[i].Time), cells["RULE"], cells["NAMESPACE"], cells["OBJECT"], outcomeWords[latest[i].Outcome]}
	}
	return table.Write(w, []string{"GONE AT", "RULE", "NAMESPACE", "OBJECT", "OUTCOME"}, rows, "OUTCOME", "OBJECT", "NAMESPACE", "RULE")
}

// Unverified returns, in one line without its line break, how many findings are left out because
// their objects cannot be read at the moment. It returns an empty string if there are none.
func Unverified(findings int) string {
	if findings == 0 {
		return ""
	}
	return fmt.Sprintf("Not shown: %s about objects that cannot be read at the moment.", wording.Count(findings, "finding"))
}

// clock returns the time of day in UTC.
func clock(t time.Time) string { return t.UTC().Format("15:04:05Z") }
