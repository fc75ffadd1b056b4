// Package diagram draws owner graphs: as DOT, with the attributes of the garbage
// collector's debug endpoint (docs/gc-semantics.md#debug-graph), and as a Mermaid
// flowchart. It draws the given nodes that have an owner or a dependent, their missing
// owners, and one edge between two nodes. The output depends only on the graph, not on the
// order of its objects. Text from the cluster cannot leave its string.
package diagram

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// picture is what is drawn: nodes sorted by UID, and the edges between them.
type picture struct {
	nodes []*box
	edges []edge
}

type box struct {
	id                 object.Identity
	number             int  // position among the nodes
	missing            bool // referenced, but not read
	beingDeleted       bool
	deletingDependents bool
	virtual            bool
}

// edge leads from a dependent to an owner.
type edge struct {
	dependent, owner *box
	problem          string // empty if any reference between the two has none
}

// newDrawing returns the drawing of these nodes. problem may be nil.
func newDrawing(g *graph.Graph, nodes graph.Set, problem func(graph.Edge) string) *picture {
	d := &picture{}
	drawn := drawnNodes(g, nodes)
	byNode := make(map[graph.Node]*box, len(drawn))
	for _, n := range drawn {
		byNode[n] = newNode(g, n)
		d.nodes = append(d.nodes, byNode[n])
	}
	d.sort(func(a, b *box) int { return cmp.Compare(a.id.UID, b.id.UID) })
	for _, n := range drawn {
		for k, owner := range g.Owners(n) {
			to, ok := byNode[owner]
			if !ok {
				continue
			}
			e := edge{dependent: byNode[n], owner: to}
			if problem != nil {
				e.problem = problem(graph.Edge{Node: n, Index: k})
			}
			d.edges = append(d.edges, e)
		}
	}
	slices.SortFunc(d.edges, func(a, b edge) int {
		return cmp.Or(a.dependent.number-b.dependent.number, a.owner.number-b.owner.number, strings.Compare(a.problem, b.problem))
	})
	d.edges = slices.CompactFunc(d.edges, func(a, b edge) bool { return a.dependent == b.dependent && a.owner == b.owner })
	return d
}

// sort sorts and numbers the nodes.
func (d *picture) sort(compare func(a, b *box) int) {
	slices.SortFunc(d.nodes, compare)
	for i, n := range d.nodes {
		n.number = i
	}
}

// drawnNodes returns the nodes with a reference or dependent
// (docs/gc-semantics.md#debug-graph), and their missing owners.
func drawnNodes(g *graph.Graph, nodes graph.Set) []graph.Node {
	drawn := graph.NewSet(g)
	for _, n := range nodes.Nodes() {
		if len(g.Owners(n)) == 0 && len(g.Dependents(n)) == 0 {
			continue
		}
		drawn.Add(n)
		for _, owner := range g.Owners(n) {
			if g.Object(owner) == nil {
				drawn.Add(owner)
			}
		}
	}
	return drawn.Nodes()
}

// newNode returns a node as it is drawn. An owner that was not read has the kind and name
// of its references. If they differ, the smallest is taken, so that the order of objects
// does not matter.
func newNode(g *graph.Graph, n graph.Node) *box {
	if o := g.Object(n); o != nil {
		return &box{id: o.Identity, beingDeleted: o.Terminating(), deletingDependents: o.DeletingDependents(), virtual: g.Virtual(n)}
	}
	var claims []object.Identity
	for _, e := range g.Dependents(n) {
		r := g.Reference(e)
		claims = append(claims, object.Identity{APIVersion: r.APIVersion, Kind: r.Kind, Name: r.Name, UID: r.UID})
	}
	claim := slices.MinFunc(claims, func(a, b object.Identity) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.APIVersion, b.APIVersion), cmp.Compare(a.Name, b.Name))
	})
	return &box{id: claim, missing: true}
}
