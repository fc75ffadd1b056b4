package planview

import (
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/color"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
)

// CriticalDeletions names the namespaces, CustomResourceDefinitions, volumes, claims and
// objects in kube-system that the plan deletes, with their contents, in the order of the
// plan.
func CriticalDeletions(p *plan.Plan) []string {
	var out []string
	l := newLayout(p)
	for i := range l.lines {
		if o := l.main(i).Object.Identity; l.deletes(i) && critical(o) {
			text := arguments(o)
			if what, how := l.contentsOf(i); what != "" {
				text += ": " + what + " " + how
			}
			out = append(out, text)
		}
		for _, o := range l.lines[i].contents {
			if critical(o) {
				out = append(out, arguments(o))
			}
		}
	}
	return out
}

func critical(o object.Identity) bool {
	return o.Namespace == "kube-system" || o.IsNamespace() || o.IsCRD() || isStorage(o)
}

// AcceptedGaps names the gaps that the user accepted, and per object what is done only
// because of that, in at most limit lines. It returns nil if there are none.
func AcceptedGaps(p *plan.Plan, limit int, palette *color.Palette) []string {
	if len(p.AcceptedGaps) == 0 {
		return nil
	}
	var lines []string
	for i := range p.Steps {
		if s := &p.Steps[i]; len(s.AcceptedGaps) > 0 {
			lines = append(lines, fmt.Sprintf("  %s: %s", palette.Changed(arguments(s.Object.Identity)), despiteGap(s)))
		}
	}
	head := "Accepted although it could not be read: " + text(strings.Join(p.AcceptedGaps, ", ")) + "."
	if len(lines) == 0 {
		return []string{head + " No action depends on it."}
	}
	if more := len(lines) - limit; more > 0 {
		lines = append(lines[:limit], fmt.Sprintf("  and %d more", more))
	}
	return append([]string{head + " These actions depend on it:"}, lines...)
}

// despiteGap returns what a step does, and what was not read before.
func despiteGap(s *plan.Step) string {
	in := escape.Short(strings.Join(s.AcceptedGaps, ", "), reasonWidth)
	switch {
	case s.Action == plan.ActionRemoveFinalizer:
		return fmt.Sprintf("removes finalizer %s although its dependents in %s were not read", text(s.Finalizer), in)
	case s.Action == plan.ActionDelete && simulate.DeletesContents(s.Object.Identity):
		return fmt.Sprintf("deletes it although its contents in %s were not read; they are deleted with it and not backed up", in)
	case s.Action == plan.ActionDelete:
		return fmt.Sprintf("deletes it; the decision depends on %s, which was not read", in)
	}
	return fmt.Sprintf("changes its owner references although its dependents in %s were not read", in)
}

// NotRestored returns lines that say what a restoration does not bring back, and of which
// objects. It returns nil if nothing is lost.
func NotRestored(p *plan.Plan, palette *color.Palette) []string {
	if len(p.Lost) == 0 {
		return nil
	}
	lines := []string{"Not restored:"}
	for _, lost := range p.Lost {
		line := "  " + palette.Changed(escape.Short(lost.Reason.Message(), reasonWidth))
		if len(lost.Objects) > 0 {
			names := make([]string, len(lost.Objects))
			for n, o := range lost.Objects {
				names[n] = arguments(o)
			}
			line += ": " + wording.List(names, maxNames)
		}
		lines = append(lines, line)
	}
	return lines
}
