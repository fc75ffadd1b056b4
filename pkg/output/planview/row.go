package planview

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/color"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// Row is one line of a preview. Its text is escaped and shortened.
type Row struct {
	Act    collector.Action // empty where nothing is done to the object
	Action string           // what becomes of the object, in a word
	Object object.Identity  // the zero value where the line only counts objects
	Name   string
	Why    string
	Depth  int // how far below a root, of which it is a consequence

	guide      string // the branches that lead to it
	said, near bool   // the line above it has the same action, the same namespace
}

// Rows are all lines of a preview, for who shows them otherwise than in a table. What
// goes along with a namespace or a definition is named one by one.
func Rows(p *plan.Plan) []Row {
	d := drawing{layout: lay(p), palette: color.New(color.Never, false, true), dialect: dialectOf(p.Mode)}
	d.members = true
	d.draw(0)
	return d.rows
}

// cells are the rows as a table has them. Where one stands under another, it does not
// repeat what both have in common.
func cells(rows []Row) [][]string {
	out := make([][]string, len(rows))
	for i, r := range rows {
		action, where := r.Action, namespace(r.Object)
		if r.said {
			action = ""
		}
		if r.near {
			where = ""
		}
		out[i] = []string{action, where, r.guide + r.Name, r.Why}
	}
	return out
}
