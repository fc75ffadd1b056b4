// Package explainview writes the explanation of an object for a person. Text from the
// cluster is escaped and shortened here.
package explainview

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/explain"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/color"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wrap"
)

// AnswerView says how answers are written.
type AnswerView struct {
	Palette *color.Palette
	Wide    bool      // show UIDs
	Taken   time.Time // when the scan was made; ages are measured from it
	// Command joins the words of a command line for the user's shell: wording.Command or
	// wording.CommandOnWindows.
	Command func(words ...string) string
}

// Limits on the lines of a list.
const (
	maxLinks = 8
	maxNames = 8 // of writers: the latest
)

// Write writes one answer, with a line break at the end.
func (v AnswerView) Write(out io.Writer, a *explain.Answer) error {
	return v.write(out, a, map[string]bool{})
}

func (v AnswerView) write(out io.Writer, a *explain.Answer, written map[string]bool) error {
	out, columns := wrap.Unwrap(out)
	w := &answerWriter{AnswerView: v, answer: a, columns: columns, written: written}
	w.headline()
	if why := a.Nondeterministic; why != nil {
		w.line("uncertain", v.Palette.Changed(escape.Sentence("The outcome is not certain: "+why.Message()+".")))
	}
	for i := range a.References {
		w.reference(i)
	}
	w.conditions()
	if a.State == explain.Terminating { // what it says comes before what this tool knows
		w.events()
	}
	for _, f := range a.Finalizers {
		w.line("finalizer", escape.Word(f.Name)+": "+escape.Word(f.Removal()))
		if f.Traces != nil {
			w.once("finalizer", f.Traces.Sentence()+".")
		}
		w.writers(f.WrittenBy)
	}
	for _, s := range a.Next {
		w.once("next", s)
	}
	w.chain()
	w.cascade()
	if by := a.ManagedBy; by != nil {
		w.line("managed by", escape.Sentence(by.Message()))
	}
	w.history()
	for _, s := range a.Caveats {
		w.line("note", v.Palette.Changed(escape.Sentence(s)))
	}
	w.suggestions()
	_, err := out.Write(w.out.Bytes())
	return err
}

type answerWriter struct {
	AnswerView

	answer  *explain.Answer
	columns int // of the terminal; 0 is no limit
	out     bytes.Buffer
	label   string          // of the previous line
	written map[string]bool // by once, in this output
}

// line writes a fact after its label. A label is not repeated on the next line.
func (w *answerWriter) line(label, what string) {
	shown := label
	if label == w.label {
		shown = ""
	}
	w.label = label
	shown = fmt.Sprintf("  %-13s ", shown)
	w.write(shown+what, len(shown))
}

// once writes a fact that no line of this output has yet.
func (w *answerWriter) once(label, fact string) {
	if !w.written[fact] {
		w.written[fact] = true
		w.line(label, escape.Sentence(fact))
	}
}

func (w *answerWriter) conditions() {
	for _, c := range w.answer.Conditions {
		w.label = ""
		if c.Meaning == "" {
			w.line("condition", escape.Sentence(c.Text(w.Taken)))
			continue
		}
		w.line("condition", escape.Word(c.Type)+": "+escape.Sentence(c.Meaning))
		if c.Message != "" {
			w.more(w.Palette.Dim(escape.Sentence(c.Message)))
		}
	}
}

// more writes further text on the fact above.
func (w *answerWriter) more(what string) { w.write("     "+what, 5) }

// write writes a line, and indents what does not fit on it.
func (w *answerWriter) write(line string, indent int) {
	w.out.WriteString(wrap.Text(line, indent, w.columns) + "\n")
}

func (w *answerWriter) headline() {
	// A consequence of none has no colour, as others may still delete the object.
	w.write(w.Palette.Consequence(w.answer.Consequence, escape.Sentence(w.answer.Headline)), 2)
	if w.Wide && w.answer.Object.UID != "" {
		w.more(escape.Word(w.answer.Object.APIVersion) + ", UID " + escape.Word(string(w.answer.Object.UID)))
	}
}

func (w *answerWriter) reference(i int) {
	r := &w.answer.References[i]
	var flags []string
	if r.Controls() {
		flags = append(flags, "controller")
	}
	if r.Blocks() {
		flags = append(flags, "blocking")
	}
	shown := escape.Line(r.Kind + "/" + r.Name)
	if len(flags) > 0 {
		shown += " (" + strings.Join(flags, ", ") + ")"
	}
	w.label = ""
	w.line(fmt.Sprintf("owner %d of %d", i+1, len(w.answer.References)), shown+"   "+w.verdict(r))
	for _, e := range r.Evidence {
		w.more(w.Palette.Dim(escape.Sentence(e)))
	}
	w.writers(r.WrittenBy)
	if !w.Wide {
		return
	}
	w.more(escape.Word(r.APIVersion) + ", UID " + escape.Word(string(r.UID)))
	for _, other := range []struct {
		what string
		who  *object.Identity
	}{{"has that UID", r.UIDHolder}, {"has that name", r.NameHolder}} {
		if other.who != nil && (other.who.UID != r.UID || other.who.Name != r.Name || other.who.Kind != r.Kind) {
			w.more(fmt.Sprintf("%s %s: %s, UID %s", escape.Line(other.who.String()), other.what, escape.Word(other.who.APIVersion), escape.Word(string(other.who.UID))))
		}
	}
}

// writers writes who wrote the reference or finalizer above. The recorded time is that of the
// manager's last change of any field, so it is the latest possible one.
func (w *answerWriter) writers(writes []object.Write) {
	for _, by := range writes[max(len(writes)-maxNames, 0):] {
		how := by.Operation
		if by.Subresource != "" {
			how += " of " + by.Subresource
		}
		line := fmt.Sprintf("written by %s (%s)", escape.Word(by.Manager), escape.Word(how))
		if !by.Time.IsZero() {
			line += ", at " + wording.Time(by.Time) + " or before"
		}
		w.more(w.Palette.Dim(line))
	}
}

func (w *answerWriter) verdict(r *explain.ExplainedReference) string {
	shown := wording.Verdict(r.Verdict)
	switch r.Verdict {
	case collector.VerdictSolid:
		return w.Palette.Kept(shown)
	case collector.VerdictDangling:
		return w.Palette.Deleted(shown)
	case collector.VerdictWaiting, collector.VerdictUnresolvable, collector.VerdictScopeError, collector.VerdictUnknown:
	}
	return w.Palette.Changed(shown)
}

// chain writes what the object waits for. Of a very long chain it writes the beginning and
// the end.
func (w *answerWriter) chain() {
	links := w.answer.WaitsFor
	for i, l := range links {
		if hidden := len(links) - maxLinks; hidden > 0 && i == maxLinks-1 {
			w.line("waits for", fmt.Sprintf("… %s more, ending with:", wording.Thousands(hidden)))
		} else if hidden > 0 && i >= maxLinks && i < len(links)-1 {
			continue
		}
		w.line("waits for", w.located(l.Object)+": "+w.Palette.Changed(escape.Sentence(l.Sentence)))
	}
}

// located returns an object, with its namespace if it is not that of the explained object.
func (w *answerWriter) located(i object.Identity) string {
	shown := escape.Line(i.String())
	if i.Namespace != "" && i.Namespace != w.answer.Object.Namespace {
		shown += " in " + escape.Word(i.Namespace)
	}
	return shown
}

func (w *answerWriter) cascade() {
	a := w.answer.Cascade
	if a == nil {
		return
	}
	var parts, kinds []string
	for _, k := range a.Kinds {
		if k.Objects > 0 {
			kinds = append(kinds, wording.Count(k.Objects, escape.Word(k.Kind)))
		}
	}
	switch also := "also deletes " + strings.Join(kinds, ", "); {
	case a.Objects > 0 && w.answer.Consequence == collector.ConsequenceDelete:
		parts = append(parts, also)
	case a.Objects > 0 && w.answer.State == explain.Terminating:
		parts = append(parts, "its deletion "+also)
	case a.Objects > 0:
		parts = append(parts, "deleting it "+also)
	case a.Unseen == "" && (w.answer.State == explain.Terminating || w.answer.Consequence == collector.ConsequenceDelete):
		w.line("cascade", "nothing else is deleted with it")
		return
	case a.Unseen == "":
		w.line("cascade", "deleting it deletes nothing else")
		return
	}
	switch {
	case a.Unseen != "":
		parts = append(parts, escape.Line(a.Unseen)+", which is not shown here")
	case len(a.Claims) == 0 && a.ClaimsUnread:
		parts = append(parts, "no PersistentVolumeClaims among the objects that this tool could read")
	case len(a.Claims) == 0:
		parts = append(parts, "no PersistentVolumeClaims")
	}
	w.line("cascade", w.Palette.Deleted(strings.Join(parts, "; ")))
	for i, c := range a.Claims {
		if i == maxNames {
			w.more(w.Palette.Deleted(fmt.Sprintf("… and %s", wording.Count(len(a.Claims)-i, "more PersistentVolumeClaim"))))
			break
		}
		w.more(w.Palette.Deleted(w.located(c.Identity) + ": " + wording.Data(c.Identity, c.Data, false)))
	}
}

// history writes which references and Events mention the object.
func (w *answerWriter) history() {
	for i, n := range w.answer.ReferencedBy {
		if i == maxNames {
			w.line("referenced by", fmt.Sprintf("… and %s", wording.Count(len(w.answer.ReferencedBy)-i, "more reference")))
			break
		}
		line := w.located(n.Object)
		if w.answer.State == explain.Alive || w.answer.State == explain.Terminating {
			line += ", with the UID of an earlier one"
		}
		if w.Wide {
			line += ", as " + escape.Word(n.Reference.APIVersion) + ", UID " + escape.Word(string(n.Reference.UID))
		}
		w.line("referenced by", line)
	}
	if w.answer.State != explain.Terminating {
		w.events()
	}
}

func (w *answerWriter) events() {
	for _, e := range w.answer.Events {
		line := escape.Sentence(e.Text(w.Taken))
		if w.Wide && e.UID != "" {
			line += " (UID " + escape.Word(e.UID) + ")"
		}
		w.line("event", line)
	}
}

func (w *answerWriter) suggestions() {
	for _, r := range w.answer.Suggestions {
		w.line("you can", escape.Sentence(r.Sentence))
		if len(r.Command) > 0 {
			fmt.Fprintf(&w.out, "%18s%s\n", "", w.Palette.Bold(escape.Sentence(w.Command(r.Command...))))
		}
	}
}

// WriteAll writes every answer, then a line that says when and where the scan was made,
// and whether it was complete.
func (v AnswerView) WriteAll(w io.Writer, e *explain.Explanation, server string) error {
	written := map[string]bool{}
	for i, a := range e.Answers {
		if i > 0 {
			if _, err := io.WriteString(w, "\n"); err != nil {
				return err
			}
		}
		if err := v.write(w, a, written); err != nil {
			return err
		}
	}
	shown := wording.Scan(e.Complete)
	if server != "" { // a file written by kubectl has neither
		shown = fmt.Sprintf("Scanned at %s, server %s. %s", wording.Time(v.Taken), escape.Word(server), shown)
	}
	_, err := fmt.Fprintln(w, shown)
	return err
}
