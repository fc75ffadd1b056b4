package plan_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	. "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// An aggregated API lists garbage that has the UID of a living Deployment.
func contested() *snapshot.Snapshot {
	web := Deployment("shop/web", UID("u"))
	return New(
		Serving(snapshot.Type{Group: "lie.example.com", Version: "v1", Resource: "aaas", Kind: "Aaa", Namespaced: true, Verbs: []string{"delete", "get", "list", "watch"}, Preferred: true}),
		Deduplicated(Object("lie.example.com/v1", "Aaa", "zzz/x", UID("u"), OwnedBy(ConfigMap("zzz/gone"))), web, Secret("shop/s", OwnedBy(web))),
		Absent("v1", "ConfigMap", "zzz/gone"), Found(web),
	)
}

const contention = "Aaa zzz/x (lie.example.com/v1) and Deployment shop/web (apps/v1) are different objects with the same UID u"

func TestCollectKeepsObjectsThatShareAUID(t *testing.T) {
	p := plan.New(collector.NewJudge(graph.New(contested())), plan.CollectPurpose(nil))
	if len(p.Steps) != 0 || p.Complete {
		t.Errorf("got %+v, complete: %v", p.Steps, p.Complete)
	}
	if len(p.Blocked) != 1 || !strings.Contains(p.Blocked[0].Reason.Message(), contention) {
		t.Errorf("blocked: %+v", p.Blocked)
	}
}

func TestDeletionOfSharedUIDIsBlocked(t *testing.T) {
	for name, hand := range map[string]simulate.Predictor{"from here": simulate.Own, "by the cluster": simulate.Cluster} {
		t.Run(name, func(t *testing.T) {
			g := graph.New(contested())
			p := plan.New(collector.NewJudge(g), plan.DeletePurpose(hand, simulate.DeleteRequest{Node: g.Find("u"), Policy: metav1.DeletePropagationBackground}))
			if len(p.Steps) != 0 || len(p.Outcomes) != 0 {
				t.Errorf("got %+v, %+v", p.Steps, p.Outcomes)
			}
			if len(p.Blocked) != 1 || !strings.Contains(p.Blocked[0].Reason.Message(), contention) {
				t.Errorf("blocked: %+v", p.Blocked)
			}
		})
	}
}

func TestRepairKeepsContestedObject(t *testing.T) {
	for name, o := range map[string]plan.RepairOptions{
		"what fits":            {},
		"a reference by a UID": {References: []types.UID{"ConfigMap/zzz/gone"}},
	} {
		t.Run(name, func(t *testing.T) {
			if p := plan.NewRepair(collector.NewJudge(graph.New(contested())), o); len(p.Steps) != 0 || len(p.Blocked) != 1 {
				t.Errorf("got %+v, blocked %+v", p.Steps, p.Blocked)
			}
		})
	}
}
