package planview

import (
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/color"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
)

// Accepted names the gaps that a person accepted, and object by object what is done only
// because of that, in no more than that many lines. It returns none where there are none.
func Accepted(p *plan.Plan, most int, palette *color.Palette) []string {
	if len(p.AcceptedGaps) == 0 {
		return nil
	}
	var lines []string
	for i := range p.Steps {
		if s := &p.Steps[i]; len(s.AcceptedGaps) > 0 {
			lines = append(lines, fmt.Sprintf("  %s: %s", palette.Changes(located(s.Object.Identity)), unseen(s)))
		}
	}
	head := "Accepted although it could not be read: " + text(strings.Join(p.AcceptedGaps, ", ")) + "."
	if len(lines) == 0 {
		return []string{head + " No action depends on it."}
	}
	if more := len(lines) - most; more > 0 {
		lines = append(lines[:most], fmt.Sprintf("  and %d more", more))
	}
	return append([]string{head + " These actions depend on it:"}, lines...)
}

// unseen says what is done with an object, and what of it was not read.
func unseen(s *plan.Step) string {
	in := escape.Short(strings.Join(s.AcceptedGaps, ", "), reasonWidth)
	switch {
	case s.Action == collector.ActionRemoveFinalizer:
		return fmt.Sprintf("removes finalizer %s although its dependents in %s were not read", text(s.Finalizer), in)
	case s.Action == collector.ActionDelete && simulate.DeletesContents(s.Object.Identity):
		return fmt.Sprintf("deletes it although its contents in %s were not read; they are deleted with it and not backed up", in)
	case s.Action == collector.ActionDelete:
		return fmt.Sprintf("deletes it; the decision depends on %s, which was not read", in)
	}
	return fmt.Sprintf("changes its owner references although its dependents in %s were not read", in)
}
