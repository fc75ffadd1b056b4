package simulate_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector/collectortest"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// scenario is the result of a simulation, for any order of objects.
type scenario struct {
	name    string
	seen    []st.Part
	deleted []deletion // before the simulation
	moves   []string   // see describe
	left    []string   // see left
	stuck   []string   // see stuck
}

// deletion is a DELETE of an object.
type deletion struct {
	uid    types.UID
	policy metav1.DeletionPropagation
}

func run(t *testing.T, scenarios []scenario) {
	t.Helper()
	for _, p := range scenarios {
		t.Run(p.name, func(t *testing.T) {
			whole := st.New(p.seen...)
			collectortest.Permute(whole.Objects, func(order []*object.Object) {
				shuffled := *whole
				shuffled.Objects = order
				shuffled.Normalize()
				m := modelOf(&shuffled)
				for _, d := range p.deleted {
					n := m.Graph().Find(d.uid)
					if m.Object(n) == nil {
						t.Fatalf("there is no %s", d.uid)
					}
					m.SetState(n, simulate.StateAfterDelete(m.Object(n), d.policy, nil, st.Taken))
				}
				c := simulate.RunFrom(m, simulate.Bounds{})
				if t.Failed() {
					return
				}
				compare(t, "moves", p.moves, describe(c))
				compare(t, "left", p.left, left(c))
				compare(t, "stuck", p.stuck, stuck(c))
			})
		})
	}
}

func compare(t *testing.T, what string, want, got []string) {
	t.Helper()
	if diff := cmp.Diff(append([]string{}, want...), append([]string{}, got...)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// whys describe block reasons.
var whys = map[simulate.BlockReason]string{
	simulate.HeldByFinalizers: "held", simulate.PodStillStopping: "stopping", simulate.ContentsStillDeleting: "contents deleting",
	simulate.InCycle: "in a cycle", simulate.CannotBeJudged: "cannot be judged", simulate.LimitReached: "out of bounds",
	simulate.GroupsUndiscoverable: "groups undiscoverable", simulate.ContentsUnlistable: "contents unlistable",
	simulate.NotAllListed: "not all listed", simulate.NothingBlocks: "nothing blocks",
}

// stuck returns the root cause of every deletion that is not complete: "owner: child held".
func stuck(c *simulate.Prediction) []string {
	var out []string
	obstacles := simulate.NewObstacles(c.Model)
	for n := range c.Model.Graph().Listed() {
		if end, ok := obstacles.RootCause(graph.Node(n)); ok {
			out = append(out, c.Model.Object(graph.Node(n)).Name+": "+c.Model.Object(end.Node).Name+" "+whys[end.Reason])
		}
	}
	slices.Sort(out)
	return out
}

func listing(objects ...object.Object) []st.Part { return []st.Part{st.Listing(objects...)} }
