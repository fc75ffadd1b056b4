package graph

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Node is the number of a UID in one graph. Listed objects come first, in the
// snapshot's order; then objects that only a lookup showed; then UIDs that
// nothing showed.
type Node int32

// None is no node.
const None Node = -1

// Edge is one owner reference: the Index-th of the dependent Node.
type Edge struct {
	Node  Node
	Index int
}

// Graph is the owner graph of one snapshot.
type Graph struct {
	snapshot *snapshot.Snapshot
	view     *snapshot.View

	objects []*object.Object // observed nodes: listed, then looked up
	listed  int
	absent  []types.UID
	byUID   *snapshot.Index

	ownerStart []int // per observed node, into owners; one longer than objects
	owners     []Node
	edgeStart  []int // per node, into edges; one longer than all nodes
	edges      []Edge
}

// New builds the graph. The snapshot must not change afterwards.
func New(s *snapshot.Snapshot) *Graph {
	g := &Graph{snapshot: s, view: snapshot.NewView(s)}
	g.observe(s)
	g.link()
	return g
}

func (g *Graph) observe(s *snapshot.Snapshot) {
	g.byUID = snapshot.NewIndex(len(s.Objects), func(place int) types.UID { return g.UID(Node(place)) })
	g.objects = make([]*object.Object, 0, len(s.Objects))
	see := func(o *object.Object) {
		if g.byUID.Insert(o.UID, len(g.objects)) == len(g.objects) {
			g.objects = append(g.objects, o)
		}
	}
	for _, o := range s.Objects {
		see(o)
	}
	g.listed = len(g.objects)
	for i := range s.Lookups {
		if o := s.Lookups[i].Object; o != nil {
			see(o)
		}
	}
}

func (g *Graph) link() {
	g.ownerStart = make([]int, len(g.objects)+1)
	for n, o := range g.objects {
		g.ownerStart[n+1] = g.ownerStart[n] + len(o.Owners)
	}
	g.owners = make([]Node, g.ownerStart[len(g.objects)])
	for _, absent := range snapshot.Parallel(len(g.objects), g.linkSeen) {
		for _, e := range absent {
			uid := g.Reference(e).UID
			owner := g.byUID.Insert(uid, g.Len())
			if owner == g.Len() {
				g.absent = append(g.absent, uid)
			}
			g.owners[g.ownerStart[e.Node]+e.Index] = Node(owner)
		}
	}
	g.edgeStart = make([]int, g.Len()+1)
	for _, owner := range g.owners {
		g.edgeStart[owner+1]++
	}
	for n := range g.Len() {
		g.edgeStart[n+1] += g.edgeStart[n]
	}
	next := append([]int(nil), g.edgeStart...)
	g.edges = make([]Edge, len(g.owners))
	for n := range g.objects {
		for i, owner := range g.Owners(Node(n)) {
			g.edges[next[owner]] = Edge{Node: Node(n), Index: i}
			next[owner]++
		}
	}
}

// linkSeen links the nodes from..to-1 to the owners that were observed, and answers
// the references to others.
func (g *Graph) linkSeen(from, to int) (absent []Edge) {
	for n := from; n < to; n++ {
		for i, r := range g.objects[n].Owners {
			owner := g.byUID.Find(r.UID)
			g.owners[g.ownerStart[n]+i] = Node(owner)
			if owner < 0 {
				absent = append(absent, Edge{Node(n), i})
			}
		}
	}
	return absent
}

// Snapshot is what the graph was built on.
func (g *Graph) Snapshot() *snapshot.Snapshot { return g.snapshot }

// View answers what the snapshot knows about types, gaps and lookups.
func (g *Graph) View() *snapshot.View { return g.view }

// Len counts all nodes, absent ones included.
func (g *Graph) Len() int { return len(g.objects) + len(g.absent) }

// Listed counts the nodes that a list showed: they are 0 to Listed()-1, and the
// only ones whose references the collector judges.
func (g *Graph) Listed() int { return g.listed }

// Find is the node of a UID, or None where neither an object nor a reference has it.
func (g *Graph) Find(uid types.UID) Node {
	return Node(g.byUID.Find(uid)) // None is -1, too
}

// Object is what was seen of a node, or nil for an absent one.
func (g *Graph) Object(n Node) *object.Object {
	if n < 0 || int(n) >= len(g.objects) {
		return nil
	}
	return g.objects[n]
}

// UID is a node's UID, also that of an absent one.
func (g *Graph) UID(n Node) types.UID {
	if o := g.Object(n); o != nil {
		return o.UID
	}
	return g.absent[int(n)-len(g.objects)]
}

// Virtual says that a node was only looked up, never listed: the collector
// keeps such an owner as a virtual node (docs/gc-semantics.md#virtual-owners).
func (g *Graph) Virtual(n Node) bool { return int(n) >= g.listed && int(n) < len(g.objects) }

// Owners are the owner nodes of n, one per reference and in their order; the
// same owner may stand more than once. Absent nodes have none.
func (g *Graph) Owners(n Node) []Node {
	if g.Object(n) == nil {
		return nil
	}
	return g.owners[g.ownerStart[n]:g.ownerStart[n+1]]
}

// Dependents are the references that carry n's UID, in the order of the
// dependents and, within one, of its references. None has none.
func (g *Graph) Dependents(n Node) []Edge {
	if n == None {
		return nil
	}
	return g.edges[g.edgeStart[n]:g.edgeStart[n+1]]
}

// Reference is the reference that an edge stands for.
func (g *Graph) Reference(e Edge) object.Reference {
	return g.objects[e.Node].Owners[e.Index]
}
