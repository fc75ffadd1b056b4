// Package tree lays out objects with their owners and dependents as an indented tree, and
// notes what is unusual about each row. Each object has one full row, below the first of
// its owners; below its other owners a row refers to it. An owner that is missing, or that
// a bad reference names, has a row of its own. A cycle ends with a mark. Layout is linear
// in the references and does not recurse. Rows are not escaped; RowView.Write escapes them.
package tree

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/table"
)

// Family is what a tree shows.
type Family struct {
	Members graph.Set
	Targets graph.Set
}

// Row is one line of a tree.
type Row struct {
	Prefix    string // the branches before the name
	Namespace string
	Name      string     // Kind/name
	Node      graph.Node // graph.None for an owner that is only claimed
	Repeated  bool       // refers to the full row of the object
	Edge      graph.Edge // the reference to the row above it; its Node is graph.None for a root
	Target    bool
	Claim     *object.Identity // of an owner that is only claimed
	Notes     []Note
}

// Note is a remark on a row.
type Note struct {
	Text string
	Tone Tone
}

// Tone is how serious a note is. It decides the colour.
type Tone int

// The tones.
const (
	Plain Tone = iota
	Waits      // waits, changes or is unknown
	Bad        // is not an owner, or is terminating
)

// Layout returns the rows of the family: trees by namespace, kind and name, then owners
// that are only claimed, then cycles without an owner above them. Ages are measured from
// now.
func Layout(g *graph.Graph, judge *collector.Judge, family Family, now time.Time) []Row {
	l := &familyLayout{
		graph: g, judge: judge, family: family, now: now,
		children: map[graph.Node][]graph.Edge{}, claimed: map[object.Identity][]graph.Edge{},
		owned: graph.NewSet(g), printed: graph.NewSet(g), open: map[graph.Node]bool{},
	}
	l.attach()
	for _, n := range l.members {
		if !l.owned.Has(n) {
			l.drawRoot(n)
		}
	}
	claims := slices.Collect(maps.Keys(l.claimed))
	slices.SortFunc(claims, compareClaims)
	for _, claim := range claims {
		l.drawClaim(claim)
	}
	for _, n := range l.members {
		if !l.printed.Has(n) {
			l.drawRoot(n)
		}
	}
	return l.rows
}

type familyLayout struct {
	graph  *graph.Graph
	judge  *collector.Judge
	family Family
	now    time.Time

	members  []graph.Node                // existing ones, by namespace, kind and name
	children map[graph.Node][]graph.Edge // per member
	owned    graph.Set                   // members with a parent
	// claimed has the children of each owner as references name it, at a place where it does
	// not exist.
	claimed map[object.Identity][]graph.Edge

	printed graph.Set           // those with a full row
	open    map[graph.Node]bool // printed, with children still to print
	rows    []Row
}

// attach puts every reference below the owner or claim that it belongs to. A bad reference
// is below its claim, and also below the object that has its UID.
func (l *familyLayout) attach() {
	for _, n := range l.family.Members.Nodes() {
		if l.graph.Object(n) == nil {
			continue
		}
		l.members = append(l.members, n)
		for i, owner := range l.graph.Owners(n) {
			e := graph.Edge{Node: n, Index: i}
			j := l.judge.Reference(e)
			inFamily := l.family.Members.Has(owner) && l.graph.Object(owner) != nil
			if inFamily {
				l.children[owner] = appendOnce(l.children[owner], e)
			}
			if j.Broken() {
				claim := l.claimOf(e, j)
				l.claimed[claim] = appendOnce(l.claimed[claim], e)
			}
			if j.Broken() || inFamily {
				l.owned.Add(n)
			}
		}
	}
	slices.SortStableFunc(l.members, func(a, b graph.Node) int {
		return strings.Compare(l.graph.Object(a).Namespace, l.graph.Object(b).Namespace)
	})
}

// appendOnce omits the second of two references from one object to one owner.
func appendOnce(edges []graph.Edge, e graph.Edge) []graph.Edge {
	if last := len(edges) - 1; last >= 0 && edges[last].Node == e.Node {
		return edges
	}
	return append(edges, e)
}

// claimOf returns the owner that a bad reference names.
func (l *familyLayout) claimOf(e graph.Edge, j collector.Judgement) object.Identity {
	r := l.graph.Reference(e)
	claim := r.OwnerIn(l.graph.Object(e.Node).Namespace)
	if j.Mapping.Served && !j.Mapping.Type.Namespaced {
		claim.Namespace = ""
	}
	if j.Cause == collector.CauseClusterToNamespaced {
		claim.Namespace = "?" // it needs one, and the reference cannot say which
	}
	return claim
}

// compareClaims orders claims as their rows are ordered.
func compareClaims(a, b object.Identity) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Kind, b.Kind),
		cmp.Compare(a.Name, b.Name), cmp.Compare(a.APIVersion, b.APIVersion), cmp.Compare(a.UID, b.UID))
}

func (l *familyLayout) drawRoot(n graph.Node) {
	l.draw(l.full(n, graph.Edge{Node: graph.None}), l.children[n])
}

func (l *familyLayout) drawClaim(claim object.Identity) {
	edges := l.claimed[claim]
	j := l.judge.Reference(edges[0])
	row := Row{
		Namespace: claim.Namespace, Name: claim.String(), Node: graph.None, Edge: graph.Edge{Node: graph.None},
		Claim: &claim, Notes: []Note{problem(j)},
	}
	if j.Cause == collector.CauseUnservedVersion || j.Cause == collector.CauseUnknownKind {
		row.Name += " (" + claim.APIVersion + ")"
	}
	l.draw(row, edges)
}

// draw adds a row and, depth first, everything below it.
func (l *familyLayout) draw(root Row, children []graph.Edge) {
	l.rows = append(l.rows, root)
	path := []graph.Node{root.Node}
	table.Tree(children, func(e graph.Edge, depth int, branches string) []graph.Edge {
		for _, closed := range path[depth:] {
			delete(l.open, closed)
		}
		path = path[:depth]
		row := l.child(e, root.Claim != nil && depth == 1)
		row.Prefix = branches
		l.rows = append(l.rows, row)
		if row.Repeated {
			return nil
		}
		path = append(path, e.Node)
		return l.children[e.Node]
	})
	clear(l.open)
}

// child returns the row that a reference adds below an owner or claim.
func (l *familyLayout) child(e graph.Edge, underClaim bool) Row {
	repeated := l.row(e.Node, e)
	repeated.Repeated = true
	j := l.judge.Reference(e)
	switch {
	case j.Broken() && !underClaim:
		where := "; see below"
		if l.printed.Has(e.Node) {
			where = "; see above"
		}
		repeated.Notes = []Note{{wrongOwnerNote(j, l.graph.Reference(e)) + where, problem(j).Tone}}
	case l.open[e.Node]:
		repeated.Notes = []Note{{"↻ cycle: shown above", Bad}}
	case l.printed.Has(e.Node):
		repeated.Notes = []Note{{"→ see above", Plain}}
	default:
		return l.full(e.Node, e)
	}
	return repeated
}

// full returns the only row that shows an object in full.
func (l *familyLayout) full(n graph.Node, e graph.Edge) Row {
	l.printed.Add(n)
	l.open[n] = true
	row := l.row(n, e)
	row.Notes = l.notes(n, e)
	return row
}

func (l *familyLayout) row(n graph.Node, e graph.Edge) Row {
	o := l.graph.Object(n)
	return Row{Namespace: o.Namespace, Name: o.String(), Node: n, Edge: e, Target: l.family.Targets.Has(n)}
}
