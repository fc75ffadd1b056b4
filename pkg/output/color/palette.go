package color

import (
	"github.com/fatih/color"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
)

// Palette colours text by its meaning. It is immutable and safe for concurrent use.
type Palette struct {
	red, yellow, green, faint, bold *color.Color
}

// New returns the palette of an output stream. isTerminal reports whether it is a terminal,
// noColor whether the environment asks for no colour; both matter only with Auto.
func New(mode Mode, isTerminal, noColor bool) *Palette {
	on := mode == Always || mode == Auto && isTerminal && !noColor
	// Without one of these calls, the library's global switch decides.
	pen := func(a color.Attribute) *color.Color {
		c := color.New(a)
		if on {
			c.EnableColor()
		} else {
			c.DisableColor()
		}
		return c
	}
	return &Palette{
		red: pen(color.FgRed), yellow: pen(color.FgYellow), green: pen(color.FgGreen),
		faint: pen(color.Faint), bold: pen(color.Bold),
	}
}

// Deleted colours what is deleted.
func (p *Palette) Deleted(s string) string { return paint(p.red, s) }

// Changed colours what changes or waits.
func (p *Palette) Changed(s string) string { return paint(p.yellow, s) }

// Kept colours what is kept.
func (p *Palette) Kept(s string) string { return paint(p.green, s) }

// Dim is for context.
func (p *Palette) Dim(s string) string { return paint(p.faint, s) }

// Bold is for what the user asked about.
func (p *Palette) Bold(s string) string { return paint(p.bold, s) }

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

// paint leaves empty text empty, so that an empty cell stays empty.
func paint(c *color.Color, s string) string {
	if s == "" {
		return ""
	}
	return c.Sprint(s)
}
