package cli

import (
	"encoding/json"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/color"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/structured"
)

// OutputFlags are -o and the flags of templates.
type OutputFlags struct {
	Format    string   // the value of -o, or after Complete its default
	own       []string // formats of this command only, its default first
	templates *structured.Flags
}

// NewOutputFlags returns the output flags of a command that has these formats in addition
// to the structured ones; the first is its default.
func NewOutputFlags(own ...string) *OutputFlags {
	return &OutputFlags{own: own, templates: structured.NewFlags(os.ReadFile)}
}

func (f *OutputFlags) AddFlags(cmd *cobra.Command) {
	formats := slices.Concat(f.own, structured.Formats())
	cmd.Flags().StringVarP(&f.Format, "output", "o", "", "the format: "+strings.Join(formats, ", ")+" (default "+f.own[0]+")")
	f.templates.Add(cmd.Flags())
	CompleteFlag(cmd, "output", CompleteOne(formats...))
	CompleteFlag(cmd, "template", CompleteFiles())
}

// Complete chooses the default format, unless -o or a template is given.
func (f *OutputFlags) Complete() {
	if f.Format == "" && f.templates.Template() == "" {
		f.Format = f.own[0]
	}
}

// DocumentWriter writes a value in a structured format; -o name writes the objects.
type DocumentWriter func(kind string, value any, objects ...object.Identity) error

// DocumentWriter returns what writes to standard output in the chosen format, and an error
// if that is none of the structured ones.
func (f *OutputFlags) DocumentWriter(s Streams) (DocumentWriter, error) {
	printer, err := f.templates.ToPrinter(f.Format, f.own...)
	if err != nil {
		return nil, &UsageError{Err: err}
	}
	return func(kind string, value any, objects ...object.Identity) error {
		return printer.Print(s.Out, structured.NewDocument(kind, value, objects...), s.OutTerm)
	}, nil
}

// Palette decides on colours: by --color, then NO_COLOR, then whether standard output is a
// terminal.
func (s *ScanOptions) Palette() *color.Palette {
	return color.New(s.color, s.OutTerm, s.Getenv("NO_COLOR") != "")
}

// EscapeJSON returns save, which writes JSON, with every character that acts on a terminal
// or hides something replaced by an escape that decodes to the same value. All JSON goes
// through here or through package structured, even into files: they may be shown on a
// terminal later.
func EscapeJSON(save func(io.Writer) error) func(io.Writer) error {
	return func(w io.Writer) error {
		out := escape.JSONWriter(w)
		if err := save(out); err != nil {
			return err
		}
		return out.Close()
	}
}

// writeLine writes a value as a line of JSON.
func (s *ScanOptions) writeLine(value any) error {
	return EscapeJSON(func(w io.Writer) error { return json.NewEncoder(w).Encode(value) })(s.Out)
}
