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
		table.Tree(d.below(root), func(n node, depth int, branches string) []node {
			d.add(func() Row {
				row := d.row(n)
				row.Depth, row.branches = depth, branches
				return row
			})
			if n.counts {
				return nil
			}
			return d.below(n.line)
		})
	}
	d.eachUnchanged(func(u unchangedObject) {
		d.add(func() Row { return unchangedRow(u) })
	})
}

// unchangedLabel is what the first column of the preview says of an object without a step.
type unchangedLabel string

const (
	labelKeep      unchangedLabel = "keep"
	labelUnknown   unchangedLabel = "unknown"
	labelUncertain unchangedLabel = "uncertain"
	labelBlocked   unchangedLabel = "blocked"
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
		case hasStep || l.outcome(r.Object).Nondeterministic.Reason != nil:
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
	for _, k := range p.Kept {
		add(labelLeave, k.Object, k.Reason, d.palette.Dim)
	}
}

// shown reports whether a row about the deletion of an object says what blocks it.
func (d *drawing) shown(o object.Identity) bool {
	i, hasLine := d.layout.byObject[o]
	if hasLine && d.layout.lines[i].contents() == 1 {
		return d.listContents
	}
	return hasLine && (d.layout.lines[i].outcome != nil || d.layout.held(i) != "")
}

func unchangedRow(u unchangedObject) Row {
	return Row{Label: u.paint(string(u.label)), Object: u.object, Name: u.paint(name(u.object)), Why: u.why}
}

// node is what has a row below another: a line, or the number of the contents of the line's object.
type node struct {
	line   int
	counts bool // set if the row counts the contents
}

// below returns the nodes below a line: the contents of its object, then its children.
func (d *drawing) below(line int) []node {
	var out []node
	for _, child := range d.layout.lines[line].children {
		switch counted := !d.listContents && d.layout.lines[child].contents() == 1; {
		case !counted:
			out = append(out, node{line: child})
		case len(out) == 0:
			out = append(out, node{line: line, counts: true})
		}
	}
	return out
}

func (d *drawing) row(n node) Row {
	if n.counts {
		what, how := d.layout.contentsOf(n.line)
		return Row{sameAction: true, sameNamespace: true, Name: d.palette.Deleted(what), Why: how}
	}
	row, parent := d.line(n.line), d.layout.lines[n.line].parent
	row.sameAction = d.label(parent) == d.label(n.line)
	row.sameNamespace = d.layout.main(parent).Object.Namespace == row.Object.Namespace
	return row
}

func (d *drawing) line(i int) Row {
	s := d.layout.main(i)
	row := Row{
		Action: s.Action, Label: paint(s.Action, d.label(i), d.palette), Object: s.Object.Identity,
		Name: paint(s.Action, name(s.Object.Identity), d.palette), Why: d.layout.why(i, d.palette),
	}
	if d.label(i) == labelNextRun {
		row.Action = ""
	}
	return row
}

const (
	labelLater   = "then delete"
	labelNextRun = "next run"
)

// label returns what a line means for its object: the preview of a deletion says what happens to
// objects, not which writes do it.
func (d *drawing) label(i int) string {
	s, on := d.layout.main(i), &d.layout.lines[i]
	cascades := d.layout.plan.Mode.Cascades()
	switch later := d.layout.outcome(s.Object.Identity).When == plan.Later; {
	case later && on.outcome != nil && on.outcome.Follows == "" && !cascades:
		return labelNextRun
	case later && (on.outcome != nil || cascades && s.Action == plan.ActionUnlink):
		return labelLater
	case cascades && s.Action == plan.ActionUnlink:
		return "keep"
	case cascades && s.Action == plan.ActionRemoveFinalizer && !s.Requested:
		return word(plan.ActionDelete)
	}
	return word(s.Action)
}
