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
)

var headings = []string{"ACTION", "NAMESPACE", "OBJECT", "WHY"}

// Preview writes what the plan does: a tree with deletions first, then what stays, what is
// blocked and what is left alone. It counts the lines beyond limit; zero is no limit. It
// writes nothing for a plan that does nothing and has nothing blocked.
func Preview(w io.Writer, p *plan.Plan, limit int, palette *color.Palette) error {
	d := drawing{layout: newLayout(p), palette: palette, listContents: p.Mode == plan.Delete}
	total := d.draw(limit)
	if total == 0 {
		return nil
	}
	if err := table.Write(w, headings, cells(d.rows)); err != nil {
		return err
	}
	if more := total - len(d.rows); more > 0 {
		_, err := fmt.Fprintf(w, "… and %s; -o json names all\n", wording.Count(more, "more line"))
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
		rows = append(rows, unchangedRow("blocked", b.Object, b.Reason.Message(), palette.Changed))
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

	guide                     string // the branches before the name
	sameAction, sameNamespace bool   // as the row above it in the tree
}

// Rows returns all lines of a preview, with the contents of namespaces and
// CustomResourceDefinitions by name.
func Rows(p *plan.Plan) []Row {
	d := drawing{layout: newLayout(p), palette: color.New(color.Never, false, true), listContents: true}
	d.draw(0)
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
		out[i] = []string{label, where, r.guide + r.Name, r.Why}
	}
	return out
}

type drawing struct {
	layout       *layout
	palette      *color.Palette
	listContents bool // name the contents of namespaces and definitions, instead of counting them
	rows         []Row
	limit        int
}

// draw fills the rows, at most limit of them unless that is zero, and returns how many
// there are in all.
func (d *drawing) draw(limit int) int {
	unchanged := d.unchanged()
	total := len(d.layout.lines) + len(unchanged)
	for i := range d.layout.lines {
		switch n := len(d.layout.lines[i].contents); {
		case d.listContents:
			total += n
		case n > 0:
			total++
		}
	}
	d.limit = total
	if limit > 0 {
		d.limit = min(limit, total)
	}
	for _, root := range d.layout.roots {
		d.tree(root)
	}
	d.rows = append(d.rows, unchanged[:min(len(unchanged), d.limit-len(d.rows))]...)
	return total
}

func (d *drawing) full() bool { return len(d.rows) == d.limit }

// unchanged returns the rows of objects without a step: what stays, what is blocked, what is
// deleted later and what is left alone.
func (d *drawing) unchanged() []Row {
	hasStep := map[object.Identity]bool{}
	for i := range d.layout.lines {
		hasStep[d.layout.main(i).Object.Identity] = true
	}
	var out []Row
	p := d.layout.plan
	for i := range p.Retained {
		switch r := &p.Retained[i]; {
		case hasStep[r.Object]:
		case r.Uncertain:
			out = append(out, unchangedRow("unknown", r.Object, r.Reason.Message(), d.palette.Changed))
		default:
			out = append(out, unchangedRow("keep", r.Object, r.Reason.Message(), d.palette.Kept))
		}
	}
	for _, b := range p.Blocked {
		out = append(out, unchangedRow("blocked", b.Object, b.Reason.Message(), d.palette.Changed))
	}
	for _, l := range p.DeletedLater {
		out = append(out, unchangedRow("delete later", l.Object, l.Reason.Message(), d.palette.Changed))
	}
	for _, k := range p.Kept {
		out = append(out, unchangedRow("leave", k.Object, k.Reason.Message(), d.palette.Dim))
	}
	return out
}

func unchangedRow(label string, o object.Identity, why string, paint func(string) string) Row {
	return Row{Label: paint(label), Object: o, Name: paint(name(o)), Why: escape.Short(why, reasonWidth)}
}

// branch is a drawn line whose children are being drawn.
type branch struct {
	line   int
	indent string
	drawn  int // how many children are
}

// tree draws a line and, depth first, everything below it.
func (d *drawing) tree(root int) {
	if d.full() {
		return
	}
	d.line(root, "", 0)
	path := d.open(nil, branch{line: root})
	for len(path) > 0 && !d.full() {
		at := &path[len(path)-1]
		children := d.layout.lines[at.line].children
		if at.drawn == len(children) {
			path = path[:len(path)-1]
			continue
		}
		child := children[at.drawn]
		at.drawn++
		guide, indent := table.Branch(at.indent, len(path), at.drawn == len(children))
		d.line(child, guide, len(path))
		path = d.open(path, branch{line: child, indent: indent})
	}
}

// open adds a line to the path, and draws the contents of its object.
func (d *drawing) open(path []branch, at branch) []branch {
	path = append(path, at)
	on := &d.layout.lines[at.line]
	if d.listContents {
		for i, o := range on.contents {
			if d.full() {
				break
			}
			why := "deleted along with it"
			if left := d.layout.terminating[o]; left != nil {
				why = waits(left)
			}
			guide, _ := table.Branch(at.indent, len(path), len(on.children) == 0 && i == len(on.contents)-1)
			d.rows = append(d.rows, Row{
				Action: plan.ActionDelete, Label: d.label(plan.ActionDelete), sameAction: true, Object: o, Depth: len(path), guide: guide,
				Name: d.palette.Deleted(name(o)), Why: d.palette.Dim(why),
			})
		}
		return path
	}
	if what, how := d.layout.contentsOf(at.line); what != "" && !d.full() {
		guide, _ := table.Branch(at.indent, len(path), len(on.children) == 0)
		d.rows = append(d.rows, Row{sameAction: true, sameNamespace: true, Depth: len(path), guide: guide, Name: d.palette.Deleted(what), Why: how})
	}
	return path
}

func (d *drawing) line(i int, guide string, depth int) {
	s := d.layout.main(i)
	row := Row{
		Action: s.Action, Label: paint(s.Action, d.label(s.Action), d.palette), Object: s.Object.Identity, Depth: depth, guide: guide,
		Name: paint(s.Action, name(s.Object.Identity), d.palette), Why: d.layout.why(i, d.palette),
	}
	if parent := d.layout.lines[i].parent; parent != none {
		row.sameAction = d.layout.main(parent).Action == s.Action
		row.sameNamespace = d.layout.main(parent).Object.Namespace == s.Object.Namespace
	}
	d.rows = append(d.rows, row)
}

// label returns what an action means for the object: the preview of a deletion says what
// happens to objects, not which writes do it.
func (d *drawing) label(action plan.Action) string {
	switch deletion := d.layout.plan.Mode == plan.Delete; {
	case deletion && action == plan.ActionUnlink:
		return "keep"
	case deletion && action == plan.ActionRemoveFinalizer:
		return "delete"
	}
	return word(action)
}
