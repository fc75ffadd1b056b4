// Package traceview writes for a person who deleted what: a table of cascades, or one cascade as a tree
// with times, in UTC. Text of logs is escaped and shortened here.
package traceview

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
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
		if c.Unexplained || c.By.Role == trace.RoleCollector {
			notes = append(notes, brief(c.Root))
		}
		rows = append(rows, []string{dated(cmp.Or(c.At, c.From)), v.root(c), who(c.By), wording.Thousands(c.Objects), took, strings.Join(notes, "; ")})
	}
	if len(rows) == 0 {
		if _, err := fmt.Fprintln(w, "No deletion is in the logs."); err != nil {
			return err
		}
		return v.Coverage(w, r)
	}
	header, rows = table.DropEmpty(header, rows, "TOOK", "NOTE")
	if err := table.Write(w, header, rows, "NOTE", "DELETED", "BY", "WHEN (UTC)"); err != nil {
		return err
	}
	if more := len(r.Cascades) - len(shown); more > 0 {
		fmt.Fprintf(w, "+ %s smaller ones: -o wide\n", wording.Thousands(more))
	}
	if err := v.Coverage(w, r); err != nil {
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

// Coverage writes what the evidence is.
func (v View) Coverage(w io.Writer, r *trace.Report) error {
	parts := []string{}
	if r.Requests > 0 {
		parts = append(parts, wording.Count(r.Requests, "write")+" in the audit log")
	}
	if r.Lines > 0 {
		parts = append(parts, wording.Count(r.Lines, "garbage collector line"))
	}
	text := cmp.Or(strings.Join(parts, ", "), "no write and no line of the garbage collector")
	if !r.From.IsZero() {
		text += ", from " + wording.Time(r.From) + " to " + wording.Time(r.To)
	}
	if !r.Before.IsZero() {
		text += "; a snapshot of " + wording.Time(r.Before)
	}
	_, err := fmt.Fprintf(w, "Read: %s.\n", text)
	return err
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
	return t.UTC().Format("2006-01-02 15:04:05")
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
	return v.Coverage(w, r)
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
	if by := d.By.String(); by != "" {
		text += " by " + escape.Word(by)
	}
	if d.At.IsZero() {
		text += ", at a time that is not in the logs."
	} else {
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
	if root && d.By.Role != trace.RoleCollector {
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
	case c.Unexplained && strings.HasPrefix(why, "unknown"):
		t.line("Who began it is %s.", why)
	case c.Unexplained:
		t.line("Who began it is not in the logs: %s.", why)
	default:
		t.line("Started by %s.", identified(c.By))
	}
	perhaps := t.report.Target.Perhaps
	if perhaps > 0 {
		t.line("The garbage collector deleted %s later for an unknown reason: perhaps because of this.", wording.Count(perhaps, "object"))
	}
	if (perhaps > 0 || c.Unexplained && c.By.Role == trace.RoleCollector) && t.report.Before.IsZero() {
		t.line("A snapshot from before (--before) or an audit log at level RequestResponse may show why.")
	}
	t.circumstances()
	if c.Inferred > 0 {
		t.line("For %s of %s it is inferred that it went, or what it came from: no log shows it.", wording.Thousands(c.Inferred), wording.Count(c.Objects, "object"))
	}
	if parts := data(c); len(parts) > 0 {
		t.line("%s", t.Palette.Deleted("Among what went: "+strings.Join(parts, ", ")+"."))
	}
	for _, other := range t.report.Target.Others {
		t.line("Another %s was deleted by %s at %s.", escape.Line(other.Object.String()), escape.Word(cmp.Or(other.By.String(), "someone unknown")), wording.Time(other.At))
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

// circumstances writes those of the root and of the target, each once.
func (t *targetWriter) circumstances() {
	var said []string
	for _, d := range []*trace.Deletion{&t.cascade.Deletions[0], t.deletion} {
		for _, n := range d.Circumstances {
			text := escape.Sentence(reason.Message(n.Reason))
			if text != "" && !slices.Contains(said, text) {
				said = append(said, text)
				t.line("%s.", strings.ToUpper(text[:1])+text[1:])
			}
		}
	}
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
	add("user ", a.User)
	add("groups ", wording.List(a.Groups, 5))
	add("impersonated by ", a.Impersonator)
	add("with ", a.Agent)
	add("from ", wording.List(a.Addresses, 3))
	if len(parts) > 0 {
		text += " (" + strings.Join(parts, "; ") + ")"
	}
	return text
}
