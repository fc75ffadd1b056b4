// Package color decides about colour. Colour underlines what the words already say: red is
// deleted, yellow changes or waits, green stays, dim is context. Without colour, text is
// returned unchanged. Text must be escaped before it is coloured.
package color

import (
	"fmt"

	"github.com/fatih/color"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
)

// Choice is the value of the flag --color.
type Choice string

// The modes.
const (
	Auto   Choice = "auto" // on a terminal, unless NO_COLOR is set
	Always Choice = "always"
	Never  Choice = "never"
)

// Set changes m to the mode that s names.
func (m *Choice) Set(s string) error {
	switch named := Choice(s); named {
	case Auto, Always, Never:
		*m = named
		return nil
	}
	return fmt.Errorf("%q is none of %s, %s, %s", s, Auto, Always, Never)
}

func (m *Choice) String() string { return string(*m) }

// Type returns the name of the value in help texts.
func (m *Choice) Type() string { return "when" }

// Palette colours text by its meaning. Empty text stays empty, as empty cells must. A
// palette is safe for concurrent use.
type Palette struct {
	Deleted func(string) string // for what is deleted
	Changed func(string) string // for what changes or waits
	Kept    func(string) string // for what is kept
	Dim     func(string) string // for context
	Bold    func(string) string // for what the user asked about
}

// New returns the palette of an output stream. isTerminal reports whether it is a terminal,
// noColor whether the environment asks for no colour; both matter only with Auto.
func New(mode Choice, isTerminal, noColor bool) *Palette {
	on := mode == Always || mode == Auto && isTerminal && !noColor
	pen := func(a color.Attribute) func(string) string {
		c := color.New(a)
		c.EnableColor() // else the library's global switch decides
		return func(s string) string {
			if !on || s == "" {
				return s
			}
			return c.Sprint(s)
		}
	}
	return &Palette{
		Deleted: pen(color.FgRed), Changed: pen(color.FgYellow), Kept: pen(color.FgGreen),
		Dim: pen(color.Faint), Bold: pen(color.Bold),
	}
}

// Severity colours s according to the severity of a finding.
func (p *Palette) Severity(grade audit.Severity, s string) string {
	switch grade {
	case audit.Error:
		return p.Deleted(s)
	case audit.Warning:
		return p.Changed(s)
	case audit.Info:
		return p.Dim(s)
	}
	return s
}

// Consequence colours s according to what the garbage collector does with an object. It
// leaves s alone if that is nothing.
func (p *Palette) Consequence(c collector.Consequence, s string) string {
	switch c {
	case collector.ConsequenceDelete:
		return p.Deleted(s)
	case collector.ConsequenceUnlink, collector.ConsequenceStuck, collector.ConsequenceUnknown:
		return p.Changed(s)
	case collector.ConsequenceNone:
	}
	return s
}
