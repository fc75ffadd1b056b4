// Package auditreport writes an audit for a person: the table of findings, a summary,
// warnings about gaps, and hints for the next step. Text from the cluster is escaped and
// shortened here.
package auditreport

import (
	"io"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/color"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/table"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wrap"
)

// shrink has the columns that get narrower on a narrow terminal.
var shrink = []string{"PROBLEM", "OBJECT", "RESULT", "NAMESPACE"}

// forRule is how many columns a terminal has that has room for the one of the rule. On another one, the
// rule stands before the problem.
const forRule = 120

func withoutRule(w io.Writer, header []string) []string {
	if _, columns := wrap.Unwrap(w); columns == 0 || columns >= forRule {
		return header
	}
	return slices.DeleteFunc(header, func(title string) bool { return title == "RULE" })
}

// Table writes a row per finding, in the order of audit.MostSevereFirst. The wide format adds the
// object's UID, the verdict and the fix. In a report on several clusters each row begins with
// its cluster. It writes nothing if there are no findings.
func Table(w io.Writer, r *audit.Report, wide bool, p *color.Palette) error {
	if len(r.Findings) == 0 {
		return nil
	}
	header := []string{"SEVERITY", "RULE", "NAMESPACE", "OBJECT", "PROBLEM", "RESULT"}
	if wide {
		header = append(header, "UID", "VERDICT", "FIX")
	} else {
		header = withoutRule(w, header)
	}
	if r.Clusters != nil {
		header = slices.Insert(header, 0, "CLUSTER")
	}
	var rows [][]string
	for _, f := range audit.MostSevereFirst(r.Findings) {
		rows = append(rows, row(header, cellsOf(f), f, p))
	}
	return table.Write(w, header, rows, shrink...)
}

// row returns the cells of these columns, colored as the finding demands.
func row(header []string, cells map[string]string, f *audit.Finding, p *color.Palette) []string {
	cells["SEVERITY"] = p.Severity(f.Severity, cells["SEVERITY"])
	cells["RESULT"] = paint(f.Consequence, cells["RESULT"], p)
	if !slices.Contains(header, "RULE") {
		cells["PROBLEM"] = cells["RULE"] + ": " + cells["PROBLEM"]
	}
	var out []string
	for _, title := range header {
		out = append(out, cells[title])
	}
	return out
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
		"RESULT":    escape.Word(f.Effect.Brief()),
		"UID":       escape.Word(string(f.Object.UID)),
		"VERDICT":   dash(wording.Verdict(f.Verdict)),
		"FIX":       dash(fix(f)),
	}
}

// fix returns the repair of a finding, which a person has to choose where package repair cannot.
func fix(f *audit.Finding) string {
	if _, ok := audit.RepairFor(f.Rule); !ok && f.Fix == audit.Unlink {
		return "your choice"
	}
	return string(f.Fix)
}

// paint dims the results that change nothing.
func paint(c collector.Consequence, result string, p *color.Palette) string {
	if c == collector.ConsequenceNone {
		return p.Dim(result)
	}
	return p.Consequence(c, result)
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return escape.Word(s)
}
