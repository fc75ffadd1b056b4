package planview

import (
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/color"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// LogLine returns one line, without its line break, about a step that ended at this time: what was
// done and why, or why it was not done.
func LogLine(at time.Time, s *plan.Step, e event.Event, palette *color.Palette) string {
	line := wording.Time(at) + "  "
	object := arguments(s.Object.Identity)
	switch e.Status {
	case event.Done:
		return line + paint(s.Action, past(s.Action), palette) + " " + object + ": " + escape.Line(s.Reason.Message())
	case event.Failed:
		line += palette.Deleted("failed") + " to "
	case event.Skipped:
		line += palette.Changed("skipped") + " "
	}
	return line + word(s.Action) + " " + object + ": " + escape.Line(e.Reason.Message())
}
