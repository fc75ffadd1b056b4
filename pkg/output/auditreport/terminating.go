package auditreport

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/table"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/terminating"
)

// TerminatingTable writes a row per object that is being deleted, in the order of the report. The
// wide format adds the object's UID and the reason as a sentence. In a report on several clusters
// each row begins with its cluster. It writes nothing if there are no objects.
func TerminatingTable(w io.Writer, r *audit.TerminatingReport, wide, clusters bool) error {
	if len(r.Objects) == 0 {
		return nil
	}
	header := []string{"AGE", "NAMESPACE", "OBJECT", "HELD BY", "CONTROLLER"}
	if wide {
		header = append(header, "UID", "REASON")
	}
	if clusters {
		header = slices.Insert(header, 0, "CLUSTER")
	}
	rows := make([][]string, len(r.Objects))
	for i := range r.Objects {
		t := &r.Objects[i]
		row := []string{duration.HumanDuration(t.Age()), dash(t.Object.Namespace), escape.Line(t.Object.String()), HeldBy(t), escape.Word(strings.Join(t.Controllers(), ", "))}
		if wide {
			row = append(row, escape.Word(string(t.Object.UID)), escape.Word(t.Message()))
		}
		if clusters {
			row = slices.Insert(row, 0, escape.Word(t.Cluster))
		}
		rows[i] = row
	}
	header, rows = table.DropEmpty(header, rows, "CONTROLLER")
	return table.Write(w, header, rows, "HELD BY", "OBJECT", "CONTROLLER", "NAMESPACE")
}

// maxTraces is how many controllers TerminatingTraces names.
const maxTraces = 10

// TerminatingTraces writes a line for each object that says itself what it waits for, and for each controller
// of a finalizer that holds something, if the scan shows no trace of it or shows that it does not act. It also
// writes what uses an object that Kubernetes protects. Lines are in the order of the report.
func TerminatingTraces(w io.Writer, r *audit.TerminatingReport) error {
	var lines []string
	add := func(line string) {
		if line = escape.Sentence(line + "."); !slices.Contains(lines, line) && len(lines) < maxTraces {
			lines = append(lines, line)
		}
	}
	for i := range r.Objects {
		for _, why := range []string{r.Objects[i].Says, r.Objects[i].Because} {
			if why != "" {
				add(why)
			}
		}
		for _, f := range r.Objects[i].Finalizers {
			if f.Traces != nil && !f.Traces.Any() {
				add(f.Traces.Sentence())
			}
		}
	}
	for _, line := range lines {
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}

// holderWords are the words for holders in the table; a finalizer has its own name.
var holderWords = map[terminating.Holder]string{
	terminating.HolderFinalizer:   "",
	terminating.HolderGracePeriod: "grace period",
	terminating.HolderKubelet:     "kubelet, past the grace period",
	terminating.HolderDependents:  "dependents",
	terminating.HolderCollector:   "garbage collector, not processed yet",
	terminating.HolderContents:    "contents",
	terminating.HolderDiscovery:   "API discovery",
	terminating.HolderNothing:     "nothing",
	terminating.HolderUnknown:     "unknown",
}

// HeldBy returns what holds an object: "example.com/hold", "Pod/web (dependent, held by example.com/hold)".
func HeldBy(t *terminating.Hold) string {
	var parts, finalizers []string
	if word := cmp.Or(escape.Line(t.Kubelet), holderWords[t.Holder]); word != "" {
		parts = append(parts, word)
	}
	if t.RootCause != nil {
		parts = append(parts, escape.Line(t.RootCause.String()))
	}
	if t.Contents != nil && t.Holder == terminating.HolderContents {
		parts = nil // they are named below
	}
	for _, f := range t.Finalizers {
		finalizers = append(finalizers, escape.Word(f.Name))
	}
	held := strings.Join(finalizers, ", ")
	if t.Holder == terminating.HolderDependents && t.RootCause != nil {
		if held != "" {
			held = ", held by " + held
		}
		return escape.Line(t.RootCause.String()) + " (dependent" + held + ")"
	}
	if t.Contents != nil {
		held = "contents such as " + escape.Line(t.Contents.String()) + ", held by " + held
		return strings.TrimPrefix(strings.Join(parts, ": ")+"; "+held, "; ")
	}
	if held != "" {
		parts = append(parts, held)
	}
	return strings.Join(parts, ": ")
}

// TerminatingSummary returns in one line, without its line break, how many objects are being
// deleted, since when, and whether the scan was complete. types is as in SummaryLine.
func TerminatingSummary(t *audit.TerminatingReport, r *audit.Report, types int) string {
	switch len(t.Objects) {
	case 0:
		return fmt.Sprintf("Nothing is being deleted%s. %s", clusters(r.Clusters), scan(r, types))
	case 1:
		return fmt.Sprintf("1 object is being deleted%s. %s", clusters(r.Clusters), scan(r, types))
	}
	return fmt.Sprintf("%s are being deleted%s, the oldest for %s. %s",
		wording.Count(len(t.Objects), "object"), clusters(r.Clusters), duration.HumanDuration(t.Objects[0].Age()), scan(r, types))
}
