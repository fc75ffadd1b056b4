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

// Layout returns the rows of the family: trees by namespace, kind and name, then owners
// that are only claimed, then cycles without an owner above them. Ages are measured from
// now.
func Layout(g *graph.Graph, judge *collector.Judge, family Family, now time.Time) []Row {
	l := &layout{
		graph: g, judge: judge, family: family, now: now,
		children: map[graph.Node][]graph.Edge{}, claimed: map[claim][]graph.Edge{},
		owned: graph.NewSet(g), printed: graph.NewSet(g), open: map[graph.Node]bool{},
	}
	l.attach()
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

// claim is an owner as references name it, at a place where it does not exist.
type claim struct {
	apiVersion, kind, namespace, name string
	uid                               types.UID
}

type layout struct {
	graph  *graph.Graph
	judge  *collector.Judge
	family Family
	now    time.Time

	members  []graph.Node                // existing ones, by namespace, kind and name
	children map[graph.Node][]graph.Edge // per member
	claimed  map[claim][]graph.Edge      // children of claims
	owned    graph.Set                   // members with a parent

	printed graph.Set           // those with a full row
	open    map[graph.Node]bool // printed, with children still to print
	rows    []Row
}

// attach puts every reference below the owner or claim that it belongs to. A bad reference
// is below its claim, and also below the object that has its UID.
func (l *layout) attach() {
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
				c := l.claimOf(e, j)
				l.claimed[c] = appendOnce(l.claimed[c], e)
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

func (l *layout) claimOf(e graph.Edge, j collector.Judgement) claim {
	r := l.graph.Reference(e)
	c := claim{apiVersion: r.APIVersion, kind: r.Kind, name: r.Name, uid: r.UID, namespace: l.graph.Object(e.Node).Namespace}
	if j.Mapping.Served && !j.Mapping.Type.Namespaced {
		c.namespace = ""
	}
	if j.Cause == collector.CauseClusterToNamespaced {
		c.namespace = "?" // it needs one, and the reference cannot say which
	}
	return c
}

// claims returns all claimed owners in the order of their rows.
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
