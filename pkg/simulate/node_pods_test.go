package simulate_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// The Pods of a Node go after it, and with these what only they held.
func TestANodeTakesItsPodsAlong(t *testing.T) {
	on := func(node string) st.Option { return st.OnNode(node, object.NodeUnknown) }
	for name, c := range map[string]struct {
		finalizers []string // of the Node
		now        []string
	}{
		"a Node that is gone at once": {nil, []string{"n1"}},
		"a Node that Karpenter holds": {[]string{"karpenter.sh/termination"}, []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			node, other := st.Object("v1", "Node", "n1", st.WithFinalizers(c.finalizers...)), st.Object("v1", "Node", "n2")
			web := st.Object("apps/v1", "ReplicaSet", "shop/web")
			claim := st.Object("v1", "PersistentVolumeClaim", "shop/data", st.Terminating(simulate.ClaimProtection))
			pods := []object.Object{
				st.Pod("shop/bare", on("n1"), st.Running(), st.WithClaims("data")), st.Pod("shop/web", on("n1"), st.Running(), st.WithClaims(), st.OwnedBy(web)),
				st.Pod("shop/stopping", on("n1"), st.InGracePeriod(), st.WithClaims()), st.Pod("shop/elsewhere", on("n2"), st.WithClaims()), st.Pod("shop/unscheduled", st.WithClaims()),
			}
			g := graph.New(st.New(st.Serving(st.Workloads()...), st.Listing(append(pods, node, other, web, claim)...)))
			result := simulate.Run(collector.NewJudge(g), simulate.Cluster, simulate.Bounds{
				Roots: simulate.NoRoots, Deletes: []simulate.DeleteRequest{{Node: g.Find(node.UID), Policy: "Background"}},
			})
			release := result.SimulateRelease()
			now, later := []string{}, []string{}
			for n := range g.Listed() {
				at := graph.Node(n)
				o := g.Object(at)
				if result.Model.Object(at) == nil {
					now = append(now, o.Name)
				} else if release.Result.Model.Object(at) == nil {
					later = append(later, o.Name)
				}
				if causes, ok := release.Causes[at]; ok && o.Kind == "Pod" && !cmp.Equal(causes, []graph.Node{g.Find(node.UID)}) {
					t.Errorf("the causes of %s are %v", o, causes)
				}
			}
			if diff := cmp.Diff(c.now, now); diff != "" {
				t.Errorf("gone at once (-want +got)\n%s", diff)
			}
			want := []string{"n1", "data", "bare", "stopping", "web"}[len(c.now):]
			if diff := cmp.Diff(want, later); diff != "" {
				t.Errorf("gone later (-want +got)\n%s", diff)
			}
		})
	}
}
