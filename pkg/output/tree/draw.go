package tree

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/table"
)

// branch is a drawn row whose children are being drawn.
type branch struct {
	row      Row
	children []graph.Edge
	claimed  bool // the row is a claim
	indent   string
	drawn    int // how many of the children are
}

func (l *layout) root(n graph.Node) branch {
	return l.full(n, graph.Edge{Node: graph.None})
}

func (l *layout) claim(c claim) branch {
	edges := l.claimed[c]
	r := l.graph.Reference(edges[0])
	return branch{
		row: Row{
			Namespace: c.namespace, Name: claimName(l.judge.Reference(edges[0]), r), Node: graph.None, Edge: graph.Edge{Node: graph.None},
			Claim: &object.Reference{APIVersion: r.APIVersion, Kind: r.Kind, Name: r.Name, UID: r.UID},
			Notes: []Note{problem(l.judge.Reference(edges[0]))},
		},
		children: edges, claimed: true,
	}
}

// claimName returns the name of a claimed owner, with its apiVersion if that is what is
// wrong.
func claimName(j collector.Judgement, r object.Reference) string {
	if j.Cause == collector.CauseUnservedVersion || j.Cause == collector.CauseUnknownKind {
		return r.String() + " (" + r.APIVersion + ")"
	}
	return r.String()
}

// full returns the only row that shows an object in full.
func (l *layout) full(n graph.Node, e graph.Edge) branch {
	l.printed.Add(n)
	l.open[n] = true
	b := branch{row: l.row(n, e), children: l.children[n]}
	b.row.Notes = l.notes(n, e)
	return b
}

func (l *layout) row(n graph.Node, e graph.Edge) Row {
	o := l.graph.Object(n)
	return Row{Namespace: o.Namespace, Name: o.String(), Node: n, Edge: e, Target: l.family.Targets.Has(n)}
}

// child returns the row that a reference adds below an owner or claim.
func (l *layout) child(e graph.Edge, underClaim bool) branch {
	repeated := branch{row: l.row(e.Node, e)}
	repeated.row.Repeated = true
	j := l.judge.Reference(e)
	switch {
	case j.Broken() && !underClaim:
		where := "; see below"
		if l.printed.Has(e.Node) {
			where = "; see above"
		}
		repeated.row.Notes = []Note{{wrongOwnerNote(j, l.graph.Reference(e)) + where, problem(j).Tone}}
	case l.open[e.Node]:
		repeated.row.Notes = []Note{{"↻ cycle: shown above", Bad}}
	case l.printed.Has(e.Node):
		repeated.row.Notes = []Note{{"→ see above", Plain}}
	default:
		return l.full(e.Node, e)
	}
	return repeated
}

// draw adds a row and, depth first, everything below it.
func (l *layout) draw(root branch) {
	l.rows = append(l.rows, root.row)
	path := []branch{root}
	for len(path) > 0 {
		at := &path[len(path)-1]
		if at.drawn == len(at.children) {
			delete(l.open, at.row.Node)
			path = path[:len(path)-1]
			continue
		}
		child := l.child(at.children[at.drawn], at.claimed)
		at.drawn++
		child.row.Prefix, child.indent = table.Branch(at.indent, len(path), at.drawn == len(at.children))
		l.rows = append(l.rows, child.row)
		if !child.row.Repeated {
			path = append(path, child)
		}
	}
}
