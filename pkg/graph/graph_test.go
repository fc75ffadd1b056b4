package graph_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

func TestNodeOrder(t *testing.T) {
	status, ghost := st.Object("v1", "ComponentStatus", "cs"), st.Pod("shop/ghost")
	listed := st.ConfigMap("shop/a", st.OwnedBy(ghost, status))
	g := graph.New(st.New(st.Listing(listed), st.Found(status)))

	want := []types.UID{listed.UID, status.UID, ghost.UID}
	var got []types.UID
	for n := range g.Len() {
		got = append(got, g.UID(graph.Node(n)))
		if g.Find(g.UID(graph.Node(n))) != graph.Node(n) {
			t.Errorf("node %d is not found by its UID", n)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if g.Listed() != 1 || g.Virtual(0) || !g.Virtual(1) || g.Virtual(2) || g.Virtual(graph.None) {
		t.Errorf("listed %d; virtual %v %v %v", g.Listed(), g.Virtual(0), g.Virtual(1), g.Virtual(2))
	}
	if g.Object(0) == nil || g.Object(1) == nil || g.Object(2) != nil || g.Object(graph.None) != nil {
		t.Error("exactly the absent node must have no object")
	}
}

func TestListedObjectHidesLookup(t *testing.T) {
	role := st.Role("shop/role")
	other := st.Object("rbac.authorization.k8s.io/v1beta1", "Role", "shop/role")
	g := graph.New(st.New(st.Listing(role), st.Found(other)))
	if g.Len() != 1 || g.Object(g.Find(role.UID)).APIVersion != role.APIVersion {
		t.Errorf("%d nodes, the first is %s", g.Len(), g.Object(0).APIVersion)
	}
}

func TestEmptyGraph(t *testing.T) {
	g := graph.New(&snapshot.Snapshot{})
	if g.Len() != 0 || g.Listed() != 0 || g.Find("u") != graph.None {
		t.Errorf("%d nodes", g.Len())
	}
	if g.Owners(graph.None) != nil || g.Dependents(graph.None) != nil || g.Cycles(every) != nil || st.Component(g).Nodes() != nil {
		t.Error("nothing has relations")
	}
	set := graph.NewSet(g)
	g.AddAncestors(set, graph.Unlimited, every, graph.None)
	g.AddDescendants(set, graph.Unlimited, graph.None)
	if set.Nodes() != nil {
		t.Errorf("a walk from nowhere reaches %v", set.Nodes())
	}
}

func names(g *graph.Graph, set graph.Set) string {
	var out []string
	for _, n := range set.Nodes() {
		_, name, _ := strings.Cut(string(g.UID(n)), "/ns/")
		out = append(out, name)
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

func TestWalkAddsToSet(t *testing.T) {
	top := st.Pod("ns/a")
	middle := st.Pod("ns/b", st.OwnedBy(top))
	low := st.Pod("ns/c", st.OwnedBy(middle))
	g := graph.New(st.New(st.Listing(top, middle, low, st.Pod("ns/z"))))
	set := graph.NewSet(g)
	set.Add(g.Find("Pod/ns/z"))
	set.Add(g.Find(middle.UID))
	g.AddDescendants(set, graph.Unlimited, g.Find(top.UID))
	if diff := cmp.Diff("a b c z", names(g, set)); diff != "" {
		t.Errorf("what was in the set must not stop the walk:\n%s", diff)
	}
	if set.Add(g.Find(low.UID)) || !set.Has(g.Find(low.UID)) || set.Has(graph.None) {
		t.Error("a member was added twice, or no node is a member")
	}
}

func TestCycles(t *testing.T) {
	a, b, c, d := st.Pod("ns/a"), st.Pod("ns/b"), st.Pod("ns/c"), st.Pod("ns/d")
	owned := func(o object.Object, by ...object.Object) object.Object {
		st.OwnedBy(by...)(&o)
		return o
	}
	bad := func(o, by object.Object) object.Object {
		st.Owned(st.To(by, st.Named("bad")))(&o)
		return o
	}
	tests := map[string]struct {
		objects []object.Object
		want    []string
	}{
		"a chain":                                  {[]object.Object{a, owned(b, a), owned(c, b)}, nil},
		"a self-owner":                             {[]object.Object{owned(a, a)}, nil},
		"two that own each other":                  {[]object.Object{owned(a, b), owned(b, a)}, []string{"a b"}},
		"two of whom one owns itself too":          {[]object.Object{owned(a, b, a), owned(b, a)}, []string{"a b"}},
		"three in a cycle and one below":           {[]object.Object{owned(a, b), owned(b, c), owned(c, a), owned(d, a)}, []string{"a b c"}},
		"two cycles side by side":                  {[]object.Object{owned(a, b), owned(b, a), owned(c, d), owned(d, c)}, []string{"a b", "c d"}},
		"two cycles, one below the other":          {[]object.Object{owned(a, b), owned(b, a), owned(c, d, a), owned(d, c)}, []string{"a b", "c d"}},
		"two cycles through one object":            {[]object.Object{owned(a, b), owned(b, a, c), owned(c, b)}, []string{"a b c"}},
		"a diamond":                                {[]object.Object{a, owned(b, a), owned(c, a), owned(d, b, c)}, nil},
		"a cycle through a reference not followed": {[]object.Object{bad(a, b), owned(b, a)}, nil},
		"a cycle through an absent owner":          {[]object.Object{owned(a, b)}, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := graph.New(st.New(st.Listing(test.objects...)))
			got := cycles(g, func(e graph.Edge) bool { return g.Reference(e).Name != "bad" })
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func cycles(g *graph.Graph, follow func(graph.Edge) bool) []string {
	var out []string
	for _, cycle := range g.Cycles(follow) {
		set := graph.NewSet(g)
		for _, n := range cycle {
			set.Add(n)
		}
		out = append(out, names(g, set))
	}
	return out
}

func every(graph.Edge) bool { return true }

// A chain of owners as long as the cluster is large must neither recurse nor slow down.
func TestLongChain(t *testing.T) {
	const length = 200_000
	g := graph.New(chain(length))
	if got := len(st.Component(g, 0).Nodes()); got != length {
		t.Errorf("the component has %d nodes, want %d", got, length)
	}
	if got := g.Cycles(every); got != nil {
		t.Errorf("%d cycles in a chain", len(got))
	}
	above, below := graph.NewSet(g), graph.NewSet(g)
	g.AddAncestors(above, 1000, every, length/2)
	g.AddDescendants(below, 1000, length/2)
	if up, down := len(above.Nodes()), len(below.Nodes()); up != 1001 || down != 1001 {
		t.Errorf("1,000 steps reach %d nodes above and %d below", up, down)
	}
}

func TestLongCycle(t *testing.T) {
	const length = 200_000
	s := chain(length)
	st.OwnedBy(*s.Objects[length-1])(s.Objects[0])
	got := graph.New(s).Cycles(every)
	if len(got) != 1 || len(got[0]) != length || !slices.IsSorted(got[0]) {
		t.Errorf("%d cycles", len(got))
	}
}

// A diamond of 20 levels has a million paths through it.
func TestDeepDiamond(t *testing.T) {
	const levels = 20
	var s snapshot.Snapshot
	var above []object.Object
	for level := range levels {
		left := st.Pod(fmt.Sprintf("ns/%d-left", level), st.OwnedBy(above...))
		right := st.Pod(fmt.Sprintf("ns/%d-right", level), st.OwnedBy(above...))
		above = []object.Object{left, right}
		st.Listing(above...)(&s)
	}
	g := graph.New(&s)
	set := graph.NewSet(g)
	g.AddDescendants(set, graph.Unlimited, 0)
	if got := len(set.Nodes()); got != 2*levels-1 {
		t.Errorf("%d nodes below the top, want %d", got, 2*levels-1)
	}
	if got := len(st.Component(g, 0).Nodes()); got != 2*levels {
		t.Errorf("the component has %d nodes, want %d", got, 2*levels)
	}
	if got := g.Cycles(every); got != nil {
		t.Errorf("%d cycles in a diamond", len(got))
	}
}

// chain returns that many objects, each owned by the one before.
func chain(length int) *snapshot.Snapshot {
	s := &snapshot.Snapshot{}
	for i := range length {
		o := st.Pod(fmt.Sprintf("ns/%d", i))
		if i > 0 {
			st.OwnedBy(*s.Objects[i-1])(&o)
		}
		st.Listing(o)(s)
	}
	return s
}

// drawGraph returns a small random graph with valid, wrong, duplicate and absent owners and
// objects that own themselves, in any order.
func drawGraph(t *rapid.T) *graph.Graph {
	s := st.Draw(t)
	s.Objects = rapid.Permutation(s.Objects).Draw(t, "order")
	for _, o := range s.Objects {
		for _, to := range rapid.SliceOfN(rapid.IntRange(0, len(s.Objects)-1), 0, 3).Draw(t, "owners") {
			st.OwnedBy(*s.Objects[to])(o)
		}
	}
	return graph.New(s)
}

func TestOwnersAndDependentsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGraph(t)
		edges := map[graph.Edge]graph.Node{}
		for n := range g.Len() {
			o := g.Object(graph.Node(n))
			owners := g.Owners(graph.Node(n))
			if o == nil && owners != nil || o != nil && len(owners) != len(o.Owners) {
				t.Fatalf("node %d has %d owners", n, len(owners))
			}
			for i, owner := range owners {
				e := graph.Edge{Node: graph.Node(n), Index: i}
				if diff := cmp.Diff(o.Owners[i], g.Reference(e)); diff != "" {
					t.Fatal(diff)
				}
				if g.UID(owner) != o.Owners[i].UID {
					t.Fatalf("reference %d of node %d has the owner %s", i, n, g.UID(owner))
				}
				edges[e] = owner
			}
		}
		for n := range g.Len() {
			for _, e := range g.Dependents(graph.Node(n)) {
				if owner, ok := edges[e]; !ok || owner != graph.Node(n) {
					t.Fatalf("node %d has the dependent %v, whose owner is %d", n, e, owner)
				}
				delete(edges, e)
			}
		}
		if len(edges) > 0 {
			t.Fatalf("edges without a dependent: %v", edges)
		}
	})
}

func TestInputOrderOnlyChangesNodeNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGraph(t)
		shuffled := *g.Snapshot()
		shuffled.Objects = rapid.Permutation(shuffled.Objects).Draw(t, "shuffled")
		if diff := cmp.Diff(describe(g), describe(graph.New(&shuffled))); diff != "" {
			t.Fatal(diff)
		}
	})
}

// describe returns everything about a graph in terms of UIDs.
func describe(g *graph.Graph) map[string][]string {
	out := map[string][]string{}
	add := func(what string, n graph.Node, format string, args ...any) {
		key := fmt.Sprintf("%s of %s", what, g.UID(n))
		out[key] = append(out[key], fmt.Sprintf(format, args...))
		slices.Sort(out[key])
	}
	for i := range g.Len() {
		n := graph.Node(i)
		add("node", n, "listed %v, virtual %v, object %v", i < g.Listed(), g.Virtual(n), g.Object(n) != nil)
		for i, owner := range g.Owners(n) {
			add("owners", n, "%d %s", i, g.UID(owner))
		}
		for _, e := range g.Dependents(n) {
			add("dependents", n, "%s %d", g.UID(e.Node), e.Index)
		}
		for _, m := range st.Component(g, n).Nodes() {
			add("component", n, "%s", g.UID(m))
		}
	}
	for _, cycle := range g.Cycles(every) {
		for _, n := range cycle {
			for _, m := range cycle {
				add("cycle", n, "%s", g.UID(m))
			}
		}
	}
	return out
}

// unreachable is more than any distance in a small graph.
const unreachable = 1 << 20

// distances returns the distances between all nodes along next (Floyd-Warshall).
func distances(g *graph.Graph, next func(from, to graph.Node) bool) [][]int {
	d := make([][]int, g.Len())
	for i := range d {
		d[i] = make([]int, g.Len())
		for j := range d[i] {
			switch {
			case i == j:
			case next(graph.Node(i), graph.Node(j)):
				d[i][j] = 1
			default:
				d[i][j] = unreachable
			}
		}
	}
	for k := range d {
		for i := range d {
			for j := range d {
				d[i][j] = min(d[i][j], d[i][k]+d[k][j])
			}
		}
	}
	return d
}

func TestWalkEqualsReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGraph(t)
		owns := func(from, to graph.Node) bool { return slices.Contains(g.Owners(from), to) }
		up := distances(g, owns)
		any := distances(g, func(a, b graph.Node) bool { return owns(a, b) || owns(b, a) })
		depth := rapid.IntRange(graph.Unlimited, 4).Draw(t, "depth")
		reach := depth
		if depth == graph.Unlimited {
			reach = unreachable - 1
		}
		for i := range g.Len() {
			above, below := graph.NewSet(g), graph.NewSet(g)
			g.AddAncestors(above, depth, every, graph.Node(i))
			g.AddDescendants(below, depth, graph.Node(i))
			component := st.Component(g, graph.Node(i))
			for j := range g.Len() {
				m := graph.Node(j)
				if want := up[i][j] <= reach; above.Has(m) != want {
					t.Fatalf("%d above %d within %d: got %v, want %v", j, i, depth, above.Has(m), want)
				}
				if want := up[j][i] <= reach; below.Has(m) != want {
					t.Fatalf("%d below %d within %d: got %v, want %v", j, i, depth, below.Has(m), want)
				}
				if want := any[i][j] < unreachable; component.Has(m) != want {
					t.Fatalf("%d beside %d: got %v, want %v", j, i, component.Has(m), want)
				}
			}
		}
	})
}

func TestCyclesEqualReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGraph(t)
		modulo := rapid.IntRange(1, 3).Draw(t, "follow")
		follow := func(e graph.Edge) bool { return modulo == 1 || (int(e.Node)+e.Index)%modulo > 0 }
		up := distances(g, func(from, to graph.Node) bool {
			for i, owner := range g.Owners(from) {
				if owner == to && g.Object(to) != nil && follow(graph.Edge{Node: from, Index: i}) {
					return true
				}
			}
			return false
		})
		var want [][]graph.Node
		seen := graph.NewSet(g)
		for i := range g.Len() {
			var cycle []graph.Node
			for j := range g.Len() {
				if up[i][j] < unreachable && up[j][i] < unreachable && seen.Add(graph.Node(j)) {
					cycle = append(cycle, graph.Node(j))
				}
			}
			if len(cycle) > 1 {
				want = append(want, cycle)
			}
		}
		if diff := cmp.Diff(want, g.Cycles(follow)); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestTheCollectorKnowsWhatItWatchesAndItsOwners(t *testing.T) {
	named := st.Object("v1", "ComponentStatus", "named")
	above := st.Object("v1", "ComponentStatus", "above")
	named.Owners = append(named.Owners, st.To(above))
	child := st.ConfigMap("ns/child", st.OwnedBy(named))
	g := graph.New(st.New(st.Listing(child), st.Found(named), st.Found(above)))
	for o, want := range map[*object.Object]bool{&child: true, &named: true, &above: false} {
		if got := g.KnownToCollector(g.Find(o.UID)); got != want {
			t.Errorf("%s: %t, want %t", o, got, want)
		}
	}
}
