// Package traceview writes for a person who deleted what: a table of cascades, or one cascade as a tree
// with times, in UTC. Text of logs is escaped and shortened here.
package traceview

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-gc/kubectl-gc/pkg/output/color"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/table"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/trace"
)

// View says how reports are written.
type View struct {
	Palette *color.Palette
	Wide    bool // show everything, and UIDs
	// Suggest returns a command line for the user's shell, escaped, from words without the name of the
	// program.
	Suggest func(words ...string) string
	Files   []string // the flags that name the files of the report
	Save    []string // the words of a command that saves what a log has of the cascade; nil for none
}

// The most rows of the table, and siblings in a tree. There is one more line for the others.
const (
	maxCascades = 20
	maxSiblings = 10
)

// Write writes a report: the cascade of its target, or else all of them.
func (v View) Write(w io.Writer, r *trace.Report) error {
	if r.Target != nil {
		return v.target(w, r)
	}
	return v.cascades(w, r)
}

// cascades writes the table of cascades, what the evidence covers, and how to see one of them.
func (v View) cascades(w io.Writer, r *trace.Report) error {
	shown := r.Cascades
	if !v.Wide {
		shown = shown[:min(len(shown), maxCascades)]
	}
	header := []string{"WHEN (UTC)", "DELETED", "BY", "OBJECTS", "TOOK", "NOTE"}
	var rows [][]string
	for i := range shown {
		c := &shown[i]
		took := ""
		if c.Objects > 1 && c.To.After(c.From) {
			took = duration.HumanDuration(c.To.Sub(c.From))
		}
		notes := data(c)
		if c.Uncertain > 0 && !c.Perhaps {
			notes = append(notes, "perhaps only "+wording.Thousands(c.Objects-c.Uncertain)+" of them")
		}
		if c.Unexplained || c.By.Role == trace.RoleCollector {
			notes = append(notes, brief(c.Root))
		}
		by := who(c.By)
		if c.Perhaps {
			by = "perhaps " + by
		}
		rows = append(rows, []string{dated(cmp.Or(c.At, c.From)), v.root(c), by, wording.Thousands(c.Objects), took, strings.Join(notes, "; ")})
	}
	if len(rows) == 0 {
		if _, err := fmt.Fprintln(w, "No deletion is in what was read."); err != nil {
			return err
		}
		return v.coverage(w, r)
	}
	header, rows = table.DropEmpty(header, rows, "TOOK", "NOTE")
	if err := table.Write(w, header, rows, "NOTE", "DELETED", "BY", "WHEN (UTC)"); err != nil {
		return err
	}
	if more := len(r.Cascades) - len(shown); more > 0 {
		fmt.Fprintf(w, "+ %s smaller ones: -o wide\n", wording.Thousands(more))
	}
	if err := v.coverage(w, r); err != nil {
		return err
	}
	for i := range r.Cascades {
		if d := r.Cascades[i].Deletions; len(d) > 0 {
			_, err := fmt.Fprintf(w, "The first as a tree: %s\n", v.Suggest(slices.Concat([]string{"trace"}, v.named(&d[0]), v.Files)...))
			return err
		}
	}
	return nil
}

// named returns the words that name the object of a deletion on a command line.
func (v View) named(d *trace.Deletion) []string {
	words := []string{cmp.Or(strings.ToLower(d.Object.Kind), d.Resource) + "/" + d.Object.Name}
	if d.Object.Namespace != "" {
		words = append(words, "-n", d.Object.Namespace)
	}
	return words
}

// None writes that no deletion of an object is known, and what else is. guess ends the sentence.
func (v View) None(w io.Writer, r *trace.Report, what, guess string) error {
	if _, err := fmt.Fprintf(w, "No deletion of %s is in what was read%s\n", what, cmp.Or(guess, ".")); err != nil {
		return err
	}
	for _, n := range r.Notes {
		fmt.Fprintln(w, sentence(n.Reason))
	}
	return v.coverage(w, r)
}

// sentence returns a reason as a sentence.
func sentence(r reason.Reason) string {
	text := escape.Sentence(reason.Message(r))
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// maxSources is the most files that are told of one by one.
const maxSources = 8

// coverage writes what was read: what it speaks of, from when to when, and in what detail.
func (v View) coverage(w io.Writer, r *trace.Report) error {
	sources := r.Sources
	if !v.Wide {
		sources = sources[:min(len(sources), maxSources)]
	}
	for i := range sources {
		s := &sources[i]
		parts := []string{escape.Word(s.Form)}
		switch {
		case s.Form == trace.FormScan && s.First.IsZero():
			parts[0] += ", which does not say when it was made"
		case s.Form == trace.FormScan:
			parts[0] += " of " + reason.Clock(s.First)
		case !s.First.IsZero():
			parts[0] += " from " + reason.Clock(s.First) + " to " + reason.Clock(s.Last)
		}
		if s.Events > 0 {
			parts = append(parts, written(s.Resources), detail(s.Levels))
		}
		switch {
		case s.Form != trace.FormManagerLog:
		case s.Verbosity < 2:
			parts = append(parts, "nothing about what its garbage collector deletes, which takes --v=2, and --v=5 for the reasons")
		default:
			parts = append(parts, fmt.Sprintf("--v=%d or more", s.Verbosity))
		}
		if s.Unanswered > 0 {
			parts = append(parts, wording.Count(s.Unanswered, "request")+" without an answer, so that nothing shows what came of them")
		}
		if s.ClockBehind != 0 {
			parts = append(parts, fmt.Sprintf("its clock is %+d s from that of the audit log, by %s, and corrected here", -s.ClockBehind, wording.Count(s.SharedDeletions, "deletion")))
		}
		if s.Yearless {
			parts = append(parts, "without a year: --year gives it")
		}
		fmt.Fprintf(w, "Read %s: %s.\n", escape.Word(s.File), strings.Join(parts, "; "))
	}
	if more := len(r.Sources) - len(sources); more > 0 {
		fmt.Fprintf(w, "Read %s more: -o wide\n", wording.Count(more, "file"))
	}
	for _, o := range r.Outages {
		more := ""
		if o.More > 0 {
			more = " (and " + wording.Count(o.More, "other line") + ")"
		}
		fmt.Fprintf(w, "The garbage collector did not work from %s to %s: %s%s.\n", reason.Clock(o.From), reason.Clock(o.To), escape.Sentence(o.Reason), more)
	}
	for _, l := range r.Loops {
		fmt.Fprintf(w, "The garbage collector looked at %s %s times from %s to %s: a loop.\n", escape.Line(l.Object.String()), wording.Thousands(l.Times), reason.Clock(l.From), reason.Clock(l.To))
	}
	return nil
}

// written returns how many writes there are, of which types.
func written(resources map[string]int) string {
	all, names := 0, slices.SortedFunc(maps.Keys(resources), func(a, b string) int { return cmp.Or(cmp.Compare(resources[b], resources[a]), cmp.Compare(a, b)) })
	for i, name := range names {
		all += resources[name]
		names[i] = escape.Word(name)
	}
	if all == 0 {
		return "no writes"
	}
	return wording.Count(all, "write") + " of " + wording.List(names, 3)
}

// detail returns at which levels the deletions are.
func detail(levels map[string]int) string {
	var parts []string
	for _, level := range slices.Sorted(maps.Keys(levels)) {
		parts = append(parts, wording.Thousands(levels[level])+" at level "+escape.Word(level))
	}
	if len(parts) == 0 {
		return "no deletions"
	}
	return "deletions: " + strings.Join(parts, ", ")
}

// root returns what a cascade began with.
func (v View) root(c *trace.Cascade) string {
	if c.Collection != nil {
		return collection(c.Collection)
	}
	if len(c.Deletions) == 0 {
		return "unknown"
	}
	return v.located(&c.Deletions[0], "")
}

func collection(c *trace.Collection) string {
	text := "all " + escape.Word(c.Resource)
	if c.Namespace != "" {
		text += " in " + escape.Word(c.Namespace)
	}
	for _, selector := range []string{c.LabelSelector, c.FieldSelector} {
		if selector != "" {
			text += " with " + escape.Word(selector)
		}
	}
	return text
}

// located returns the object of a deletion, with its namespace if it is not the one above.
func (v View) located(d *trace.Deletion, above string) string {
	text := escape.Line(d.Object.String())
	if d.Object.Kind == "" {
		text = escape.Line(cmp.Or(d.Resource, "object") + "/" + d.Object.Name)
	}
	if d.Object.Namespace != "" && d.Object.Namespace != above {
		text += " in " + escape.Word(d.Object.Namespace)
	}
	if v.Wide && d.Object.UID != "" {
		text += " " + v.Palette.Dim("("+escape.Word(string(d.Object.UID))+")")
	}
	return text
}

// data returns how many claims and volumes a cascade deleted.
func data(c *trace.Cascade) (parts []string) {
	if c.Claims > 0 {
		parts = append(parts, wording.Count(c.Claims, "claim"))
	}
	if c.Volumes > 0 {
		parts = append(parts, wording.Count(c.Volumes, "volume"))
	}
	return parts
}

// who returns who someone is, for a cell.
func who(a trace.Actor) string {
	return escape.Word(cmp.Or(strings.TrimPrefix(a.String(), "the "), "unknown"))
}

// dated returns a time for a table of many days.
func dated(t time.Time) string {
	if t.IsZero() {
		return "unknown"
	}
	return strings.NewReplacer("T", " ", "Z", "").Replace(reason.Clock(t))
}

func brief(n reason.Nested) string { return escape.Sentence(reason.Short(n.Reason)) }

// target writes one cascade, and what it means.
func (v View) target(w io.Writer, r *trace.Report) error {
	c := &r.Cascades[0]
	t := targetWriter{View: v, report: r, cascade: c, deletion: &c.Deletions[r.Target.Deletion]}
	t.headline()
	if _, err := w.Write(t.out.Bytes()); err != nil {
		return err
	}
	t.out.Reset()
	if err := t.tree(w); err != nil {
		return err
	}
	t.meaning()
	if _, err := w.Write(t.out.Bytes()); err != nil {
		return err
	}
	return v.coverage(w, r)
}

type targetWriter struct {
	View

	report   *trace.Report
	cascade  *trace.Cascade
	deletion *trace.Deletion // of the target
	out      bytes.Buffer
}

func (t *targetWriter) line(format string, a ...any) { fmt.Fprintf(&t.out, format+"\n", a...) }

// next writes a command on a line of its own.
func (t *targetWriter) next(sentence string, words ...string) {
	t.line("%s: %s", sentence, t.Suggest(words...))
}

func (t *targetWriter) headline() {
	d := t.deletion
	text := t.located(d, "") + " was deleted"
	if d.Doubt != "" || d.Inferred {
		text = t.located(d, "") + " may have been deleted"
	}
	if by := d.By.String(); by != "" {
		text += " by " + escape.Word(by)
	}
	switch {
	case d.At.IsZero():
		text += ", at a time that is in no file."
	case !reason.HasYear(d.At):
		text += d.At.Format(" on 01-02 at 15:04:05 UTC, of a year that is in no file.")
	default:
		text += d.At.UTC().Format(" on 2006-01-02 at 15:04:05 UTC.")
	}
	t.line("%s\n", t.Palette.Deleted(text))
}

// row is one of the tree: a deletion, or those that are left out.
type row struct {
	deletion int // theRest if they are left out
	rest     []int
}

const (
	noDeletion = -1 // the parent of a root
	theRest    = -2
)

// tree writes the deletions.
func (t *targetWriter) tree(w io.Writer) error {
	c := t.cascade
	children := make(map[int][]int)
	for i := range c.Deletions {
		parent := c.Deletions[i].Parent
		children[parent] = append(children[parent], i)
	}
	var rows [][]string
	add := func(r row, branches string) []row {
		rows = append(rows, t.row(r, branches))
		if r.deletion < 0 {
			return nil
		}
		return t.siblings(children[r.deletion])
	}
	top := t.siblings(children[noDeletion])
	if c.Collection != nil {
		rows = append(rows, []string{t.clock(c.At), collection(c.Collection), who(c.By) + " asked for it" + policy(c.Policy)})
		table.Tree(top, func(r row, _ int, branches string) []row { return add(r, branches) })
	} else {
		for _, root := range top {
			table.Tree(add(root, ""), func(r row, _ int, branches string) []row { return add(r, branches) })
		}
	}
	return table.Write(w, []string{"UTC", "DELETED", "WHY"}, rows, "WHY", "DELETED", "UTC")
}

// siblings returns the rows of these deletions. Of many, they are the first ones and those that lead to
// the target.
func (t *targetWriter) siblings(of []int) (rows []row) {
	var rest []int
	for k, i := range of {
		if t.Wide || k < maxSiblings || len(of) == maxSiblings+1 || t.leads(i) {
			rows = append(rows, row{deletion: i})
		} else {
			rest = append(rest, i)
		}
	}
	if len(rest) > 0 {
		rows = append(rows, row{deletion: theRest, rest: rest})
	}
	return rows
}

// leads reports whether the target comes from a deletion, or is it.
func (t *targetWriter) leads(i int) bool {
	for at := t.report.Target.Deletion; at >= 0; at = t.cascade.Deletions[at].Parent {
		if at == i {
			return true
		}
	}
	return false
}

func (t *targetWriter) row(r row, branches string) []string {
	if r.deletion == theRest {
		return []string{"", branches + t.counted(r.rest), "-o wide shows them"}
	}
	d := &t.cascade.Deletions[r.deletion]
	name := t.located(d, t.deletion.Object.Namespace)
	if d == t.deletion {
		name = t.Palette.Bold(name)
	}
	return []string{t.clock(d.At), branches + name, t.why(d)}
}

// counted returns how many deletions there are.
func (t *targetWriter) counted(of []int) string {
	kinds := map[string]int{}
	for _, i := range of {
		d := &t.cascade.Deletions[i]
		kinds[cmp.Or(d.Object.Kind, d.Resource)]++
	}
	var parts []string
	for kind, n := range kinds {
		parts = append(parts, escape.Word(kind)+" "+wording.Thousands(n))
	}
	slices.Sort(parts)
	return "and " + wording.Thousands(len(of)) + " more: " + wording.List(parts, 3)
}

// why returns who deleted an object, unless that also deleted what it came from, and why.
func (t *targetWriter) why(d *trace.Deletion) string {
	text, full := brief(d.Why), escape.Sentence(reason.Message(d.Why.Reason))
	above := t.cascade.By
	if d.Parent >= 0 {
		above = t.cascade.Deletions[d.Parent].By
	}
	root := d.Parent < 0 && t.cascade.Collection == nil
	switch {
	case d.By.Role == trace.RoleNone || !root && d.By.String() == above.String():
	case strings.HasPrefix(full, escape.Word(d.By.String())):
		text = full
	default:
		text = who(d.By) + ": " + text
	}
	if d.Perhaps && !root {
		text = "perhaps: " + text
	}
	if root && d.By.Role != trace.RoleCollector && !t.cascade.Unexplained {
		text += policy(d.Policy)
	}
	if d == t.deletion && d.Parent >= 0 {
		text += " ← target"
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

// clock returns a time, with its date if the cascade is not of one day.
func (t *targetWriter) clock(at time.Time) string {
	const day = "2006-01-02"
	switch {
	case at.IsZero():
		return "?"
	case t.cascade.From.UTC().Format(day) != t.cascade.To.UTC().Format(day):
		return dated(at)
	}
	return at.UTC().Format("15:04:05")
}

// meaning writes who began it, what else matters, and what to do.
func (t *targetWriter) meaning() {
	c := t.cascade
	wrong := !c.Unexplained && c.By.Role == trace.RoleCollector // a reference was
	switch why := escape.Sentence(reason.Message(c.Root.Reason)); {
	case wrong:
		t.line("Nobody asked for this deletion.")
		if why != brief(c.Root) {
			t.line("%s", sentence(c.Root.Reason))
		}
	case c.Unexplained && strings.HasPrefix(why, "unknown"):
		t.line("Who began it is %s.", why)
	case c.Unexplained:
		t.line("Who began it is not in what was read: %s.", why)
	case t.deletion.Perhaps || c.Perhaps:
		t.line("Perhaps started by %s.", identified(c.By))
	default:
		t.line("Started by %s.", identified(c.By))
	}
	if root := c.Deletions[0]; root.Basis != nil && !wrong && !c.Unexplained {
		t.line("%s", proof(root.Basis))
	}
	perhaps := t.report.Target.Perhaps
	if perhaps > 0 {
		t.line("The garbage collector deleted %s later for an unknown reason: perhaps because of this.", wording.Count(perhaps, "object"))
	}
	if (perhaps > 0 || c.Unexplained && c.By.Role == trace.RoleCollector) && !slices.ContainsFunc(t.report.Sources, func(s trace.Source) bool { return s.Form == trace.FormScan }) {
		detailed := slices.ContainsFunc(t.report.Sources, func(s trace.Source) bool { return s.Levels["RequestResponse"] > 0 })
		if detailed {
			t.line("A snapshot from before (--before) may show why.")
		} else {
			t.line("A snapshot from before (--before) or an audit log at level RequestResponse may show why.")
		}
	}
	t.circumstances()
	if c.Inferred > 0 {
		t.line("%s of %s: in no log, and inferred.", wording.Thousands(c.Inferred), wording.Count(c.Objects, "deletion"))
	}
	if parts := data(c); len(parts) > 0 {
		t.line("%s", t.Palette.Deleted("Among what went: "+strings.Join(parts, ", ")+"."))
	}
	for _, other := range t.report.Target.Others {
		was := "was"
		if other.Doubt != "" {
			was = "may have been"
		}
		t.line("Another %s %s deleted by %s at %s.", escape.Line(other.Object.String()), was, escape.Word(cmp.Or(other.By.String(), "someone unknown")), reason.Clock(other.At))
	}
	if c.Whole > 0 {
		holds := fmt.Sprintf("The audit log holds %s of %s in full", wording.Thousands(c.Whole), wording.Count(c.Objects, "object"))
		if t.Save == nil {
			t.line("%s.", holds)
		} else {
			t.next(holds+". To save them for restore", t.Save...)
		}
	}
	if slices.ContainsFunc(c.Deletions, func(d trace.Deletion) bool { return d.By.Role == trace.RoleThisTool }) || c.By.Role == trace.RoleThisTool {
		t.next("This tool made a backup before, unless it was told not to", "restore")
	}
	if root := &c.Deletions[0]; len(c.Deletions) < c.Objects && t.deletion != root {
		t.next("The whole cascade of "+wording.Count(c.Objects, "object"), slices.Concat([]string{"trace"}, t.named(root), t.Files)...)
	}
	if wrong {
		t.next("To find others like it", "audit", "--dangling", "-A")
	}
}

// circumstances writes those of what led to the target, and of it, each once, and what else is known of it.
func (t *targetWriter) circumstances() {
	notes := t.report.Notes
	for i := t.report.Target.Deletion; i >= 0; i = t.cascade.Deletions[i].Parent {
		notes = slices.Concat(t.cascade.Deletions[i].Circumstances, notes)
	}
	var said []string
	for _, n := range notes {
		if text := sentence(n.Reason); text != "" && !slices.Contains(said, text) {
			said = append(said, text)
			t.line("%s", text)
		}
	}
}

// proof returns what the claim about a request rests on.
func proof(b *trace.Basis) string {
	text := fmt.Sprintf("Evidence: %s at byte %d", escape.Word(b.File), b.Offset)
	if b.ID != "" {
		text += ", audit ID " + escape.Word(b.ID)
	}
	if b.Code != 0 {
		text += fmt.Sprintf(", HTTP %d", b.Code)
	}
	return text + ". No earlier request for it was read."
}

// identified returns who someone is, and what the log has about that.
func identified(a trace.Actor) string {
	text := escape.Word(cmp.Or(a.String(), "someone unknown"))
	var parts []string
	add := func(what, value string) {
		if value != "" && value != a.String() {
			parts = append(parts, what+escape.Word(value))
		}
	}
	if a.As == "" {
		add("user ", a.User)
	}
	add("groups ", wording.List(a.Groups, 5))
	add("with ", a.Agent)
	add("from ", wording.List(a.Addresses, 3))
	if len(parts) > 0 {
		text += " (" + strings.Join(parts, "; ") + ")"
	}
	return text
}
