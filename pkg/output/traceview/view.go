// Package traceview writes for a person who deleted what: a table of cascades, or one cascade as a tree
// with times, in UTC. Text of logs is escaped and shortened here.
package traceview

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/output/color"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/table"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/trace"
)

// ReportView says how reports are written.
type ReportView struct {
	Palette *color.Palette
	Wide    bool // show everything, and UIDs
	// Suggest returns a command line for the user's shell, escaped, from words without the name of the
	// program.
	Suggest func(words ...string) string
	Files   []string // the flags that name the files of the report
	Save    []string // the words of a command that saves what a log has of the cascade; nil for none
}

// Write writes a report: the cascade of its target, or else all of them.
func (v ReportView) Write(w io.Writer, r *trace.DeletionReport) error {
	s := &reportWriter{ReportView: v, report: r, out: w}
	if r.Target != nil {
		s.target()
	} else {
		s.cascades()
	}
	return s.err
}

// None writes that no deletion of an object is known, and what else is. guess ends the sentence.
func (v ReportView) None(w io.Writer, r *trace.DeletionReport, what, guess string) error {
	s := &reportWriter{ReportView: v, report: r, out: w}
	s.line("No deletion of %s is in what was read%s", what, cmp.Or(guess, "."))
	for _, n := range r.Notes {
		s.line("%s", sentence(n))
	}
	s.coverage()
	return s.err
}

// reportWriter is where a report is written. After an error it takes no more.
type reportWriter struct {
	ReportView

	report *trace.DeletionReport
	out    io.Writer
	err    error
}

func (s *reportWriter) line(format string, a ...any) {
	if s.err == nil {
		_, s.err = fmt.Fprintf(s.out, format+"\n", a...)
	}
}

func (s *reportWriter) table(header []string, rows [][]string, shrink ...string) {
	if s.err == nil {
		s.err = table.Write(s.out, header, rows, shrink...)
	}
}

// command writes what a command is for, and the command.
func (s *reportWriter) command(purpose string, words ...string) {
	s.line("%s: %s", purpose, s.Suggest(words...))
}

// trace writes a command that shows a deletion, and what followed it.
func (s *reportWriter) trace(purpose string, d *trace.Deletion) {
	words := []string{"trace", cmp.Or(strings.ToLower(d.Object.Kind), d.Resource) + "/" + d.Object.Name}
	if d.Object.Namespace != "" {
		words = append(words, "-n", d.Object.Namespace)
	}
	s.command(purpose, slices.Concat(words, s.Files)...)
}

// shown returns how many of so many things are shown.
func (s *reportWriter) shown(of, limit int) int {
	if s.Wide {
		return of
	}
	return min(of, limit)
}

// brief returns a reason for a cell.
func brief(n *reason.Reason) string { return escape.Sentence(n.Brief()) }

// sentence returns a reason as a sentence.
func sentence(n *reason.Reason) string {
	text := escape.Sentence(n.Message())
	return strings.ToUpper(text[:1]) + text[1:] + "."
}
