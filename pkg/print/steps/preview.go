package steps

import (
	"fmt"
	"io"

	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/print/color"
	"github.com/kubectl-gc/kubectl-gc/pkg/print/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/print/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/print/table"
)

// Preview writes what the plan does as a tree of consequences: what is lost
// first, below each object what follows from it, and last what stays blocked or is
// left alone.
// Of more than limit lines the rest is only counted; a limit of zero is none.
// Nothing is written for a plan that does nothing and has nothing blocked.
func Preview(w io.Writer, p *plan.Plan, limit int, palette *color.Palette) error {
	l := lay(p)
	total := len(l.lines) + len(p.Blocked) + len(p.Kept)
	for i := range l.lines {
		if len(l.lines[i].swept.members) > 0 {
			total++
		}
	}
	if total == 0 {
		return nil
	}
	d := drawing{layout: l, palette: palette, room: total}
	if limit > 0 {
		d.room = min(limit, total)
	}
	for _, root := range l.roots {
		d.tree(root)
	}
	for i := range p.Blocked {
		d.blocked(&p.Blocked[i])
	}
	for i := range p.Kept {
		d.kept(&p.Kept[i])
	}
	if err := table.Write(w, []string{"ACTION", "NAMESPACE", "OBJECT", "WHY"}, d.rows); err != nil {
		return err
	}
	if more := total - len(d.rows); more > 0 {
		_, err := fmt.Fprintf(w, "… and %s; -o json names all\n", phrase.Count(more, "more line"))
		return err
	}
	return nil
}

type drawing struct {
	*layout
	palette *color.Palette
	rows    [][]string
	room    int // how many rows there may be
}

func (d *drawing) full() bool { return len(d.rows) == d.room }

func (d *drawing) add(row ...string) { d.rows = append(d.rows, row) }

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
	d.line(root, "")
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
		d.line(child, guide)
		path = d.open(path, branch{line: child, indent: indent})
	}
}

// open goes down to a line, and says first what is swept away with its object.
func (d *drawing) open(path []branch, at branch) []branch {
	path = append(path, at)
	if what, how := d.along(at.line); what != "" && !d.full() {
		guide, _ := table.Branch(at.indent, len(path), len(d.lines[at.line].below) == 0)
		d.add("", "", guide+d.palette.Goes(what), how)
	}
	return path
}

// line draws an object. Where it stands under another, it does not repeat what
// both have in common.
func (d *drawing) line(i int, guide string) {
	s := d.main(i)
	action, where := word(s.Action), namespace(s.Object.Identity)
	if above := d.lines[i].above; above != none {
		if d.main(above).Action == s.Action {
			action = ""
		}
		if d.main(above).Object.Namespace == s.Object.Namespace {
			where = ""
		}
	}
	d.add(paint(s.Action, action, d.palette), where, guide+paint(s.Action, name(s.Object.Identity), d.palette), d.why(i, d.palette))
}

func (d *drawing) blocked(b *plan.Blocked) {
	if !d.full() {
		d.add(d.palette.Changes("blocked"), namespace(b.Object), d.palette.Changes(name(b.Object)), escape.Short(b.Reason, reasonWidth))
	}
}

func (d *drawing) kept(k *plan.Kept) {
	if !d.full() {
		d.add(d.palette.Dim("leave"), namespace(k.Object), name(k.Object), escape.Short(k.Reason, reasonWidth))
	}
}
