package planview

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/output/color"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// Lost says in lines, without their breaks, what does not come back with what a
// restoration makes, and of which objects. There are none where nothing is lost.
func Lost(p *plan.Plan, palette *color.Palette) []string {
	var lines []string
	for _, lost := range p.Lost {
		line := "  " + palette.Changes(escape.Short(lost.Reason.Message(), reasonWidth))
		if len(lost.Objects) > 0 {
			names := make([]string, len(lost.Objects))
			for n, o := range lost.Objects {
				names[n] = located(o)
			}
			line += ": " + wording.List(names, mostNamed)
		}
		lines = append(lines, line)
	}
	if len(lines) == 0 {
		return nil
	}
	return append([]string{"Not restored:"}, lines...)
}
