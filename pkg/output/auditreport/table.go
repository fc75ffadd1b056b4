// Package auditreport writes an audit for a person: the table of findings, a summary,
// warnings about gaps, and hints for the next step. Text from the cluster is escaped and
// shortened here.
package auditreport

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/color"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/table"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
)

// maxWidth is the widest table that has a column for the problem. In a wider one, the
// problem is on a line of its own below its row.
const maxWidth = 120

// Table writes a row per finding, in the order of MostSevereFirst, and the number of
// findings by rule. The wide format adds the object's UID, the verdict and the fix, and
// always has one line per finding. In a report on several clusters each row begins with
// its cluster. With a tracker, a row has the time since when its finding is there, unless the first
// scan had it. Table writes nothing if there are no findings.
func Table(w io.Writer, r *audit.Report, tracker *audit.Tracker, wide bool, p *color.Palette) error {
	if len(r.Findings) == 0 {
		return nil
	}
	header := []string{"SEVERITY", "RULE", "NAMESPACE", "OBJECT", "PROBLEM", "GC RESULT"}
	if tracker != nil {
		header = slices.Insert(header, 0, "SINCE")
	}
	if wide {
		header = append(header, "UID", "VERDICT", "FIX")
	}
	if r.Clusters != nil {
		header = slices.Insert(header, 0, "CLUSTER")
	}
	findings := MostSevereFirst(r.Findings)
	cells := make([]map[string]string, len(findings)) // by title
	for i, f := range findings {
		cells[i] = cellsOf(f)
		if tracker != nil {
			cells[i]["SINCE"] = sinceCell(tracker, f)
		}
	}
	problemBelow := !wide && width(header, cells) > maxWidth
	if problemBelow {
		header = slices.DeleteFunc(header, func(title string) bool { return title == "PROBLEM" })
	}
	rows := make([][]string, len(findings))
	for i, f := range findings {
		cells[i]["SEVERITY"] = p.Severity(f.Severity, cells[i]["SEVERITY"])
		cells[i]["GC RESULT"] = paint(f.Consequence, cells[i]["GC RESULT"], p)
		for _, title := range header {
			rows[i] = append(rows[i], cells[i][title])
		}
	}
	var out bytes.Buffer
	if err := table.Write(&out, header, rows); err != nil {
		return err
	}
	if problemBelow {
		out = interleave(out.Bytes(), cells)
	}
	out.WriteString(byRule(findings))
	_, err := w.Write(out.Bytes())
	return err
}

// sinceCell returns since when a finding is there, or a dash if the first scan had it.
func sinceCell(tracker *audit.Tracker, f *audit.Finding) string {
	if since, ok := tracker.Since(f); ok {
		return clock(since)
	}
	return "-"
}

func cellsOf(f *audit.Finding) map[string]string {
	namespace := "-" // cluster-scoped
	if f.Object.Namespace != "" {
		namespace = escape.Word(f.Object.Namespace)
	}
	return map[string]string{
		"CLUSTER":   escape.Word(f.Cluster),
		"SEVERITY":  escape.Word(string(f.Severity)),
		"RULE":      escape.Word(f.Rule),
		"NAMESPACE": namespace,
		"OBJECT":    escape.Line(f.Object.String()),
		"PROBLEM":   escape.Word(f.Reason.Brief()),
		"GC RESULT": escape.Word(f.Effect.Brief()),
		"UID":       escape.Word(string(f.Object.UID)),
		"VERDICT":   dash(string(f.Verdict)),
		"FIX":       dash(string(f.Fix)),
	}
}

// paint dims the results that change nothing.
func paint(c collector.Consequence, result string, p *color.Palette) string {
	if c == collector.ConsequenceNone {
		return p.Dim(result)
	}
	return p.Consequence(c, result)
}

// width returns how many columns a table with these cells has.
func width(header []string, rows []map[string]string) int {
	const gap = 2
	total := -gap
	for _, title := range header {
		widest := len(title)
		for _, cells := range rows {
			widest = max(widest, utf8.RuneCountInString(cells[title]))
		}
		total += widest + gap
	}
	return total
}

// interleave returns a table with the problem of each row on a line below it.
func interleave(table []byte, cells []map[string]string) bytes.Buffer {
	var out bytes.Buffer
	i := -1 // the header
	for line := range bytes.Lines(table) {
		out.Write(line)
		if i >= 0 {
			fmt.Fprintf(&out, "%10s%s\n", "", cells[i]["PROBLEM"])
		}
		i++
	}
	return out
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return escape.Word(s)
}

// byRule counts the findings of each rule, the most frequent first.
func byRule(findings []*audit.Finding) string {
	counts := map[string]int{}
	var rules []string
	for _, f := range findings {
		if counts[f.Rule]++; counts[f.Rule] == 1 {
			rules = append(rules, f.Rule)
		}
	}
	slices.SortStableFunc(rules, func(a, b string) int { return counts[b] - counts[a] })
	line, lines := "By rule: ", ""
	for i, rule := range rules {
		part := wording.Thousands(counts[rule]) + " " + escape.Word(rule)
		if i > 0 {
			line += ","
			if len(line)+len(" ")+len(part) >= maxWidth {
				lines, line = lines+line+"\n", strings.Repeat(" ", len("By rule:"))
			}
			line += " "
		}
		line += part
	}
	return lines + line + "\n"
}

// consequences is the order of findings of one severity: what will be deleted comes first.
var consequences = []collector.Consequence{collector.ConsequenceDelete, collector.ConsequenceStuck, collector.ConsequenceUnlink, collector.ConsequenceUnknown, collector.ConsequenceNone}

// MostSevereFirst returns the findings by severity, then by consequence, else in the given
// order.
func MostSevereFirst(findings []audit.Finding) []*audit.Finding {
	out := make([]*audit.Finding, len(findings))
	for i := range findings {
		out[i] = &findings[i]
	}
	slices.SortStableFunc(out, func(a, b *audit.Finding) int {
		switch {
		case a.Severity == b.Severity:
			return slices.Index(consequences, a.Consequence) - slices.Index(consequences, b.Consequence)
		case a.Severity.AtLeast(b.Severity):
			return -1
		}
		return 1
	})
	return out
}
