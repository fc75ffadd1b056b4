package planview

import (
	"fmt"
	"io"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/color"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/table"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

var (
	headings = []string{"ACTION", "NAMESPACE", "OBJECT", "WHY"}
	shrink   = []string{"WHY", "OBJECT", "NAMESPACE"} // on a narrow terminal
)

// Preview writes what the plan does: a tree with deletions first, then what stays, what is
// blocked and what is left alone. Beyond limit, it writes only what a person has to see by name, and
// counts the other lines, which it reports; zero is no limit. It writes nothing for a plan that does
// nothing and has nothing blocked.
func Preview(w io.Writer, p *plan.Plan, limit int, palette *color.Palette) (left int, err error) {
	d := drawing{layout: newLayout(p, palette), listContents: p.Mode.Cascades(), limit: limit, drawn: map[*line]bool{}}
	d.draw()
	if d.total == 0 {
		return 0, nil
	}
	if err := table.Write(w, headings, cells(d.rows), shrink...); err != nil {
		return 0, err
	}
	if left = d.total - len(d.rows); left > 0 {
		_, err = fmt.Fprintf(w, "… and %s: to see every line, use -o wide\n", wording.Count(left, "more line"))
	}
	return left, err
}

// Blocked writes a line for each blocked deletion, or nothing if there is none.
func Blocked(w io.Writer, blocked []plan.Blocked, palette *color.Palette) error {
	if len(blocked) == 0 {
		return nil
	}
	var rows []previewRow
	for _, b := range blocked[:min(len(blocked), maxLines)] {
		rows = append(rows, unchanged(labelBlocked, b.Object, b.Reason, palette.Changed))
	}
	return table.Write(w, headings, cells(rows), shrink...)
}

// previewRow is one line of a preview. Its text is escaped and shortened.
type previewRow struct {
	label    string          // what happens to the object, in a word
	painted  string          // the label, in color
	object   object.Identity // the zero value if the line counts objects
	branches string          // before the name
	name     string
	why      string

	sameLabel, sameNamespace bool // as its parent
}

// cells returns the rows of the table. A row repeats its label and namespace unless both its parent and the line above say so.
func cells(rows []previewRow) [][]string {
	out := make([][]string, len(rows))
	var above previewRow
	for i, r := range rows {
		if r.object.Name == "" {
			out[i] = []string{"", "", r.branches + r.name, r.why}
			continue
		}
		label, where := r.painted, namespace(r.object)
		if r.sameLabel && r.label == above.label {
			label = ""
		}
		if r.sameNamespace && r.object.Namespace == above.object.Namespace {
			where = ""
		}
		out[i], above = []string{label, where, r.branches + r.name, r.why}, r
	}
	return out
}

type drawing struct {
	*layout

	listContents bool // name the contents of namespaces and definitions, instead of counting them
	limit        int  // of rows; zero is no limit
	rows         []previewRow
	total        int // with the rows beyond the limit
	drawn        map[*line]bool
}

// maxNamed is how many rows beyond the limit are added for what a person has to see by name.
const maxNamed = 1000

// full reports whether the rows have reached the limit and so many more.
func (d *drawing) full(more int) bool { return d.limit > 0 && len(d.rows) >= d.limit+more }

// add adds a row about a line, or only counts it beyond the limit.
func (d *drawing) add(on *line, row func() previewRow) {
	d.total++
	if !d.full(0) {
		d.rows = append(d.rows, row())
		d.drawn[on] = true
	}
}

// draw adds the tree, then the objects without a step.
func (d *drawing) draw() {
	for _, root := range d.roots {
		d.add(root, func() previewRow { return d.row(root, d.why(root)) })
		table.Tree(d.below(root), func(n node, _ int, branches string) []node {
			d.add(n.line, func() previewRow {
				row := d.rowBelow(n)
				row.branches = branches
				return row
			})
			if n.counts {
				return nil
			}
			return d.below(n.line)
		})
	}
	if d.total > len(d.rows) {
		d.drawNamed()
	}
	d.eachUnchanged(func(r previewRow) {
		d.total++
		if !d.full(0) || r.label != labelKeep && r.label != labelLeave && !d.full(maxNamed) {
			d.rows = append(d.rows, r)
		}
	})
}

// drawNamed adds a row for each object beyond the limit that must not disappear into a number: what
// CriticalDeletions names, what is deleted although its reference is likely a mistake, what is blocked, and what
// cannot be predicted.
func (d *drawing) drawNamed() {
	for _, on := range d.lines {
		if d.drawn[on] || !d.named(on) || d.full(maxNamed) {
			continue
		}
		d.rows = append(d.rows, d.rowAlone(on))
		if on.contents() == 1 && !d.listContents { // its container counts it
			d.total++
		}
	}
}

// named reports whether the object of a line has a row beyond the limit.
func (l *layout) named(on *line) bool {
	o, out := on.object(), l.outcome(on.object())
	blocked := out.When == plan.Later && l.blocked[o] != nil
	return blocked || out.Nondeterministic != nil || out.State == plan.Terminating || l.deletes(on) && (critical(o) || slices.ContainsFunc(on.main.References, isMistake))
}

// isMistake reports whether a reference is likely wrong, so that its object is not garbage:
// something else has the owner's name or UID.
func isMistake(r plan.StepReference) bool {
	return r.State == reason.StateReplaced || r.State == reason.StateMismatched || r.State == reason.StateInOtherNamespace
}

// rowAlone returns the row of a line that is not below its cause. It counts the contents of
// the object.
func (d *drawing) rowAlone(on *line) previewRow {
	row := d.row(on, d.whyAlone(on))
	if what, how := contentsOf(on); what != "" {
		row.why += "; " + what + ": " + how
	}
	return row
}

// The labels of objects that have no step, or that are deleted after the run.
const (
	labelKeep      = "keep"
	labelUnknown   = "unknown"
	labelUncertain = "uncertain"
	labelBlocked   = "blocked"
	labelLeave     = "leave"
	labelLater     = "then delete"
	labelNextRun   = "next run"
)

// unchanged returns the row of an object without a step.
func unchanged(label string, o object.Identity, why *reason.Reason, paint func(string) string) previewRow {
	return previewRow{label: label, painted: paint(label), object: o, name: paint(name(o)), why: escape.Line(why.Message())}
}

// eachUnchanged calls do with the row of every object without a step.
func (d *drawing) eachUnchanged(do func(previewRow)) {
	add := func(label string, o object.Identity, why *reason.Reason, paint func(string) string) {
		do(unchanged(label, o, why, paint))
	}
	for _, r := range d.plan.Retained {
		switch {
		case d.byObject[r.Object] != nil || d.outcome(r.Object).Nondeterministic != nil:
		case r.Uncertain:
			add(labelUnknown, r.Object, r.Reason, d.palette.Changed)
		default:
			add(labelKeep, r.Object, r.Reason, d.palette.Kept)
		}
	}
	for i := range d.plan.Outcomes {
		o := &d.plan.Outcomes[i]
		if o.State == plan.Unchanged && d.byObject[o.Object] == nil {
			add(labelUncertain, o.Object, o.Nondeterministic, d.palette.Changed)
		}
	}
	for _, b := range d.plan.Blocked {
		if !d.shown(b.Object) {
			add(labelBlocked, b.Object, b.Reason, d.palette.Changed)
		}
	}
	for _, k := range d.plan.Kept {
		add(labelLeave, k.Object, k.Reason, d.palette.Dim)
	}
}

// shown reports whether a row about the deletion of an object says what blocks it.
func (d *drawing) shown(o object.Identity) bool {
	on := d.byObject[o]
	if on != nil && on.contents() == 1 {
		return d.listContents
	}
	return on != nil && (on.outcome != nil || d.held(on) != "")
}

// node is what has a row below another: a line, or the number of the contents of the line's object.
type node struct {
	line   *line
	counts bool // set if the row counts the contents
}

// below returns the nodes below a line: the contents of its object, then its children.
func (d *drawing) below(on *line) []node {
	var out []node
	for _, child := range on.children {
		switch counted := !d.listContents && child.contents() == 1; {
		case !counted:
			out = append(out, node{line: child})
		case len(out) == 0:
			out = append(out, node{line: on, counts: true})
		}
	}
	return out
}

// rowBelow returns the row of a node below another.
func (d *drawing) rowBelow(n node) previewRow {
	if n.counts {
		what, how := contentsOf(n.line)
		return previewRow{name: d.palette.Deleted(what), why: how}
	}
	row := d.row(n.line, d.why(n.line))
	row.sameLabel = d.label(n.line.parent) == d.label(n.line)
	row.sameNamespace = n.line.parent.object().Namespace == row.object.Namespace
	return row
}

func (d *drawing) row(on *line, why string) previewRow {
	action, label := on.main.Action, d.label(on)
	return previewRow{
		label: label, painted: paint(action, label, d.palette), object: on.object(),
		name: paint(action, name(on.object()), d.palette), why: why,
	}
}

// label returns what a line means for its object: the preview of a deletion says what happens to
// objects, not which writes do it.
func (d *drawing) label(on *line) string {
	s, cascades := on.main, d.plan.Mode.Cascades()
	switch later := d.outcome(on.object()).When == plan.Later; {
	case later && on.outcome != nil && on.outcome.Follows == "" && !cascades:
		return labelNextRun
	case later && (on.outcome != nil || cascades && s.Action == plan.ActionUnlink):
		return labelLater
	case cascades && s.Action == plan.ActionUnlink:
		return labelKeep
	case cascades && s.Action == plan.ActionRemoveFinalizer && !s.Requested:
		return word(plan.ActionDelete)
	}
	return word(s.Action)
}
