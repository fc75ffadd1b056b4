package planview

import (
	"fmt"
	"io"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/color"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/table"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

var headings = []string{"ACTION", "NAMESPACE", "OBJECT", "WHY"}

// Preview writes what the plan does as a tree of consequences: what is lost
// first, below each object what follows from it, and last what stays blocked or is
// left alone.
// Of more than limit lines the rest is only counted; a limit of zero is none.
// Nothing is written for a plan that does nothing and has nothing blocked.
func Preview(w io.Writer, p *plan.Plan, limit int, palette *color.Palette) error {
	d := drawing{layout: lay(p), palette: palette, dialect: dialectOf(p.Mode)}
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

// draw fills the rows, at most limit of them unless that is zero, and answers how
// many there are in all.
func (d *drawing) draw(limit int) int {
	fates := d.fates()
	total := len(d.lines) + len(fates)
	for i := range d.lines {
		total += d.alongside(i)
	}
	d.room = total
	if limit > 0 {
		d.room = min(limit, total)
	}
	for _, root := range d.roots {
		d.tree(root)
	}
	for _, f := range fates {
		d.fate(f)
	}
	return total
}

type drawing struct {
	*layout
	dialect
	palette *color.Palette
	rows    []Row
	room    int // how many rows there may be
}

func (d *drawing) full() bool { return len(d.rows) == d.room }

func (d *drawing) add(r Row) { d.rows = append(d.rows, r) }

// branch is a drawn line with what hangs under it.
type branch struct {
	line   int
	indent string
	drawn  int // how many of those below are
}

// tree draws a line and, depth first, all that hangs under it.
func (d *drawing) tree(root int) {
	if d.full() {
		return
	}
	d.line(root, "", 0)
	path := d.open(nil, branch{line: root})
	for len(path) > 0 && !d.full() {
		at := &path[len(path)-1]
		below := d.lines[at.line].below
		if at.drawn == len(below) {
			path = path[:len(path)-1]
			continue
		}
		child := below[at.drawn]
		at.drawn++
		guide, indent := table.Branch(at.indent, len(path), at.drawn == len(below))
		d.line(child, guide, len(path))
		path = d.open(path, branch{line: child, indent: indent})
	}
}

// open goes down to a line, and says first what is swept away with its object.
func (d *drawing) open(path []branch, at branch) []branch {
	path = append(path, at)
	below := len(d.lines[at.line].below)
	if d.members {
		members := d.lines[at.line].swept.members
		for i, o := range members {
			if d.full() {
				break
			}
			guide, _ := table.Branch(at.indent, len(path), below == 0 && i == len(members)-1)
			d.add(Row{
				Act: collector.ActionDelete, Action: d.word(collector.ActionDelete), said: true, Object: o, Depth: len(path), guide: guide,
				Name: d.palette.Goes(name(o)), Why: d.palette.Dim(d.goesAlong(o)),
			})
		}
		return path
	}
	if what, how := d.along(at.line); what != "" && !d.full() {
		guide, _ := table.Branch(at.indent, len(path), below == 0)
		d.add(Row{said: true, near: true, Depth: len(path), guide: guide, Name: d.palette.Goes(what), Why: how})
	}
	return path
}

// alongside is how many rows say what is swept away with a line's object.
func (d *drawing) alongside(i int) int {
	switch n := len(d.lines[i].swept.members); {
	case n == 0:
		return 0
	case d.members:
		return n
	}
	return 1
}

// line draws an object. Where it stands under another, it does not repeat what
// both have in common.
func (d *drawing) line(i int, guide string, depth int) {
	s := d.main(i)
	row := Row{
		Act: s.Action, Action: paint(s.Action, d.word(s.Action), d.palette), Object: s.Object.Identity, Depth: depth, guide: guide,
		Name: paint(s.Action, name(s.Object.Identity), d.palette), Why: d.why(i, d.palette),
	}
	if above := d.lines[i].above; above != none {
		row.said = d.main(above).Action == s.Action
		row.near = d.main(above).Object.Namespace == s.Object.Namespace
	}
	d.add(row)
}

// Held writes a line for each deletion that something holds up, and why. Nothing
// is written where nothing does.
func Held(w io.Writer, blocked []plan.Blocked, palette *color.Palette) error {
	if len(blocked) == 0 {
		return nil
	}
	d := drawing{palette: palette, room: mostLines}
	for i := range blocked {
		d.fate(fate{"blocked", blocked[i].Object, blocked[i].Reason.Message(), palette.Changes})
	}
	return table.Write(w, headings, cells(d.rows))
}
