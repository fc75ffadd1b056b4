package graph

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Node is the number of a UID in one graph. Listed objects come first, in the snapshot's
// order; then objects that only a lookup found; then absent UIDs, which only references name.
type Node int32

// None is not a node.
const None Node = -1

// Edge is one owner reference: the one at Index of the dependent Node.
type Edge struct {
	Node  Node
	Index int
}

// Graph is the owner graph of one snapshot.
type Graph struct {
	snapshot *snapshot.Snapshot
	view     *snapshot.View

	objects []*object.Object // of the nodes that are not absent; shared with the snapshot unless a lookup found another
	listed  int
	absent  []types.UID
	byUID   map[types.UID]Node

	ownerStart []int32 // where the owners of each object start in owners, plus the end
	owners     []Node
	edgeStart  []int32 // where the dependents of each node start in edges, plus the end
	edges      []Edge
}

// New returns the graph of a snapshot, which has one object per UID and must not change afterwards.
func New(s *snapshot.Snapshot) *Graph { return NewWithMapper(s, snapshot.NewMapper(s.Types)) }

// NewWithMapper is like New for a snapshot with the types of the Mapper.
func NewWithMapper(s *snapshot.Snapshot, m *snapshot.Mapper) *Graph {
	g := &Graph{snapshot: s, view: m.View(s)}
	g.addObjects(s)
	g.link()
	return g
}

func (g *Graph) addObjects(s *snapshot.Snapshot) {
	g.byUID = make(map[types.UID]Node, len(s.Objects))
	g.objects = slices.Clip(s.Objects)
	for n, o := range g.objects {
		g.byUID[o.UID] = Node(n)
	}
	g.listed = len(g.objects)
	for i := range s.Lookups {
		if o := s.Lookups[i].Object; o != nil && g.Find(o.UID) == None {
			g.byUID[o.UID] = Node(len(g.objects))
			g.objects = append(g.objects, o)
		}
	}
}

func (g *Graph) link() {
	g.ownerStart = make([]int32, len(g.objects)+1)
	for n, o := range g.objects {
		g.ownerStart[n+1] = g.ownerStart[n] + int32(len(o.Owners))
	}
	g.owners = make([]Node, g.ownerStart[len(g.objects)])
	for _, toAbsent := range snapshot.Parallel(len(g.objects), g.linkObjects) {
		for _, e := range toAbsent {
			uid := g.Reference(e).UID
			owner, ok := g.byUID[uid]
			if !ok {
				owner = Node(g.Len())
				g.byUID[uid] = owner
				g.absent = append(g.absent, uid)
			}
			g.Owners(e.Node)[e.Index] = owner
		}
	}
	g.edgeStart = make([]int32, g.Len()+1)
	for _, owner := range g.owners {
		g.edgeStart[owner]++
	}
	for n := range g.Len() {
		g.edgeStart[n+1] += g.edgeStart[n] // for now, where the dependents of n end
	}
	g.edges = make([]Edge, len(g.owners))
	for n := len(g.objects) - 1; n >= 0; n-- {
		for i, owner := range slices.Backward(g.Owners(Node(n))) {
			g.edgeStart[owner]--
			g.edges[g.edgeStart[owner]] = Edge{Node: Node(n), Index: i}
		}
	}
}

// linkObjects links the objects from..to-1 to their owners and returns the references to
// absent ones.
func (g *Graph) linkObjects(from, to int) (toAbsent []Edge) {
	for n := from; n < to; n++ {
		owners := g.Owners(Node(n))
		for i, r := range g.objects[n].Owners {
			owners[i] = g.Find(r.UID)
			if owners[i] == None {
				toAbsent = append(toAbsent, Edge{Node(n), i})
			}
		}
	}
	return toAbsent
}

// Snapshot returns the snapshot of the graph.
func (g *Graph) Snapshot() *snapshot.Snapshot { return g.snapshot }

// View returns the index of the snapshot's types, gaps and lookups.
func (g *Graph) View() *snapshot.View { return g.view }

// Len returns the number of nodes, including absent ones.
func (g *Graph) Len() int { return len(g.objects) + len(g.absent) }

// Listed returns the number of listed objects. Their nodes are 0 to Listed()-1. Objects
// that were only looked up come after them: see Virtual.
func (g *Graph) Listed() int { return g.listed }

// Observed returns the number of objects: the listed ones and those that only a lookup found.
// Their nodes are 0 to Observed()-1.
func (g *Graph) Observed() int { return len(g.objects) }

// Find returns the node of a UID, or None if neither an object nor a reference has it.
func (g *Graph) Find(uid types.UID) Node {
	if n, ok := g.byUID[uid]; ok {
		return n
	}
	return None
}

// Object returns the object of a node, or nil for an absent one.
func (g *Graph) Object(n Node) *object.Object {
	if n < 0 || int(n) >= len(g.objects) {
		return nil
	}
	return g.objects[n]
}

// UID returns the UID of a node, which may be absent.
func (g *Graph) UID(n Node) types.UID {
	if o := g.Object(n); o != nil {
		return o.UID
	}
	return g.absent[int(n)-len(g.objects)]
}

// Virtual reports whether an object was looked up but not listed: the collector keeps such
// an owner as a virtual node (docs/gc-semantics.md#virtual-owners).
func (g *Graph) Virtual(n Node) bool { return int(n) >= g.listed && int(n) < len(g.objects) }

// KnownToCollector reports whether the collector has an object in its own graph: it watches the
// object's type, or an object that it watches names this one as its owner. n is not an absent node.
func (g *Graph) KnownToCollector(n Node) bool {
	return g.Watched(n) || slices.ContainsFunc(g.Dependents(n), func(e Edge) bool { return g.Watched(e.Node) })
}

// Watched reports whether the collector watches an object's type, whatever the scan could list.
func (g *Graph) Watched(n Node) bool {
	if int(n) < g.listed {
		return true
	}
	m, ok := g.view.Map(g.objects[n].APIVersion, g.objects[n].Kind)
	return ok && m.Type.Watched()
}

// Owners returns the owners of n, one per reference and in their order, so that an owner may
// occur twice. Absent nodes have none.
func (g *Graph) Owners(n Node) []Node {
	if g.Object(n) == nil {
		return nil
	}
	return g.owners[g.ownerStart[n]:g.ownerStart[n+1]]
}

// Dependents returns the references with n's UID, sorted by dependent and index. None has
// none.
func (g *Graph) Dependents(n Node) []Edge {
	if n == None {
		return nil
	}
	return g.edges[g.edgeStart[n]:g.edgeStart[n+1]]
}

// Reference returns the owner reference of an edge.
func (g *Graph) Reference(e Edge) object.Reference {
	return g.objects[e.Node].Owners[e.Index]
}
