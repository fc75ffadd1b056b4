// Package doctorview writes a diagnosis of the cluster's garbage collector for a person. Text from
// the cluster is escaped and shortened here.
package doctorview

import (
	"io"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/doctor"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/color"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/table"
)

// Write writes a row per check, the conclusion, and what to do about each fault. command joins the
// words of a command line for the user's shell.
func Write(w io.Writer, d *doctor.Diagnosis, p *color.Palette, command func(words ...string) string) error {
	var rows [][]string
	for _, c := range d.Checks {
		rows = append(rows, []string{c.Title, paint(p, c.Status), escape.Line(c.Detail.Message())})
	}
	if err := table.Write(w, []string{"CHECK", "STATUS", "DETAIL"}, rows, "DETAIL", "CHECK"); err != nil {
		return err
	}
	var out strings.Builder
	conclusion := escape.Sentence(d.Conclusion.Message())
	out.WriteString("\n" + strings.ToUpper(conclusion[:1]) + conclusion[1:] + ".\n")
	label := "Fix: "
	if d.State == doctor.Unverified {
		label = "Next: "
	}
	for _, s := range d.Suggestions {
		line := label + escape.Sentence(s.Sentence)
		if len(s.Command) > 0 {
			line += ": " + escape.Line(command(s.Command...))
		}
		out.WriteString(line + "\n")
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// paint returns a status as a table shows it: what needs attention is in upper case.
func paint(p *color.Palette, s doctor.CheckResult) string {
	switch s {
	case doctor.Fail:
		return p.Deleted(strings.ToUpper(string(s)))
	case doctor.Warn, doctor.Unknown:
		return p.Changed(string(s))
	case doctor.OK:
	}
	return p.Kept(string(s))
}
