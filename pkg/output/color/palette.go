package color

import (
	"github.com/fatih/color"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
)

// Palette colours text by its meaning. It is immutable and safe for concurrent use.
type Palette struct {
	red, yellow, green, faint, bold *color.Color
}

// New is the palette for one stream. isTerminal says whether the stream is one,
// noColor whether the user's environment asks for no colour; both matter in
// Auto only.
func New(mode Mode, isTerminal, noColor bool) *Palette {
	on := mode == Always || mode == Auto && isTerminal && !noColor
	// An instance that is told overrules the library's global switch.
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

// Goes is for what will be or was deleted.
func (p *Palette) Goes(s string) string { return paint(p.red, s) }

// Changes is for what will change, or waits.
func (p *Palette) Changes(s string) string { return paint(p.yellow, s) }

// Stays is for what is kept.
func (p *Palette) Stays(s string) string { return paint(p.green, s) }

// Dim is for context.
func (p *Palette) Dim(s string) string { return paint(p.faint, s) }

// Strong is for what was asked about.
func (p *Palette) Strong(s string) string { return paint(p.bold, s) }

// Severity colours s by how grave a finding is.
func (p *Palette) Severity(grade audit.Severity, s string) string {
	switch grade {
	case audit.Error:
		return p.Goes(s)
	case audit.Warning:
		return p.Changes(s)
	case audit.Info:
		return p.Dim(s)
	}
	return s
}

// paint leaves empty text empty, so that an empty cell stays one.
func paint(c *color.Color, s string) string {
	if s == "" {
		return ""
	}
	return c.Sprint(s)
}
