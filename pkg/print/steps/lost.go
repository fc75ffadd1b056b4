package steps

import (
	"fmt"
	"io"

	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/print/color"
	"github.com/kubectl-gc/kubectl-gc/pkg/print/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/print/phrase"
)

// Lost writes what does not come back with what a restoration makes, a line for
// each thing with the objects that it is about. Nothing is written where there is
// nothing.
func Lost(w io.Writer, p *plan.Plan, palette *color.Palette) error {
	for i, lost := range p.Lost {
		if i == 0 {
			if _, err := fmt.Fprintln(w, "What does not come back:"); err != nil {
				return err
			}
		}
		line := palette.Changes(escape.Short(lost.What, reasonWidth))
		if len(lost.Objects) > 0 {
			names := make([]string, len(lost.Objects))
			for n, o := range lost.Objects {
				names[n] = located(o)
			}
			line += ": " + phrase.List(names, mostNamed)
		}
		if _, err := fmt.Fprintln(w, "  "+line); err != nil {
			return err
		}
	}
	return nil
}
