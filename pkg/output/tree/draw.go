package tree

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/table"
)

// branch is a drawn row with what hangs under it.
type branch struct {
	row     Row
	below   []graph.Edge
	claimed bool // the row is a claim
	indent  string
	drawn   int // how many of below are
}

func (l *layout) root(n graph.Node) branch {
	return l.full(n, graph.Edge{Node: graph.None})
}

func (l *layout) claim(c claim) branch {
	edges := l.claimed[c]
	r := l.graph.Reference(edges[0])
	return branch{
		row: Row{
			Namespace: c.namespace, Name: claimed(l.judge.Reference(edges[0]), r), Node: graph.None, Edge: graph.Edge{Node: graph.None},
			Claim: &object.Reference{APIVersion: r.APIVersion, Kind: r.Kind, Name: r.Name, UID: r.UID},
			Notes: []Note{fault(l.judge.Reference(edges[0]))},
		},
		below: edges, claimed: true,
	}
}

// claimed is what a claimed owner is called: with its apiVersion where that is
// what is wrong.
func claimed(j collector.Judgement, r object.Reference) string {
	if j.Cause == collector.UnservedVersion || j.Cause == collector.UnknownKind {
		return r.String() + " (" + r.APIVersion + ")"
	}
	return r.String()
}

// full is the one row in which an object stands in full.
func (l *layout) full(n graph.Node, e graph.Edge) branch {
	l.printed.Add(n)
	l.open[n] = true
	b := branch{row: l.row(n, e), below: l.under[n]}
	b.row.Notes = l.notes(n, e)
	return b
}

func (l *layout) row(n graph.Node, e graph.Edge) Row {
	o := l.graph.Object(n)
	return Row{Namespace: o.Namespace, Name: o.String(), Node: n, Edge: e, Target: l.family.Targets.Has(n)}
}

// child is what a reference adds under the owner or claim above it.
func (l *layout) child(e graph.Edge, underClaim bool) branch {
	again := branch{row: l.row(e.Node, e)}
	again.row.Again = true
	j := l.judge.Reference(e)
	switch {
	case j.Bad() && !underClaim:
		where := "; see below"
		if l.printed.Has(e.Node) {
			where = "; see above"
		}
		again.row.Notes = []Note{{misnomer(j, l.graph.Reference(e)) + where, fault(j).Tone}}
	case l.open[e.Node]:
		again.row.Notes = []Note{{"↻ cycle: stands above", Bad}}
	case l.printed.Has(e.Node):
		again.row.Notes = []Note{{"→ see above", Plain}}
	default:
		return l.full(e.Node, e)
	}
	return again
}

// draw prints a row and, depth first, all that hangs under it.
func (l *layout) draw(root branch) {
	l.rows = append(l.rows, root.row)
	path := []branch{root}
	for len(path) > 0 {
		at := &path[len(path)-1]
		if at.drawn == len(at.below) {
			delete(l.open, at.row.Node)
			path = path[:len(path)-1]
			continue
		}
		child := l.child(at.below[at.drawn], at.claimed)
		at.drawn++
		child.row.Prefix, child.indent = table.Branch(at.indent, len(path), at.drawn == len(at.below))
		l.rows = append(l.rows, child.row)
		if !child.row.Again {
			path = append(path, child)
		}
	}
}
