package auditreport

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// SummaryLine returns in one line, without its line break, how much was found in how many
// objects, which clusters did not answer, and whether the scan was complete. types is the
// number of types to read; zero if unknown.
func SummaryLine(r *audit.Report, types int) string {
	none := "No problems found"
	if slices.ContainsFunc(r.Clusters, func(c audit.Counts) bool { return !c.Answered }) {
		none = "Not all clusters were checked. No problems" // of those that were
	}
	return fmt.Sprintf("%s in %s with %s%s. %s", counts(r.Summary.SeverityCounts, none),
		wording.Count(r.Summary.Objects, "object"), wording.Count(r.Summary.References, "owner reference"), clusters(r.Clusters), scan(r, types))
}

// counts returns how many findings there are of each severity, or none if there are no findings.
func counts(of audit.SeverityCounts, none string) string {
	var found []string
	add := func(n int, noun string) {
		if n > 0 {
			found = append(found, wording.Count(n, noun))
		}
	}
	add(of.Errors, "error")
	add(of.Warnings, "warning")
	add(of.Infos, "info")
	return cmp.Or(strings.Join(found, ", "), none)
}

// scan returns whether the scan was complete, and how many types it read, unless gaps hide
// that: those of a whole API group, of a file, or of single owners only.
func scan(r *audit.Report, types int) string {
	unread := map[[2]string]bool{}
	for _, g := range r.Gaps {
		switch {
		case g.Resource == snapshot.All:
			return wording.Scan(r.Complete)
		case g.Namespace != snapshot.All && g.Name == "":
			unread[[2]string{g.Group, g.Resource}] = true
		}
	}
	if types < len(unread) || types == 0 || r.Complete != (len(unread) == 0) {
		return wording.Scan(r.Complete)
	}
	return fmt.Sprintf("%s: %s of %s.", strings.TrimSuffix(wording.Scan(r.Complete), "."),
		wording.Thousands(types-len(unread)), wording.Count(types, "resource type"))
}

// maxSilent is how many clusters without an answer are named.
const maxSilent = 5

// clusters returns how many clusters the report covers, and which did not answer; an empty
// string if there is only one.
func clusters(all []audit.Counts) string {
	if all == nil {
		return ""
	}
	var silent []string
	for _, c := range all {
		if !c.Answered {
			silent = append(silent, escape.Word(c.Name))
		}
	}
	in := " in " + wording.Count(len(all)-len(silent), "cluster")
	if len(silent) > 0 {
		in += "; no answer from " + wording.List(silent, maxSilent)
	}
	return in
}

// Commands are the command lines that hints name. There is no hint for an empty one.
type Commands struct {
	Repair  string // repairs references
	Preview string // previews a collection
	// Explain returns the one that explains an object of a cluster; nil if there is none.
	Explain func(o object.Identity, cluster string) string
}

// Hints returns what to do next, a line without its line break for each: repair if a finding
// can be repaired, preview if the garbage collector will act. It returns nil if there is
// nothing to do.
func Hints(r *audit.Report, c Commands) []string {
	var repair, preview bool
	for i := range r.Findings {
		f := &r.Findings[i]
		cause, repaired := audit.RepairFor(f.Rule)
		repair = repair || repaired && cause != collector.CauseNone && f.Fix != audit.NoFix // a solid reference is only repaired on request
		preview = preview || f.Consequence == collector.ConsequenceDelete || f.Consequence == collector.ConsequenceUnlink
	}
	var hints []string
	add := func(applies bool, words, command string) {
		if applies && command != "" {
			hints = append(hints, words+": "+command)
		}
	}
	add(repair, "Fix the references", c.Repair)
	add(preview, "Preview what a garbage collector deletes now", c.Preview)
	if len(r.Findings) > 0 && c.Explain != nil {
		first := audit.Groups(r.Findings)[0].Findings[0]
		add(true, "Explain one object", c.Explain(first.Object, first.Cluster))
	}
	return hints
}
