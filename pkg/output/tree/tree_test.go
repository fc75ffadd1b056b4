package tree_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/color"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/tree"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// write returns the whole snapshot as a tree without colour.
func write(t *testing.T, s *snapshot.Snapshot, v tree.RowView, targets ...types.UID) string {
	t.Helper()
	g := graph.New(s)
	judge := collector.NewJudge(g)
	family := everything(g)
	for _, uid := range targets {
		family.Targets.Add(g.Find(uid))
	}
	v.Graph, v.Judge, v.Palette = g, judge, color.New(color.Never, false, false)
	var out strings.Builder
	if err := v.Write(&out, tree.Layout(g, judge, family, s.Taken)); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func everything(g *graph.Graph) tree.Family {
	family := tree.Family{Members: graph.NewSet(g), Targets: graph.NewSet(g)}
	for n := range g.Len() {
		family.Members.Add(graph.Node(n))
	}
	return family
}

func TestWrite(t *testing.T) {
	var (
		web    = snapshottest.Deployment("shop/web")
		canary = snapshottest.Deployment("shop/canary")
		set    = snapshottest.Object("apps/v1", "ReplicaSet", "shop/web-1", snapshottest.OwnedBy(web))
		pod    = snapshottest.Pod("shop/web-1-a", snapshottest.OwnedBy(set))
		a      = snapshottest.ConfigMap("shop/a")
		b      = snapshottest.ConfigMap("shop/b", snapshottest.OwnedBy(a))
		ring   = snapshottest.ConfigMap("shop/a", snapshottest.OwnedBy(b))
		self   = snapshottest.ConfigMap("shop/self")
		away   = snapshottest.Deployment("away/web", snapshottest.UID("away"))
	)
	for name, test := range map[string]struct {
		objects []object.Object
		target  types.UID
		view    tree.RowView
		want    string
	}{
		"dependents are below their owner, the target is marked": {
			objects: []object.Object{web, set, pod},
			target:  set.UID,
			want: `
NAMESPACE  NAME                 AGE
shop       Deployment/web       24h
           └─ ReplicaSet/web-1  24h  ← target
              └─ Pod/web-1-a    24h
3 objects`,
		},
		"an object with two owners has one full row": {
			objects: []object.Object{web, canary, snapshottest.ConfigMap("shop/flags", snapshottest.OwnedBy(web, canary))},
			want: `
NAMESPACE  NAME                AGE
shop       Deployment/canary   24h
           └─ ConfigMap/flags  24h  also owned by Deployment/web
shop       Deployment/web      24h
           └─ ConfigMap/flags       → see above
3 objects`,
		},
		"a cycle ends with a mark": {
			objects: []object.Object{ring, b},
			want: `
NAMESPACE  NAME               AGE
shop       ConfigMap/a        24h  owned by ConfigMap/b
           └─ ConfigMap/b     24h
              └─ ConfigMap/a       ↻ cycle: shown above
2 objects`,
		},
		"a self-owner ends with a mark": {
			objects: []object.Object{snapshottest.ConfigMap("shop/self", snapshottest.OwnedBy(self))},
			want: `
NAMESPACE  NAME               AGE
shop       ConfigMap/self     24h
           └─ ConfigMap/self       ↻ cycle: shown above
1 object`,
		},
		"a missing owner has a row": {
			objects: []object.Object{snapshottest.ConfigMap("shop/flags", snapshottest.OwnedBy(web))},
			want: `
NAMESPACE  NAME                AGE
shop       Deployment/web           missing
           └─ ConfigMap/flags  24h
1 object, 1 unresolved owner`,
		},
		"an owner in another namespace names its dependent": {
			objects: []object.Object{away, snapshottest.ConfigMap("shop/flags", snapshottest.OwnedBy(away))},
			want: `
NAMESPACE  NAME                AGE
away       Deployment/web      24h
shop       └─ ConfigMap/flags       names it as its owner, but is in another namespace; see below
shop       Deployment/web           in another namespace: away
           └─ ConfigMap/flags  24h
2 objects, 1 unresolved owner`,
		},
		"a dead reference beside a good one is a note and a row": {
			objects: []object.Object{web, snapshottest.ConfigMap("shop/flags", snapshottest.OwnedBy(canary, web))},
			want: `
NAMESPACE  NAME                AGE
shop       Deployment/web      24h
           └─ ConfigMap/flags  24h  its owner Deployment/canary: missing
shop       Deployment/canary        missing
           └─ ConfigMap/flags       → see above
2 objects, 1 unresolved owner`,
		},
		"what blocks a deletion is named": {
			objects: []object.Object{
				snapshottest.Deployment("shop/web", snapshottest.Foreground()),
				snapshottest.ConfigMap("shop/flags", snapshottest.OwnedBy(web), snapshottest.Terminating("example.com/hold")),
				snapshottest.ConfigMap("shop/guarded", snapshottest.OwnedBy(web), snapshottest.WithFinalizers("example.com/hold")),
				snapshottest.Pod("shop/stopping", snapshottest.OwnedBy(web), snapshottest.InGracePeriodUntil(20*time.Second)), // of 30 s
			},
			want: `
NAMESPACE  NAME                  AGE
shop       Deployment/web        24h  terminating 60s, foreground: waits for its dependents
           ├─ ConfigMap/flags    24h  terminating 60s, held by example.com/hold
           ├─ ConfigMap/guarded  24h  finalizer example.com/hold
           └─ Pod/stopping       24h  terminating 10s
4 objects, 3 terminating`,
		},
		"the server's cells are shown, and wide names the reference": {
			objects: []object.Object{web, snapshottest.Pod("shop/p", snapshottest.Owned(snapshottest.To(web, snapshottest.Controlling, snapshottest.Blocking)))},
			view:    tree.RowView{Wide: true, Isolated: 7, Cells: map[types.UID]object.Columns{"Pod/shop/p": {Ready: "1/1", Status: "Running", Age: "2d"}}},
			want: `
NAMESPACE  NAME            READY  STATUS   AGE  REFERENCE               UID
shop       Deployment/web                  24h                          Deployment/shop/web
           └─ Pod/p        1/1    Running  2d   controller,blocking,ok  Pod/shop/p
2 objects; 7 unrelated objects hidden (--all)`,
		},
		"hostile names reach the terminal escaped and shortened": {
			objects: []object.Object{snapshottest.ConfigMap("shop/flags", snapshottest.Owned(object.Reference{
				APIVersion: "v1", Kind: "Con\x1b[2Jfig", Name: "x\nshop  Pod/forged" + strings.Repeat("y", 400), UID: "u",
			}))},
			want: `
NAMESPACE  NAME                                                                                                                                  AGE
shop       Con\x1b[2Jfig/x\nshop  Pod/forgedyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy…(434 bytes)       unknown kind
           └─ ConfigMap/flags                                                                                                                    24h
1 object, 1 unresolved owner`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var targets []types.UID
			if test.target != "" {
				targets = append(targets, test.target)
			}
			got := write(t, snapshottest.New(snapshottest.Listing(test.objects...)), test.view, targets...)
			if diff := cmp.Diff(strings.TrimPrefix(test.want, "\n")+"\n", got); diff != "" {
				t.Errorf("(-want +got):\n%s\n%s", diff, got)
			}
		})
	}
}

// TestDiamond has 2^20 paths from top to bottom.
func TestDiamond(t *testing.T) {
	const levels = 20
	var objects []object.Object
	for level := range levels {
		above := objects[max(0, 2*level-2):]
		for side := range 2 {
			objects = append(objects, snapshottest.ConfigMap(fmt.Sprintf("shop/%02d-%d", level, side), snapshottest.OwnedBy(above...)))
		}
	}
	rows := layAll(snapshottest.New(snapshottest.Listing(objects...)))
	full := 0
	for _, r := range rows {
		if !r.Repeated {
			full++
		}
	}
	if full != 2*levels || len(rows) > 2*levels+4*(levels-1) {
		t.Errorf("%d objects stand in full in %d rows; want %d, and a row a reference at most", full, len(rows), 2*levels)
	}
}

func layAll(s *snapshot.Snapshot) []tree.Row {
	g := graph.New(s)
	return tree.Layout(g, collector.NewJudge(g), everything(g), s.Taken)
}

func TestEveryObjectHasOneFullRow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := snapshottest.Draw(t)
		g := graph.New(s)
		full := map[graph.Node]int{}
		references := 0
		rows := layAll(s)
		for _, r := range rows {
			if r.Claim == nil && !r.Repeated {
				full[r.Node]++
			}
		}
		for n := graph.Node(0); int(n) < g.Len() && g.Object(n) != nil; n++ {
			references += len(g.Owners(n))
			if full[n] != 1 {
				t.Fatalf("%s stands in full %d times", g.Object(n), full[n])
			}
		}
		if most := len(full) + 3*references; len(rows) > most {
			t.Fatalf("%d rows for %d objects with %d references", len(rows), len(full), references)
		}
	})
}

// TestDeepChain would need memory with the square of its length if every level were
// indented.
func TestDeepChain(t *testing.T) {
	const length = 20_000
	objects := make([]object.Object, length)
	for i := range objects {
		objects[i] = snapshottest.ConfigMap(fmt.Sprintf("shop/%05d", i))
		if i > 0 {
			objects[i].Owners = []object.Reference{snapshottest.To(objects[i-1])}
		}
	}
	rows := layAll(snapshottest.New(snapshottest.Listing(objects...)))
	last := rows[len(rows)-1]
	if len(rows) != length || len(last.Prefix) > 200 {
		t.Errorf("%d rows, the last prefix has %d bytes", len(rows), len(last.Prefix))
	}
	if want := fmt.Sprintf("%d levels down", length-1); !strings.Contains(last.Prefix, want) {
		t.Errorf("the last row says %q, not how deep it is (%s)", last.Prefix, want)
	}
}

func TestNewDocument(t *testing.T) {
	web := snapshottest.Deployment("shop/web")
	s := snapshottest.New(
		snapshottest.Listing(web, snapshottest.ConfigMap("shop/flags", snapshottest.Owned(
			snapshottest.To(web, snapshottest.Controlling),
			snapshottest.To(snapshottest.Deployment("shop/old")),
		))),
		snapshottest.Absent("apps/v1", "Deployment", "shop/old"),
		snapshottest.Unreadable("secrets", snapshot.Forbidden),
	)
	g := graph.New(s)
	family := everything(g)
	family.Targets.Add(g.Find(web.UID))
	used := reason.UsedByOthers{Object: web.Identity, As: object.AsVolume, Users: []object.Identity{{APIVersion: "v1", Kind: "Pod", Namespace: "shop", Name: "debug"}}}
	got := tree.NewDocument(g, collector.NewJudge(g), family, []reason.UsedByOthers{used})
	created := web.Created
	want := &tree.FamilyData{
		Gaps:    []snapshot.Gap{{Resource: "secrets", Reason: snapshot.Forbidden}},
		Targets: []object.Identity{web.Identity},
		Objects: []tree.Member{
			{
				Identity: object.Identity{APIVersion: "v1", Kind: "ConfigMap", Namespace: "shop", Name: "flags", UID: "ConfigMap/shop/flags"},
				Created:  &created,
				Owners: []tree.JudgedReference{
					{Reference: object.Reference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web", UID: "Deployment/shop/web", Controller: object.Flag(true)}, Verdict: collector.VerdictSolid},
					{Reference: object.Reference{APIVersion: "apps/v1", Kind: "Deployment", Name: "old", UID: "Deployment/shop/old"}, Verdict: collector.VerdictDangling, Rule: "missing-owner"},
				},
			},
			{Identity: web.Identity, Created: &created, Owners: []tree.JudgedReference{}, UsedBy: []*reason.Reason{reason.Of(used)}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
