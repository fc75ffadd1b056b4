package tree

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Layout lays the family out. Trees come in the order of namespace, kind and name;
// then owners that are only claimed, then cycles that nothing above them owns.
// now is what ages are measured from.
func Layout(g *graph.Graph, judge *collector.Judge, family Family, now time.Time) []Row {
	l := &layout{
		graph: g, judge: judge, family: family, now: now,
		under: map[graph.Node][]graph.Edge{}, claimed: map[claim][]graph.Edge{},
		owned: graph.NewSet(g), printed: graph.NewSet(g), open: map[graph.Node]bool{},
	}
	l.hang()
	for _, n := range l.members {
		if !l.owned.Has(n) {
			l.draw(l.root(n))
		}
	}
	for _, c := range l.claims() {
		l.draw(l.claim(c))
	}
	for _, n := range l.members {
		if !l.printed.Has(n) {
			l.draw(l.root(n))
		}
	}
	return l.rows
}

// claim is an owner as references name it, where it does not live.
type claim struct {
	apiVersion, kind, namespace, name string
	uid                               types.UID
}

type layout struct {
	graph  *graph.Graph
	judge  *collector.Judge
	family Family
	now    time.Time

	members []graph.Node                // observed ones, by namespace, kind and name
	under   map[graph.Node][]graph.Edge // what hangs under a member
	claimed map[claim][]graph.Edge      // what hangs under a claim
	owned   graph.Set                   // members that hang under something

	printed graph.Set           // in full
	open    map[graph.Node]bool // printed, with some of what hangs under it still to come
	rows    []Row
}

// hang sorts every reference of a member under the owner or claim it belongs
// to. A bad reference hangs under its claim, and is mentioned under the object
// that bears its UID.
func (l *layout) hang() {
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
				l.under[owner] = hangOnce(l.under[owner], e)
			}
			if j.Bad() {
				c := l.claimOf(e, j)
				l.claimed[c] = hangOnce(l.claimed[c], e)
			}
			if j.Bad() || inFamily {
				l.owned.Add(n)
			}
		}
	}
	slices.SortStableFunc(l.members, func(a, b graph.Node) int {
		return strings.Compare(l.graph.Object(a).Namespace, l.graph.Object(b).Namespace)
	})
}

// hangOnce leaves out the second of two references that one object has to one owner.
func hangOnce(edges []graph.Edge, e graph.Edge) []graph.Edge {
	if last := len(edges) - 1; last >= 0 && edges[last].Node == e.Node {
		return edges
	}
	return append(edges, e)
}

func (l *layout) claimOf(e graph.Edge, j collector.Judgement) claim {
	r := l.graph.Reference(e)
	c := claim{apiVersion: r.APIVersion, kind: r.Kind, name: r.Name, uid: r.UID, namespace: l.graph.Object(e.Node).Namespace}
	if j.Mapping.Served && !j.Mapping.Type.Namespaced {
		c.namespace = ""
	}
	if j.Cause == collector.ClusterToNamespaced {
		c.namespace = "?" // it needs one, and the reference cannot say which
	}
	return c
}

// claims are all claimed owners, in the order in which they are drawn.
func (l *layout) claims() []claim {
	out := make([]claim, 0, len(l.claimed))
	for c := range l.claimed {
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b claim) int {
		return cmp.Or(strings.Compare(a.namespace, b.namespace), strings.Compare(a.kind, b.kind),
			strings.Compare(a.name, b.name), strings.Compare(a.apiVersion, b.apiVersion), strings.Compare(string(a.uid), string(b.uid)))
	})
	return out
}
