package explainview

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/explain"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/color"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
)

// View says how answers are written.
type View struct {
	Palette *color.Palette
	Wide    bool      // with UIDs
	Taken   time.Time // the moment that ages are measured from
	// Command puts the words of a command together, to be pasted into the shell of who
	// reads it: phrase.Command or phrase.CommandOnWindows.
	Command func(words ...string) string
}

// How much of what came from the cluster is shown. A real sentence fits.
const (
	sentenceWidth = 1200
	nameWidth     = 400
	textWidth     = 200
	mostLinks     = 8 // of a chain
	mostNamed     = 8
)

// Write writes one answer. It ends with a line break.
func (v View) Write(w io.Writer, a *explain.Answer) error {
	p := &page{View: v, answer: a}
	p.headline()
	for i := range a.References {
		p.reference(i)
	}
	for _, f := range a.Finalizers {
		p.line("finalizer", text(f.Name)+": "+text(f.Controller))
	}
	for _, s := range a.Next {
		p.line("next", sentence(s))
	}
	p.chain()
	p.along()
	p.traces()
	for _, s := range a.Caveats {
		p.line("note", v.Palette.Changes(sentence(s)))
	}
	p.remedies()
	_, err := w.Write(p.out.Bytes())
	return err
}

type page struct {
	View
	answer *explain.Answer
	out    bytes.Buffer
	label  string // of the line above
}

func sentence(s string) string { return escape.Short(s, sentenceWidth) }

func text(s string) string { return escape.Short(s, textWidth) }

func identity(i object.Identity) string { return escape.Short(i.String(), nameWidth) }

// line writes one fact under its label, which is not said twice in a row.
func (p *page) line(label, what string) {
	shown := label
	if label == p.label {
		shown = ""
	}
	p.label = label
	fmt.Fprintf(&p.out, "  %-13s %s\n", shown, what)
}

// more writes what belongs to the fact above.
func (p *page) more(what string) { fmt.Fprintf(&p.out, "     %s\n", what) }

func (p *page) headline() {
	said := sentence(p.answer.Headline)
	switch p.answer.Consequence {
	case collector.ConsequenceDelete:
		said = p.Palette.Goes(said)
	case collector.ConsequenceUnlink, collector.ConsequenceStuck, collector.ConsequenceUnknown:
		said = p.Palette.Changes(said)
	case collector.ConsequenceNone: // it may go all the same, deleted by others
	}
	p.out.WriteString(said + "\n")
	if p.Wide && p.answer.Object.UID != "" {
		p.more(text(p.answer.Object.APIVersion) + ", UID " + text(string(p.answer.Object.UID)))
	}
}

// chain names what the object waits for, and what that waits for. Of a very long
// chain it shows the beginning and the end.
func (p *page) chain() {
	links := p.answer.WaitsFor
	for i, l := range links {
		if hidden := len(links) - mostLinks; hidden > 0 && i == mostLinks-1 {
			p.line("waits for", fmt.Sprintf("… %s more, ending with:", wording.Thousands(hidden)))
		} else if hidden > 0 && i >= mostLinks && i < len(links)-1 {
			continue
		}
		p.line("waits for", p.place(l.Object)+": "+p.Palette.Changes(sentence(l.Sentence)))
	}
}

// place is an object, with its namespace where that is another than the one at hand.
func (p *page) place(i object.Identity) string {
	said := identity(i)
	if i.Namespace != "" && i.Namespace != p.answer.Object.Namespace {
		said += " -n " + text(i.Namespace)
	}
	return said
}

func (p *page) along() {
	a := p.answer.Cascade
	if a == nil {
		return
	}
	if a.Objects == 0 {
		p.line("cascade", "nothing else is deleted")
		return
	}
	begin := "deleting it also deletes "
	if p.answer.Consequence == collector.ConsequenceDelete {
		begin = "also deletes "
	}
	var kinds []string
	for _, k := range a.Kinds {
		kinds = append(kinds, wording.Count(k.Objects, text(k.Kind)))
	}
	p.line("cascade", p.Palette.Goes(begin+strings.Join(kinds, ", ")))
	var claims []string
	for _, c := range a.Claims {
		claims = append(claims, p.place(c))
	}
	if len(claims) > 0 {
		p.more(p.Palette.Goes(wording.List(claims, mostNamed)))
	}
}

func (p *page) remedies() {
	for _, r := range p.answer.Suggestions {
		p.line("you can", sentence(r.Sentence))
		if len(r.Command) > 0 {
			fmt.Fprintf(&p.out, "%18s%s\n", "", p.Palette.Strong(escape.Short(p.Command(r.Command...), sentenceWidth)))
		}
	}
}

// WriteAll writes every answer, and on a last line when and where the scan was
// made, and whether it was complete.
func (v View) WriteAll(w io.Writer, e *explain.Explanation, server string) error {
	for i, a := range e.Answers {
		if i > 0 {
			if _, err := io.WriteString(w, "\n"); err != nil {
				return err
			}
		}
		if err := v.Write(w, a); err != nil {
			return err
		}
	}
	said := wording.Scan(e.Complete)
	if server != "" { // what kubectl wrote to a file knows neither
		said = fmt.Sprintf("Scanned at %s on a server %s. %s", v.Taken.UTC().Format(time.RFC3339), text(server), said)
	}
	_, err := fmt.Fprintln(w, said)
	return err
}

// age is how kubectl writes one. What a clock ahead of ours says is now.
func age(d time.Duration) string { return duration.HumanDuration(max(d, 0)) }
