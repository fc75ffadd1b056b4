package diagram

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// drawing is what is drawn: nodes sorted by UID, and the edges between them.
type drawing struct {
	nodes []node
	edges []edge
}

type node struct {
	uid                types.UID
	gvk                schema.GroupVersionKind
	namespace, name    string
	missing            bool // referenced, but not read
	beingDeleted       bool
	deletingDependents bool
	virtual            bool
}

// edge leads from a dependent to an owner, by their indexes among the nodes.
type edge struct {
	dependent, owner int
	problem          string // empty if any reference between the two has none
}

// newDrawing returns the drawing of these nodes. problem may be nil.
func newDrawing(g *graph.Graph, nodes graph.Set, problem func(graph.Edge) string) drawing {
	drawn := drawnNodes(g, nodes)
	slices.SortFunc(drawn, func(a, b graph.Node) int { return cmp.Compare(g.UID(a), g.UID(b)) })
	index := make(map[graph.Node]int, len(drawn))
	var d drawing
	for i, n := range drawn {
		index[n] = i
		d.nodes = append(d.nodes, nodeOf(g, n))
	}
	for i, n := range drawn {
		for k, owner := range g.Owners(n) {
			to, ok := index[owner]
			if !ok {
				continue
			}
			e := edge{dependent: i, owner: to}
			if problem != nil {
				e.problem = problem(graph.Edge{Node: n, Index: k})
			}
			d.edges = append(d.edges, e)
		}
	}
	slices.SortFunc(d.edges, edge.compare)
	d.edges = slices.CompactFunc(d.edges, func(a, b edge) bool { return a.dependent == b.dependent && a.owner == b.owner })
	return d
}

func (e edge) compare(o edge) int {
	return cmp.Or(cmp.Compare(e.dependent, o.dependent), cmp.Compare(e.owner, o.owner), cmp.Compare(e.problem, o.problem))
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

func nodeOf(g *graph.Graph, n graph.Node) node {
	o := g.Object(n)
	if o == nil {
		return missingNode(g, n)
	}
	return node{
		uid: o.UID, gvk: o.GroupVersionKind(), namespace: o.Namespace, name: o.Name,
		beingDeleted: o.Terminating(), deletingDependents: o.DeletingDependents(), virtual: g.Virtual(n),
	}
}

// missingNode returns an owner that was not read, with the kind and name of its
// references. If they differ, the smallest is taken, so that the order of objects does not
// matter.
func missingNode(g *graph.Graph, n graph.Node) node {
	var claims []object.Reference
	for _, e := range g.Dependents(n) {
		claims = append(claims, g.Reference(e))
	}
	claim := slices.MinFunc(claims, func(a, b object.Reference) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.APIVersion, b.APIVersion), cmp.Compare(a.Name, b.Name))
	})
	return node{uid: g.UID(n), gvk: claim.GroupVersionKind(), name: claim.Name, missing: true}
}
