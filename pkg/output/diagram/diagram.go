package diagram

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// picture is what is drawn: vertices by UID, edges by their ends' places.
type picture struct {
	vertices []vertex
	edges    []edge
}

type vertex struct {
	uid                types.UID
	gvk                schema.GroupVersionKind
	namespace, name    string
	missing            bool // referenced, but not read
	beingDeleted       bool
	deletingDependents bool
	virtual            bool
}

// edge leads from a dependent to an owner, by their places among the vertices.
type edge struct {
	dependent, owner int
	fault            string // empty when any reference between the two is good
}

// draw asks fault what is wrong with a reference; nil finds no fault.
func draw(g *graph.Graph, nodes graph.Set, fault func(graph.Edge) string) picture {
	drawn := drawnOf(g, nodes)
	slices.SortFunc(drawn, func(a, b graph.Node) int { return cmp.Compare(g.UID(a), g.UID(b)) })
	place := make(map[graph.Node]int, len(drawn))
	var p picture
	for i, n := range drawn {
		place[n] = i
		p.vertices = append(p.vertices, vertexOf(g, n))
	}
	for i, n := range drawn {
		for k, owner := range g.Owners(n) {
			to, ok := place[owner]
			if !ok {
				continue
			}
			e := edge{dependent: i, owner: to}
			if fault != nil {
				e.fault = fault(graph.Edge{Node: n, Index: k})
			}
			p.edges = append(p.edges, e)
		}
	}
	slices.SortFunc(p.edges, edge.compare)
	p.edges = slices.CompactFunc(p.edges, func(a, b edge) bool { return a.dependent == b.dependent && a.owner == b.owner })
	return p
}

func (e edge) compare(o edge) int {
	return cmp.Or(cmp.Compare(e.dependent, o.dependent), cmp.Compare(e.owner, o.owner), cmp.Compare(e.fault, o.fault))
}

// drawnOf are the members with a reference or dependent
// (docs/gc-semantics.md#debug-graph), and their absent owners.
func drawnOf(g *graph.Graph, nodes graph.Set) []graph.Node {
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

func vertexOf(g *graph.Graph, n graph.Node) vertex {
	o := g.Object(n)
	if o == nil {
		return missing(g, n)
	}
	return vertex{
		uid: o.UID, gvk: o.GroupVersionKind(), namespace: o.Namespace, name: o.Name,
		beingDeleted: o.Terminating(), deletingDependents: o.DeletingDependents(), virtual: g.Virtual(n),
	}
}

// missing is drawn by the coordinates that its dependents claim. Where they
// disagree the smallest claim is taken, so that the order of objects does not matter.
func missing(g *graph.Graph, n graph.Node) vertex {
	var claims []object.Reference
	for _, e := range g.Dependents(n) {
		claims = append(claims, g.Reference(e))
	}
	claim := slices.MinFunc(claims, func(a, b object.Reference) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.APIVersion, b.APIVersion), cmp.Compare(a.Name, b.Name))
	})
	return vertex{uid: g.UID(n), gvk: claim.GroupVersionKind(), name: claim.Name, missing: true}
}
