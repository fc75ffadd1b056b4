package planview

import (
	"fmt"
	"io"
	"slices"
	"strings"

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
		rows = append(rows, unchangedRow(unchangedObject{labelBlocked, b.Object, b.Reason, palette.Changed}))
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
			if n.content == nil && !n.counts {
				return d.below(n.line)
			}
			return nil
		})
	}
	d.unchanged()
}

// unchanged adds the objects without a step: what stays, what is blocked, what is deleted
// later and what is left alone.
func (d *drawing) unchanged() {
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
	labelLater     unchangedLabel = "delete later"
	labelLeave     unchangedLabel = "leave"
)

// unchangedObject is an object without a step.
type unchangedObject struct {
	label  unchangedLabel
	object object.Identity
	why    reason.Reason
	paint  func(string) string
}

// eachUnchanged calls do with every object without a step.
func (d *drawing) eachUnchanged(do func(unchangedObject)) {
	p := d.layout.plan
	for _, r := range p.Retained {
		switch _, hasStep := d.layout.byObject[r.Object]; {
		case hasStep || d.layout.uncertain[r.Object] != nil:
		case r.Uncertain:
			do(unchangedObject{labelUnknown, r.Object, r.Reason, d.palette.Changed})
		default:
			do(unchangedObject{labelKeep, r.Object, r.Reason, d.palette.Kept})
		}
	}
	for i := range p.Outcomes {
		o := &p.Outcomes[i]
		if _, hasStep := d.layout.byObject[o.Object]; o.State == plan.Unchanged && !hasStep {
			do(unchangedObject{labelUncertain, o.Object, o.Nondeterministic.Reason, d.palette.Changed})
		}
	}
	for _, b := range p.Blocked {
		do(unchangedObject{labelBlocked, b.Object, b.Reason, d.palette.Changed})
	}
	for _, l := range p.DeletedLater {
		if d.layout.uncertain[l.Object] == nil {
			do(unchangedObject{labelLater, l.Object, l.Reason, d.palette.Changed})
		}
	}
	for _, k := range p.Kept {
		do(unchangedObject{labelLeave, k.Object, k.Reason, d.palette.Dim})
	}
}

func unchangedRow(u unchangedObject) Row {
	return Row{Label: u.paint(string(u.label)), Object: u.object, Name: u.paint(name(u.object)), Why: escape.Line(u.why.Message())}
}

// node is what has a row below another: a line, or contents of the line's object.
type node struct {
	line    int
	content *object.Identity // one of the contents; nil for another node
	counts  bool             // set if the row counts the contents
}

// below returns the nodes below a line: the contents of its object, then its children.
func (d *drawing) below(line int) []node {
	on := &d.layout.lines[line]
	var out []node
	switch {
	case d.listContents:
		for i := range on.contents {
			if !d.layout.pending[on.contents[i]] { // these are among the objects that are deleted later
				out = append(out, node{line: line, content: &on.contents[i]})
			}
		}
	case len(on.contents) > 0:
		out = append(out, node{line: line, counts: true})
	}
	for _, child := range on.children {
		out = append(out, node{line: child})
	}
	return out
}

// withContainer is why one of the contents of an object is deleted.
const withContainer = "deleted along with it"

func (d *drawing) row(n node) Row {
	switch {
	case n.counts:
		what, how := d.layout.contentsOf(n.line)
		return Row{sameAction: true, sameNamespace: true, Name: d.palette.Deleted(what), Why: how}
	case n.content != nil:
		why := d.whyContent(*n.content)
		if d.layout.terminating[*n.content] == nil {
			why = slices.Insert(why, 0, d.layout.whyAlong(n.line, *n.content))
		}
		return Row{
			Action: plan.ActionDelete, Label: word(plan.ActionDelete), sameAction: d.layout.main(n.line).Action == plan.ActionDelete, Object: *n.content,
			Name: d.palette.Deleted(name(*n.content)), Why: d.palette.Dim(strings.Join(why, "; ")),
		}
	}
	return d.line(n.line)
}

// whyContent returns what there is to say about one of the contents of an object besides that it
// is deleted along with it.
func (d *drawing) whyContent(o object.Identity) []string {
	var why []string
	if left := d.layout.terminating[o]; left != nil {
		why = append(why, waits(left))
	}
	if uncertain := d.layout.uncertain[o]; uncertain != nil {
		why = append(why, "uncertain: "+escape.Line(uncertain.Message()))
	}
	return why
}

func (d *drawing) line(i int) Row {
	s := d.layout.main(i)
	row := Row{
		Action: s.Action, Label: paint(s.Action, d.label(s), d.palette), Object: s.Object.Identity,
		Name: paint(s.Action, name(s.Object.Identity), d.palette), Why: d.layout.why(i, d.palette),
	}
	if why := d.layout.uncertain[s.Object.Identity]; why != nil {
		row.Why += "; uncertain: " + escape.Line(why.Message())
	}
	if parent := d.layout.lines[i].parent; parent != none {
		row.sameAction = d.layout.main(parent).Action == s.Action
		row.sameNamespace = d.layout.main(parent).Object.Namespace == s.Object.Namespace
	}
	return row
}

// label returns what a step means for its object: the preview of a deletion says what happens to
// objects, not which writes do it.
func (d *drawing) label(s *plan.Step) string {
	switch cascades := d.layout.plan.Mode.Cascades(); {
	case cascades && s.Action == plan.ActionUnlink:
		return "keep"
	case cascades && s.Action == plan.ActionRemoveFinalizer && !s.Requested:
		return word(plan.ActionDelete)
	}
	return word(s.Action)
}
