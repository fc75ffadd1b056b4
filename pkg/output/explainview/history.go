package explainview

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/explain"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
)

// history writes which references and Events mention the object.
func (w *answerWriter) history() {
	for i, n := range w.answer.ReferencedBy {
		if i == maxNames {
			w.line("referenced by", fmt.Sprintf("… and %s", wording.Count(len(w.answer.ReferencedBy)-i, "more reference")))
			break
		}
		line := w.located(n.Object)
		if w.view.Wide {
			line += ", as " + text(n.Reference.APIVersion) + ", UID " + text(n.Reference.UID)
		}
		w.line("referenced by", line)
	}
	for _, e := range w.answer.Events {
		w.line("event", w.event(e))
	}
}

func (w *answerWriter) event(e explain.Event) string {
	var parts []string
	if !e.Last.IsZero() {
		parts = append(parts, age(w.view.Taken.Sub(e.Last))+" ago")
	}
	parts = append(parts, text(e.Type), text(e.Reason))
	if e.Source != "" {
		parts = append(parts, "from "+text(e.Source))
	}
	if e.Count > 1 {
		parts = append(parts, wording.Thousands(e.Count)+" times")
	}
	parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
	line := strings.Join(parts, ", ") + ": " + sentence(e.Message)
	if w.view.Wide && e.UID != "" {
		line += " (UID " + text(e.UID) + ")"
	}
	return line
}
