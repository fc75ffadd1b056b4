package plan_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	. "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// toBackUp returns the names of what a run backs up.
func toBackUp(p *plan.Plan) []string {
	out := []string{}
	for _, o := range p.ObjectsToBackUp() {
		out = append(out, o.Name)
	}
	return out
}

func TestD1ContentsThatWaitForAPodAreDeletedLaterAndBackedUp(t *testing.T) {
	held, config := Pod("shop/p", WithFinalizers("x/y")), ConfigMap("shop/c")
	for name, c := range map[string]struct {
		seen *snapshot.Snapshot
		plan func(*snapshot.Snapshot) *plan.Plan
		want []string
	}{
		"delete": {
			New(Listing(Namespace("shop"), held, config)),
			func(s *snapshot.Snapshot) *plan.Plan { return deleting(s, inBackground, Namespace("shop")) },
			[]string{
				"c deleted later after p x/y", "shop terminating kubernetes", "p terminating x/y",
				"shop blocked: waits for its contents to be deleted", "p blocked: is held by x/y",
			},
		},
		"delete, up to 1.32": {
			New(Listing(Namespace("shop"), held, config), FromServer("v1.32.4")),
			func(s *snapshot.Snapshot) *plan.Plan { return deleting(s, inBackground, Namespace("shop")) },
			[]string{"c deleted", "shop terminating kubernetes", "p terminating x/y", "shop blocked: waits for its contents to be deleted", "p blocked: is held by x/y"},
		},
		"delete, and a node does not respond": {
			New(Listing(Namespace("shop"), Pod("shop/p", InGracePeriodUntil(-time.Minute)), config)),
			func(s *snapshot.Snapshot) *plan.Plan { return deleting(s, inBackground, Namespace("shop")) },
			[]string{
				"c deleted later after p kubernetes", "shop terminating kubernetes",
				"shop blocked: waits for its contents to be deleted", "p blocked: has been past its grace period for 60s: its kubelet has not confirmed that it stopped, so its node may be down or gone",
			},
		},
		"collect": {
			New(Listing(Namespace("shop", OwnedBy(Node("gone"))), held, config)),
			func(s *snapshot.Snapshot) *plan.Plan { return planOf(func(to *snapshot.Snapshot) { *to = *s }) },
			[]string{
				"c deleted later after p x/y", "shop terminating kubernetes", "p terminating x/y",
				"shop blocked: waits for its contents to be deleted", "p blocked: is held by x/y",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := c.plan(c.seen)
			if diff := cmp.Diff(c.want, predicted(p)); diff != "" {
				t.Errorf("predicted (-want +got)\n%s", diff)
			}
			if got := toBackUp(p); len(got) != len(p.LostObjects) || !cmp.Equal(got[:2], []string{"shop", "c"}) {
				t.Errorf("backs up %q, and asks for %d", got, len(p.LostObjects))
			}
		})
	}
}

func TestD2ANamespaceStaysWhileAGroupCannotBeDiscovered(t *testing.T) {
	for name, c := range map[string]struct {
		gap      Part
		accepted string
		want     []string
	}{
		"a group that cannot be discovered": {
			Undiscovered("metrics.k8s.io", snapshot.Unavailable), "metrics.k8s.io",
			[]string{"c deleted", "shop terminating kubernetes", "shop blocked: stays while the API server cannot discover API group metrics.k8s.io (unavailable), even if it is empty"},
		},
		"a type that cannot be listed": {
			Unreadable("widgets.example.com", snapshot.Webhook), "widgets.example.com",
			[]string{
				"c deleted",
				"shop terminating kubernetes; unsure: waits for its contents to be deleted, and may stay because this tool could not list all of them: widgets.example.com (conversion-webhook)",
				"shop blocked: waits for its contents to be deleted, and may stay because this tool could not list all of them: widgets.example.com (conversion-webhook)",
			},
		},
		"a type that the user may not list": {
			Unreadable("widgets.example.com", snapshot.Forbidden), "widgets.example.com",
			[]string{"c deleted", "shop deleted"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := graph.New(New(Serving(TypesWithContents()...), Listing(Namespace("shop"), ConfigMap("shop/c")), c.gap))
			o := plan.DeletePurpose(simulate.Cluster, simulate.DeleteRequest{Node: g.Find(Namespace("shop").UID), Policy: inBackground})
			o.Predictor.Accepted = snapshot.AcceptedGaps{c.accepted}
			if diff := cmp.Diff(c.want, predicted(plan.New(collector.NewJudge(g), o))); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// The request would delete the Namespace, too, so it is refused. The deletion of the owner was under way, and orphans it.
func TestARequestThatIsRefusedDoesNotBlockADeletionThatCompletes(t *testing.T) {
	owner := Object("rbac.authorization.k8s.io/v1", "ClusterRole", "owner", Terminating(object.OrphanFinalizer))
	shop, other := Namespace("shop", OwnedBy(owner)), ConfigMap("a/other", OwnedBy(owner))
	s := New(Serving(TypesWithContents()...), Listing(owner, shop, other), Unreadable("widgets.example.com", snapshot.Forbidden))
	want := []string{
		"owner deleted; unsure: it depends on the order in which the garbage collector processes objects", "other deleted",
		"shop changed; unsure: it depends on what happens to ClusterRole/owner",
		"shop stays, loses 1: ClusterRole/owner orphans it, and no owner remains",
	}
	if diff := cmp.Diff(want, predicted(deleting(s, inBackground, owner, other))); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestWhatTheAPIServerNeverDeletesIsBlocked(t *testing.T) {
	const refused = " blocked: stays: the API server refuses every deletion of it"
	class := func(name string) object.Object { return Object("scheduling.k8s.io/v1", "PriorityClass", name) }
	for name, c := range map[string]struct {
		kept object.Object
		want []string
	}{
		"default":                          {Namespace("default"), []string{"shop deleted", "default" + refused}},
		"kube-system":                      {Namespace("kube-system"), []string{"shop deleted", "kube-system" + refused}},
		"kube-public":                      {Namespace("kube-public"), []string{"shop deleted", "kube-public" + refused}},
		"kube-node-lease is not protected": {Namespace("kube-node-lease"), []string{"kube-node-lease deleted", "shop deleted"}},
		"a priority class of Kubernetes":   {class("system-node-critical"), []string{"shop deleted", "system-node-critical" + refused}},
		"another priority class":           {class("mine"), []string{"shop deleted", "mine deleted"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := deleting(New(Listing(Namespace("shop"), c.kept)), inBackground, Namespace("shop"), c.kept)
			if diff := cmp.Diff(c.want, predicted(p)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
	p := deleting(New(Listing(Node("a"), Namespace("default", OwnedBy(Node("a"))), Namespace("shop", OwnedBy(Node("a"))))), inBackground, Node("a"))
	if diff := cmp.Diff([]string{"shop deleted", "a deleted", "default stays, loses 0: stays: the API server refuses every deletion of it"}, predicted(p)); diff != "" {
		t.Errorf("deleted with their owner (-want +got)\n%s", diff)
	}
}
