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

func TestDependentsAreLinkedByUID(t *testing.T) {
	owner := st.Pod("shop/owner")
	g := graph.New(st.New(st.Listing(owner,
		st.ConfigMap("other/a", st.OwnedBy(owner)),
		st.Node("b", st.OwnedBy(owner)),
		st.ConfigMap("shop/c", st.Owned(st.To(owner, st.Named("else"), st.As("v9", "Foo")))),
	)))
	var got []string
	for _, e := range g.Dependents(g.Find(owner.UID)) {
		got = append(got, g.Object(e.Node).Identity.String())
	}
	if diff := cmp.Diff([]string{"ConfigMap/a", "ConfigMap/c", "Node/b"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestEveryReferenceIsAnEdge(t *testing.T) {
	one, two := st.Node("one"), st.Node("two")
	dependent := st.ConfigMap("shop/a", st.Owned(st.To(one), st.To(two), st.To(one, st.Named("else"))))
	self := st.ConfigMap("shop/self")
	st.OwnedBy(self)(&self)
	g := graph.New(st.New(st.Listing(one, two, dependent, self)))
	n := g.Find(dependent.UID)

	if diff := cmp.Diff([]graph.Node{g.Find(one.UID), g.Find(two.UID), g.Find(one.UID)}, g.Owners(n)); diff != "" {
		t.Errorf("owners:\n%s", diff)
	}
	if diff := cmp.Diff([]graph.Edge{{Node: n, Index: 0}, {Node: n, Index: 2}}, g.Dependents(g.Find(one.UID))); diff != "" {
		t.Errorf("dependents:\n%s", diff)
	}
	if got := g.Reference(graph.Edge{Node: n, Index: 2}).Name; got != "else" {
		t.Errorf("the third reference is named %s", got)
	}
	own := g.Find(self.UID)
	if diff := cmp.Diff([]graph.Edge{{Node: own, Index: 0}}, g.Dependents(own)); diff != "" {
		t.Errorf("self-owner:\n%s", diff)
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
}

// DOT writes one component per UID asked for (docs/gc-semantics.md#debug-graph): these
// are the node sets it works on.
func TestComponent(t *testing.T) {
	alpha := st.Pod("ns/alpha")
	bravo := st.Pod("ns/bravo")
	charlie := st.Pod("ns/charlie")
	yankee := st.Pod("ns/yankee")
	lonely := st.Pod("ns/lonely")
	st.OwnedBy(bravo, charlie)(&alpha)
	st.OwnedBy(yankee)(&charlie)
	foxtrot := st.Pod("ns/foxtrot", st.OwnedBy(st.Pod("ns/golf")))
	tests := map[string]struct {
		from []types.UID
		want string
	}{
		"from the owner":               {[]types.UID{yankee.UID}, "alpha bravo charlie yankee"},
		"a UID that nobody knows":      {[]types.UID{"nobody"}, ""},
		"an object without relations":  {[]types.UID{lonely.UID}, "lonely"},
		"from the middle of the chain": {[]types.UID{charlie.UID}, "alpha bravo charlie yankee"},
		"from the dependent":           {[]types.UID{alpha.UID}, "alpha bravo charlie yankee"},
		"from an absent owner":         {[]types.UID{"Pod/ns/golf"}, "foxtrot golf"},
		"two UIDs":                     {[]types.UID{alpha.UID, foxtrot.UID}, "alpha bravo charlie foxtrot golf yankee"},
		"one of two is unknown":        {[]types.UID{"nobody", foxtrot.UID}, "foxtrot golf"},
		"the same UID twice":           {[]types.UID{foxtrot.UID, foxtrot.UID}, "foxtrot golf"},
		"no UID":                       {nil, ""},
	}
	objects := []object.Object{alpha, charlie, yankee, lonely, foxtrot}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for _, order := range [][]object.Object{objects, st.Reversed(objects)} {
				s := st.New()
				s.Objects = st.Pointers(order)
				g := graph.New(s)
				var from []graph.Node
				for _, uid := range test.from {
					from = append(from, g.Find(uid))
				}
				if diff := cmp.Diff(test.want, names(g, st.Component(g, from...))); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

func TestComponentsOfAllNodes(t *testing.T) {
	alpha := st.Pod("ns/alpha", st.OwnedBy(st.Pod("ns/bravo"), st.Pod("ns/charlie")))
	delta := st.Pod("ns/delta", st.OwnedBy(st.Pod("ns/bravo")))
	g := graph.New(st.New(st.Listing(alpha, delta, st.Pod("ns/charlie"), st.Pod("ns/unrelated"))))
	related := graph.NewSet(g)
	for n := range g.Len() {
		if len(g.Owners(graph.Node(n))) > 0 || len(g.Dependents(graph.Node(n))) > 0 {
			related.Add(graph.Node(n))
		}
	}
	if diff := cmp.Diff("alpha bravo charlie delta", names(g, related)); diff != "" {
		t.Error(diff)
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

func TestWalkDepth(t *testing.T) {
	top := st.Pod("ns/a")
	middle := st.Pod("ns/b", st.OwnedBy(top))
	both := st.Pod("ns/c", st.OwnedBy(middle, top))
	low := st.Pod("ns/d", st.OwnedBy(both, st.Pod("ns/absent")))
	g := graph.New(st.New(st.Listing(top, middle, both, low)))
	above := aboveAlongEvery(g)
	tests := map[string]struct {
		walk  func(graph.Set, int, ...graph.Node)
		from  object.Object
		depth int
		want  string
	}{
		"below, no step":    {g.AddDescendants, top, 0, "a"},
		"below, one step":   {g.AddDescendants, top, 1, "a b c"},
		"below, two steps":  {g.AddDescendants, top, 2, "a b c d"},
		"below, to the end": {g.AddDescendants, top, graph.Unlimited, "a b c d"},
		"below the lowest":  {g.AddDescendants, low, graph.Unlimited, "d"},
		"above, no step":    {above, low, 0, "d"},
		"above, one step":   {above, low, 1, "absent c d"},
		"above, two steps":  {above, low, 2, "a absent b c d"},
		"above, to the end": {above, low, graph.Unlimited, "a absent b c d"},
		"above the topmost": {above, top, graph.Unlimited, "a"},
		"above an absent":   {above, st.Pod("ns/absent"), graph.Unlimited, "absent"},
		"below an absent":   {g.AddDescendants, st.Pod("ns/absent"), 1, "absent d"},
		"above one unknown": {above, st.Pod("ns/nobody"), graph.Unlimited, ""},
		"below one unknown": {g.AddDescendants, st.Pod("ns/nobody"), graph.Unlimited, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			set := graph.NewSet(g)
			test.walk(set, test.depth, g.Find(test.from.UID))
			if diff := cmp.Diff(test.want, names(g, set)); diff != "" {
				t.Error(diff)
			}
		})
	}
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

func aboveAlongEvery(g *graph.Graph) func(graph.Set, int, ...graph.Node) {
	return func(into graph.Set, depth int, start ...graph.Node) { g.AddAncestors(into, depth, every, start...) }
}

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
	for name, walk := range map[string]func(graph.Set, int, ...graph.Node){"above": aboveAlongEvery(g), "below": g.AddDescendants} {
		set := graph.NewSet(g)
		walk(set, 1000, length/2)
		if got := len(set.Nodes()); got != 1001 {
			t.Errorf("1,000 steps %s reach %d nodes", name, got)
		}
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
