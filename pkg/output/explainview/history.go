package explainview

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/explain"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
)

// traces are what still tells of an object: who names it, and the Events.
func (p *page) traces() {
	for i, n := range p.answer.ReferencedBy {
		if i == mostNamed {
			p.line("referenced by", fmt.Sprintf("… and %s", wording.Count(len(p.answer.ReferencedBy)-i, "more reference")))
			break
		}
		said := p.place(n.Object)
		if p.Wide {
			said += ", as " + text(n.Reference.APIVersion) + ", UID " + text(n.Reference.UID)
		}
		p.line("referenced by", said)
	}
	for _, e := range p.answer.Events {
		p.line("event", p.event(e))
	}
}

func (p *page) event(e explain.Event) string {
	said := []string{}
	if !e.Last.IsZero() {
		said = append(said, age(p.Taken.Sub(e.Last))+" ago")
	}
	said = append(said, text(e.Type), text(e.Reason))
	if e.Source != "" {
		said = append(said, "from "+text(e.Source))
	}
	if e.Count > 1 {
		said = append(said, wording.Thousands(e.Count)+" times")
	}
	said = slices.DeleteFunc(said, func(s string) bool { return s == "" })
	line := strings.Join(said, ", ") + ": " + sentence(e.Message)
	if p.Wide && e.UID != "" {
		line += " (UID " + text(e.UID) + ")"
	}
	return line
}
