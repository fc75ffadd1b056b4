package cli

import (
	"encoding/json"
	"io"
	"os"
	"slices"
	"strings"
	"time"

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
	templates *structured.PrintFlags
	write     func(*structured.Document) error // nil for a format of this command only
	clock     func() time.Time                 // gives documents their time; nil: they have none
}

// NewOutputFlags returns the output flags of a command that has these formats in addition
// to the structured ones; the first is its default.
func NewOutputFlags(own ...string) *OutputFlags {
	return &OutputFlags{own: own, templates: structured.NewFlags(os.ReadFile)}
}

func (f *OutputFlags) AddFlags(cmd *cobra.Command) {
	formats := slices.Concat(f.own, structured.Formats())
	cmd.Flags().StringVarP(&f.Format, "output", "o", "", "Format (default "+f.own[0]+"): "+strings.Join(append(f.own[1:len(f.own):len(f.own)], structured.Usual...), ", ")+".")
	f.templates.Add(cmd.Flags())
	MarkAdvanced(cmd.Flags(), "template", "allow-missing-template-keys")
	CompleteFlag(cmd, "output", CompleteOne(formats...))
	CompleteFlag(cmd, "template", CompleteFiles())
	CompleteFlag(cmd, "allow-missing-template-keys", CompleteBool)
}

// Complete chooses the default format, unless -o or a template is given. It returns an error
// if the format is neither one of this command nor a structured one, which is written to s.
func (f *OutputFlags) Complete(s *Streams) error {
	if f.Format == "" && f.templates.Template() == "" {
		f.Format = f.own[0]
	}
	if slices.Contains(f.own, f.Format) {
		return nil
	}
	printer, err := f.templates.ToPrinter(f.Format, f.own...)
	if err != nil {
		return f.withHint(&usageError{err: err})
	}
	f.write = func(d *structured.Document) error { return printer.Print(s.Out, d, s.OutTerm) }
	return nil
}

// withHint returns the error of a format, with what the user can use instead.
func (f *OutputFlags) withHint(err error) error {
	word, _, _ := strings.Cut(f.Format, "=")
	near := Nearest(word, slices.Concat(f.own, structured.Formats()))
	switch {
	case strings.HasPrefix(word, "custom-columns"):
		return WithHint(err, "for columns of your own, use -o jsonpath")
	case len(near) > 0 && near[0] != word:
		return Usagef("%s is not an output format%s", Quote(f.Format), DidYouMean(near))
	}
	return err
}

// Structured reports whether the format is a structured one.
func (f *OutputFlags) Structured() bool { return f.write != nil }

// Write writes a value in a structured format; -o name writes the objects.
func (f *OutputFlags) Write(kind string, value any, objects ...object.Identity) error {
	document := structured.NewDocument(kind, value, objects...)
	if f.clock != nil {
		document.Time = f.clock()
	}
	return f.write(document)
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

// WriteLine writes a value to Out as a line of JSON.
func (s *Streams) WriteLine(value any) error {
	return EscapeJSON(func(w io.Writer) error { return json.NewEncoder(w).Encode(value) })(s.Out)
}
