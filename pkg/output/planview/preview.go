package planview

import (
	"fmt"
	"io"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/color"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/table"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

var headings = []string{"ACTION", "NAMESPACE", "OBJECT", "WHY"}

// Preview writes what the plan does: a tree with deletions first, then what stays, what is
// blocked and what is left alone. It counts the lines beyond limit; zero is no limit. It
// writes nothing for a plan that does nothing and has nothing blocked.
func Preview(w io.Writer, p *plan.Plan, limit int, palette *color.Palette) error {
	d := drawing{layout: newLayout(p), palette: palette, listContents: p.Mode.Cascades(), limit: limit}
	d.draw()
	return d.writeRows(w)
}

// writeRows writes the rows as a table, and counts those beyond the limit. It writes nothing
// if there are none.
func (d *drawing) writeRows(w io.Writer) error {
	if d.total == 0 {
		return nil
	}
	if err := table.Write(w, headings, cells(d.rows)); err != nil {
		return err
	}
	if more := d.total - len(d.rows); more > 0 {
		_, err := fmt.Fprintf(w, "… and %s: to see every line, use -o wide\n", wording.Count(more, "more line"))
		return err
	}
	return nil
}

// Blocked writes a line for each blocked deletion, or nothing if there is none.
func Blocked(w io.Writer, blocked []plan.Blocked, palette *color.Palette) error {
	if len(blocked) == 0 {
		return nil
	}
	var rows []Row
	for _, b := range blocked[:min(len(blocked), maxLines)] {
		rows = append(rows, unchangedRow(unchangedObject{labelBlocked, b.Object, escape.Line(b.Reason.Message()), palette.Changed}))
	}
	return table.Write(w, headings, cells(rows))
}

// Row is one line of a preview. Its text is escaped and shortened.
type Row struct {
	Action plan.Action     // empty if nothing is done to the object
	Label  string          // what happens to the object, in a word
	Object object.Identity // the zero value if the line counts objects
	Name   string
	Why    string
	Depth  int // below a root

	branches                  string // before the name
	sameAction, sameNamespace bool   // as the row above it in the tree
}

// Rows returns all lines of a preview, with the contents of namespaces and
// CustomResourceDefinitions by name.
func Rows(p *plan.Plan) []Row {
	d := drawing{layout: newLayout(p), palette: color.New(color.Never, false, true), listContents: true}
	d.draw()
	return d.rows
}

// cells returns the rows of the table. A row does not repeat what its parent says.
func cells(rows []Row) [][]string {
	out := make([][]string, len(rows))
	for i, r := range rows {
		label, where := r.Label, namespace(r.Object)
		if r.sameAction {
			label = ""
		}
		if r.sameNamespace {
			where = ""
		}
		out[i] = []string{label, where, r.branches + r.Name, r.Why}
	}
	return out
}

type drawing struct {
	layout       *layout
	palette      *color.Palette
	listContents bool // name the contents of namespaces and definitions, instead of counting them
	limit        int  // of rows; zero is no limit
	rows         []Row
	total        int // with the rows beyond the limit
}

// add adds a row, or only counts it beyond the limit.
func (d *drawing) add(row func() Row) {
	d.total++
	if d.limit == 0 || len(d.rows) < d.limit {
		d.rows = append(d.rows, row())
	}
}

// draw adds the tree, then the objects without a step.
func (d *drawing) draw() {
	for _, root := range d.layout.roots {
		d.add(func() Row { return d.line(root) })
		d.drawBelow(d.below(root))
	}
	d.unchanged()
}

func (d *drawing) drawBelow(top []node) {
	table.Tree(top, func(n node, depth int, branches string) []node {
		d.add(func() Row {
			row := d.row(n)
			row.Depth, row.branches = depth, branches
			return row
		})
		switch {
		case n.counts:
			return nil
		case n.content != nil:
			return d.outcomesBelow(n.line, n.content.Object)
		}
		return d.below(n.line)
	})
}

// unchanged adds the objects without a step: what stays, what is blocked, what is deleted
// later and what is left alone.
func (d *drawing) unchanged() {
	d.eachUnchanged(func(u unchangedObject) {
		d.add(func() Row { return unchangedRow(u) })
		if u.label == labelLater {
			d.drawBelow(d.outcomesBelow(none, u.object))
		}
	})
}

// unchangedLabel is what the first column of the preview says of an object without a step.
type unchangedLabel string

const (
	labelKeep      unchangedLabel = "keep"
	labelUnknown   unchangedLabel = "unknown"
	labelUncertain unchangedLabel = "uncertain"
	labelBlocked   unchangedLabel = "blocked"
	labelLater     unchangedLabel = "then delete"
	labelNextRun   unchangedLabel = "next run"
	labelLeave     unchangedLabel = "leave"
)

// unchangedObject is an object without a step.
type unchangedObject struct {
	label  unchangedLabel
	object object.Identity
	why    string
	paint  func(string) string
}

// eachUnchanged calls do with every object without a step.
func (d *drawing) eachUnchanged(do func(unchangedObject)) {
	l, p := d.layout, d.layout.plan
	add := func(label unchangedLabel, o object.Identity, why reason.Reason, paint func(string) string) {
		do(unchangedObject{label, o, escape.Line(why.Message()), paint})
	}
	for _, r := range p.Retained {
		switch _, hasStep := l.byObject[r.Object]; {
		case hasStep || l.uncertain(r.Object) != nil:
		case r.Uncertain:
			add(labelUnknown, r.Object, r.Reason, d.palette.Changed)
		default:
			add(labelKeep, r.Object, r.Reason, d.palette.Kept)
		}
	}
	for i := range p.Outcomes {
		o := &p.Outcomes[i]
		if _, hasStep := l.byObject[o.Object]; o.State == plan.Unchanged && !hasStep {
			add(labelUncertain, o.Object, o.Nondeterministic.Reason, d.palette.Changed)
		}
	}
	for _, b := range p.Blocked {
		if !d.shown(b.Object) {
			add(labelBlocked, b.Object, b.Reason, d.palette.Changed)
		}
	}
	for _, o := range l.alone {
		label := labelLater
		if o.Follows == "" && !p.Mode.Cascades() {
			label = labelNextRun
		}
		do(unchangedObject{label, o.Object, l.whyWithout(o, none, object.Identity{}), d.palette.Changed})
	}
	for _, k := range p.Kept {
		add(labelLeave, k.Object, k.Reason, d.palette.Dim)
	}
}

// shown reports whether a row about the deletion of an object says what blocks it.
func (d *drawing) shown(o object.Identity) bool {
	out := d.layout.outcomes[o]
	if line, hasStep := d.layout.byObject[o]; hasStep {
		return d.layout.held(line) != ""
	}
	return out != nil && out.State.Deletes() && (d.listContents || out.When == plan.Later)
}

func unchangedRow(u unchangedObject) Row {
	return Row{Label: u.paint(string(u.label)), Object: u.object, Name: u.paint(name(u.object)), Why: u.why}
}

// node is what has a row below another: a line, or contents of the line's object.
type node struct {
	line    int           // or none
	content *plan.Outcome // an object without a line; nil for another node
	counts  bool          // set if the row counts the contents
	// above is the object of the row above it, and label the first column of that.
	above object.Identity
	label string
}

// below returns the nodes below a line: the contents of its object, then its children.
func (d *drawing) below(line int) []node {
	on := d.layout.main(line)
	out := d.outcomesBelow(line, on.Object.Identity)
	if !d.listContents && len(out) > 0 {
		out = []node{{line: line, counts: true}}
	}
	for _, child := range d.layout.lines[line].children {
		out = append(out, node{line: child, above: on.Object.Identity, label: d.label(on)})
	}
	return out
}

// outcomesBelow returns the nodes of what has no line and is deleted because of an object.
func (d *drawing) outcomesBelow(line int, o object.Identity) []node {
	var out []node
	for _, content := range d.layout.below[o] {
		out = append(out, node{line: line, content: content, above: o, label: d.labelOf(o)})
	}
	return out
}

func (d *drawing) row(n node) Row {
	switch {
	case n.counts:
		what, how := d.layout.contentsOf(n.line)
		return Row{sameAction: true, sameNamespace: true, Name: d.palette.Deleted(what), Why: how}
	case n.content != nil:
		o := n.content.Object
		label := d.labelOf(o)
		return Row{
			Action: plan.ActionDelete, Label: d.palette.Deleted(label), sameAction: n.label == label, sameNamespace: n.above.Namespace == o.Namespace, Object: o,
			Name: d.palette.Deleted(name(o)), Why: d.palette.Dim(d.layout.whyWithout(n.content, n.line, n.above)),
		}
	}
	row := d.line(n.line)
	row.sameAction = n.label == d.label(d.layout.main(n.line))
	row.sameNamespace = n.above.Namespace == row.Object.Namespace
	return row
}

func (d *drawing) line(i int) Row {
	s := d.layout.main(i)
	return Row{
		Action: s.Action, Label: paint(s.Action, d.label(s), d.palette), Object: s.Object.Identity,
		Name: paint(s.Action, name(s.Object.Identity), d.palette), Why: d.layout.why(i, d.palette),
	}
}

// label returns what a step means for its object: the preview of a deletion says what happens to
// objects, not which writes do it.
func (d *drawing) label(s *plan.Step) string {
	switch cascades := d.layout.plan.Mode.Cascades(); {
	case cascades && s.Action == plan.ActionUnlink && d.layout.later(s.Object.Identity) != nil:
		return string(labelLater)
	case cascades && s.Action == plan.ActionUnlink:
		return "keep"
	case cascades && s.Action == plan.ActionRemoveFinalizer && !s.Requested:
		return word(plan.ActionDelete)
	}
	return word(s.Action)
}

// labelOf returns the first column of an object that is deleted.
func (d *drawing) labelOf(o object.Identity) string {
	line, hasStep := d.layout.byObject[o]
	switch {
	case hasStep:
		return d.label(d.layout.main(line))
	case d.layout.later(o) != nil:
		return string(labelLater)
	}
	return word(plan.ActionDelete)
}
