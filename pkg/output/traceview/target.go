package traceview

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/table"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/trace"
)

// maxSiblings is the most siblings in the tree. There is one more line for the others.
const maxSiblings = 10

// target writes the cascade of the target, what it means, and what to do.
func (s *reportWriter) target() {
	c := &s.report.Cascades[0]
	target := &c.Deletions[s.report.Target.Deletion]
	s.line("%s\n", s.Palette.Deleted(s.deleted(target)+"."))
	s.tree(c, target)
	s.beginning(c)
	s.circumstances(c)
	if parts := data(c); len(parts) > 0 {
		s.line("%s", s.Palette.Deleted("Among what went: "+strings.Join(parts, ", ")+"."))
	}
	for _, o := range s.report.Target.Others {
		s.line("Another %s.", s.deleted(&trace.Deletion{Object: o.Object, At: o.At, By: o.By, Doubt: o.Doubt}))
	}
	s.nextSteps(c)
	s.coverage()
}

// deleted returns the sentence that an object was deleted, without its full stop.
func (s *reportWriter) deleted(d *trace.Deletion) string {
	text := s.object(d, "") + " was deleted"
	if d.Doubt != "" || d.Inferred {
		text = s.object(d, "") + " may have been deleted"
	}
	if by := d.By.String(); by != "" {
		text += " by " + escape.Word(by)
	}
	switch {
	case d.At.IsZero():
		return text + ", at a time that is in no file"
	case !reason.HasYear(d.At):
		return text + d.At.Format(" on 01-02 at 15:04:05 UTC, of a year that is in no file")
	}
	return text + d.At.UTC().Format(" on 2006-01-02 at 15:04:05 UTC")
}

// tree writes the deletions. A row is one of them, or all those of many siblings that are left out.
func (s *reportWriter) tree(c *trace.Cascade, target *trace.Deletion) {
	oneDay := c.From.UTC().Format(time.DateOnly) == c.To.UTC().Format(time.DateOnly)
	children := make(map[int][]int)
	for i := range c.Deletions {
		parent := c.Deletions[i].Parent
		children[parent] = append(children[parent], i)
	}
	var rows [][]string
	row := func(of []int, _ int, branches string) (below [][]int) {
		if len(of) > 1 {
			rows = append(rows, []string{"", branches + "and " + wording.Thousands(len(of)) + " more", "-o wide shows them"})
			return nil
		}
		d := &c.Deletions[of[0]]
		why := why(c, d)
		if d == target && d.Parent >= 0 {
			why += " ← target"
		}
		rows = append(rows, []string{clock(d.At, oneDay), branches + s.object(d, target.Object.Namespace), why})
		siblings := children[of[0]]
		shown := s.shown(len(siblings), maxSiblings)
		for _, i := range siblings[:shown] {
			below = append(below, []int{i})
		}
		if shown < len(siblings) {
			below = append(below, siblings[shown:])
		}
		return below
	}
	first := []int{0}
	if c.Collection != nil {
		rows = append(rows, []string{clock(c.At, oneDay), collection(c.Collection), who(c.By) + " asked for it" + policy(c.Policy)})
		table.Tree([][]int{first}, row)
	} else {
		table.Tree(row(first, 0, ""), row)
	}
	s.table([]string{"UTC", "DELETED", "WHY"}, rows, "WHY", "DELETED", "UTC")
}

// why returns why an object was deleted, and by whom, unless that also deleted what it came from.
func why(c *trace.Cascade, d *trace.Deletion) string {
	root := d.Parent < 0 && c.Collection == nil
	if root && asked(c) {
		return escape.Sentence(d.Why.Message()) + policy(d.Policy)
	}
	above := c.By
	if d.Parent >= 0 {
		above = c.Deletions[d.Parent].By
	}
	text := brief(d.Why)
	if by := d.By.String(); by != "" && (root || by != above.String()) {
		text = who(d.By) + ": " + text
	}
	if d.Perhaps && !root {
		text = "perhaps: " + text
	}
	return text
}

// policy returns the propagation policy of a deletion, as it follows a sentence.
func policy(name string) string {
	switch name {
	case "":
		return ""
	case "Default":
		return ", with the default policy"
	}
	return ", with policy " + escape.Word(name)
}

// beginning writes who began a cascade, and how that is known.
func (s *reportWriter) beginning(c *trace.Cascade) {
	why := escape.Sentence(c.Root.Message())
	switch {
	case c.Unexplained:
		s.line("Who began it is unknown: %s.", strings.TrimPrefix(why, "unknown: "))
		hasScan := slices.ContainsFunc(s.report.Sources, func(source trace.Source) bool { return source.Form == trace.FormScan })
		if c.By.Role == trace.RoleCollector && !hasScan {
			s.line("A snapshot from before (--before) may show why.")
		}
	case !asked(c):
		s.line("Nobody asked for this deletion.")
		if why != brief(c.Root) {
			s.line("%s", sentence(c.Root))
		}
	case c.Perhaps || c.Deletions[s.report.Target.Deletion].Perhaps:
		s.line("Perhaps started by %s.", identified(c.By))
	default:
		s.line("Started by %s.", identified(c.By))
	}
	if basis := c.Deletions[0].Basis; basis != nil && asked(c) {
		place := fmt.Sprintf("%s at byte %d", escape.Word(basis.File), basis.Offset)
		if basis.ID != "" {
			place += ", audit ID " + escape.Word(basis.ID)
		}
		s.line("Evidence: %s. No earlier request for it was read.", place)
	}
}

// circumstances writes those of what led to the target, and of it, each once, and what else is known of it.
func (s *reportWriter) circumstances(c *trace.Cascade) {
	notes := s.report.Notes
	for i := s.report.Target.Deletion; i >= 0; i = c.Deletions[i].Parent {
		notes = slices.Concat(c.Deletions[i].Circumstances, notes)
	}
	said := map[string]bool{}
	for _, n := range notes {
		if text := sentence(n); !said[text] {
			said[text] = true
			s.line("%s", text)
		}
	}
}

// nextSteps writes what can be saved, restored and looked at.
func (s *reportWriter) nextSteps(c *trace.Cascade) {
	objects := wording.Count(c.Objects, "object")
	holds := "The audit log holds " + wording.Thousands(c.Whole) + " of " + objects + " in full"
	switch {
	case c.Whole == 0:
	case s.Save == nil: // it has been saved
		s.line("%s.", holds)
	default:
		s.command(holds+". To save them for restore", s.Save...)
	}
	if c.By.Role == trace.RoleThisTool {
		s.command("This tool made a backup before, unless it was told not to", "restore")
	}
	if c.Collection == nil && len(c.Deletions) < c.Objects {
		s.trace("The whole cascade of "+objects, &c.Deletions[0])
	}
	if !c.Unexplained && !asked(c) { // a reference was wrong
		s.command("To find others like it", "audit", "--dangling", "-A")
	}
}

// identified returns who someone is, and what the log has about that.
func identified(a trace.Deleter) string {
	text := escape.Word(cmp.Or(a.String(), "someone unknown"))
	var parts []string
	add := func(what, value string) {
		if value != "" {
			parts = append(parts, what+escape.Word(value))
		}
	}
	add("groups ", wording.List(a.Groups, 5))
	add("with ", a.Agent)
	add("from ", wording.List(a.Addresses, 3))
	if len(parts) > 0 {
		text += " (" + strings.Join(parts, "; ") + ")"
	}
	return text
}
