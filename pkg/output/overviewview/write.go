// Package overviewview writes an overview for a person, on one screen. Text from the cluster is
// escaped and shortened here.
package overviewview

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strings"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/auditreport"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/color"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/overview"
	"github.com/kubectl-gc/kubectl-gc/pkg/terminating"
)

// The most rows of a section, and the most names in a row.
const (
	maxRows  = 5
	maxNames = 3
)

// Write writes an overview. title is what was scanned, escaped; suggest returns a command line for
// the user's shell, escaped, from words without the name of the program.
func Write(w io.Writer, v *overview.Overview, title string, suggest func(words ...string) string, p *color.Palette) error {
	s := overviewLines{suggest: suggest, palette: p}
	s.line("%s   %s, %s", p.Bold(title), wording.Count(v.Summary.Objects, "object"), wording.Count(v.Summary.References, "owner reference"))
	if v.Healthy() {
		s.line("Nothing to delete, nothing stuck, no broken owner reference. Complete scan.")
	} else {
		s.sections(v)
	}
	s.next(v)
	_, err := w.Write(s.out.Bytes())
	return err
}

// overviewLines collects the lines.
type overviewLines struct {
	out     bytes.Buffer
	suggest func(words ...string) string
	palette *color.Palette
}

func (s *overviewLines) line(format string, a ...any) { fmt.Fprintf(&s.out, format+"\n", a...) }

func (s *overviewLines) sections(v *overview.Overview) {
	if groups := v.WillBeDeleted; len(groups) > 0 {
		then := ""
		if v.Dependents > 0 {
			then = ", then " + wording.Count(v.Dependents, "dependent")
		}
		s.line("\n%s by the garbage collector: %s%s", s.palette.Deleted("WILL BE DELETED"), wording.Count(v.Doomed(), "object"), then)
		s.groups(groups, func(g *overview.CauseGroup) string {
			if g.Findings[0].Nondeterministic != nil {
				return " (uncertain)"
			}
			return ""
		})
	}
	if held := v.BeingDeleted; len(held) > 0 {
		s.line("\n%s, but held", s.palette.Changed("BEING DELETED"))
		for i := range held[:min(len(held), maxRows)] {
			s.row(deletion(&held[i]), held[i].Command)
			if why := held[i].Because; why != "" {
				s.line("      %s", escape.Sentence(why+"."))
			}
		}
		s.more(len(held)-maxRows, "stuck")
	}
	var never, kept []overview.CauseGroup
	for _, g := range v.Broken {
		if g.Findings[0].Consequence == collector.ConsequenceStuck {
			never = append(never, g)
		} else {
			kept = append(kept, g)
		}
	}
	if len(never) > 0 {
		s.line("\n%s, as their owner references cannot work", s.palette.Changed("NEVER COLLECTED"))
		s.groups(never, func(*overview.CauseGroup) string { return "" })
	}
	if len(kept) > 0 {
		s.line("\n%s, with a broken owner reference", s.palette.Kept("KEPT"))
		s.groups(kept, func(g *overview.CauseGroup) string {
			return " (" + strings.TrimPrefix(auditreport.Result(&g.Group), "kept, ") + ")"
		})
	}
	if warning := auditreport.Unread(v.Gaps, v.Types, maxRows); warning != "" {
		s.line("\n%s", s.palette.Changed("NOT READ"))
		s.line("  %s", capitalized(warning))
		if v.Unverified > 0 {
			s.row(owners(v.Unverified)+" could not be verified", []string{"audit", "--rule", "unverified-owner"})
		}
	}
	if len(v.WillBeDeleted)+len(v.BeingDeleted)+len(v.Broken) == 0 {
		s.line("\nIn what was read: nothing to delete, nothing stuck, no broken owner reference.")
	}
}

// deletion returns what is being deleted, for how long, and what holds it.
func deletion(d *overview.Stuck) string {
	what, by := located(d.Object)+" for ", "held by "+auditreport.HeldBy(&d.Hold)
	switch {
	case d.Count > 1:
		what = counted(d.Namespaces) + ", the oldest for "
	case d.Holder == terminating.HolderUnknown || d.Holder == terminating.HolderNothing:
		by = escape.Line(d.Message())
	}
	return what + duration.HumanDuration(d.Age()) + ": " + by
}

func owners(objects int) string {
	if objects == 1 {
		return "The owner of 1 object"
	}
	return "The owners of " + wording.Count(objects, "object")
}

// groups writes a row per group. result follows what was found of it.
func (s *overviewLines) groups(groups []overview.CauseGroup, result func(*overview.CauseGroup) string) {
	for i := range groups[:min(len(groups), maxRows)] {
		g := &groups[i]
		s.row(objects(&g.Group)+": "+auditreport.Problem(&g.Group)+result(g), g.Command)
	}
	s.more(len(groups)-maxRows, "audit")
}

// row writes what was found, and what to run next on a line of its own, so that it can be pasted.
func (s *overviewLines) row(text string, command []string) {
	s.line("  %s", text)
	s.line("      %s", s.palette.Dim(s.suggest(command...)))
}

func (s *overviewLines) more(rows int, command ...string) {
	if rows > 0 {
		s.line("  + %s more: %s", wording.Thousands(rows), s.suggest(command...))
	}
}

// objects returns the only object of a group, or how many there are and where.
func objects(g *audit.Group) string {
	if len(g.Objects) == 1 {
		return located(g.Objects[0])
	}
	return counted(g.Namespaces)
}

// counted returns how many objects there are in these namespaces: "61 objects in big (60), shop (1)".
func counted(in []audit.NamespaceCount) string {
	total := 0
	var names []string
	for _, n := range in {
		total += n.Objects
		name := cmp.Or(escape.Word(n.Name), "no namespace")
		if len(in) > 1 {
			name += " (" + wording.Thousands(n.Objects) + ")"
		}
		names = append(names, name)
	}
	if len(in) == 1 && in[0].Name == "" {
		return wording.Count(total, "object")
	}
	return wording.Count(total, "object") + " in " + wording.List(names, maxNames)
}

// located returns an object with its namespace.
func located(o object.Identity) string {
	if o.Namespace == "" {
		return escape.Line(o.String())
	}
	return escape.Line(o.String()) + " in " + escape.Word(o.Namespace)
}

// next writes whether the garbage collector runs, and what to do next.
func (s *overviewLines) next(v *overview.Overview) {
	hint := func(sentence string, command ...string) { s.line("%s: %s", sentence, s.suggest(command...)) }
	if !v.Healthy() && (v.Others > 0 || v.Manager != nil) {
		s.line("")
	}
	if v.Others > 0 {
		hint(fmt.Sprintf("Deletions in progress: %s, the oldest for %s. See what they wait for", wording.Thousands(v.Others), duration.HumanDuration(v.OthersAge)), "stuck")
	}
	if v.Manager != nil {
		sentence := capitalized(escape.Sentence(v.Manager.Message())) + "."
		if v.Overdue > 0 {
			s.line("%s", sentence)
			hint("A working garbage collector deletes these within seconds. If they stay", "doctor")
		} else {
			hint(sentence+" Check it", "doctor")
		}
	}
	if v.Healthy() {
		hint("What goes if you delete something", "delete", "TYPE/NAME", "--dry-run")
	}
}

func capitalized(sentence string) string { return strings.ToUpper(sentence[:1]) + sentence[1:] }
