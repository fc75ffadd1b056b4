package cli

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/read"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	"github.com/kubectl-gc/kubectl-gc/pkg/usage"
)

// AddImpacts adds to the plan of a deletion what it means for others than dependents: which ready Pods go, who uses the
// requested objects, and which claims of a StatefulSet stay. It reads whole objects where these tell. What an outcome
// says, such as who uses a claim, is not said again.
func AddImpacts(ctx context.Context, now Planned) error {
	g, p := now.Graph(), now.Plan
	requested, going := graph.NewSet(g), graph.NewSet(g)
	gone, inUse := map[types.UID]bool{}, map[types.UID]bool{}
	for i := range p.Outcomes {
		o := &p.Outcomes[i]
		gone[o.Object.UID], inUse[o.Object.UID] = o.State.Deletes(), len(o.UsedBy) > 0
	}
	goes := func(n graph.Node) bool { return gone[g.UID(n)] || g.Object(n).Terminating() }
	var named, sets []graph.Node
	var wanted []object.Identity
	for i := range p.Steps {
		s := &p.Steps[i]
		n, o := g.Find(s.Object.UID), s.Object.Identity
		if !s.Requested || s.Action != plan.ActionDelete {
			continue
		}
		requested.Add(n)
		if users := o.Users(); len(users) > 0 && !inUse[o.UID] {
			named, wanted = append(named, n), append(wanted, users...)
		}
		if o.GroupVersionKind().GroupKind() == object.StatefulSet && s.Deletion.Policy != metav1.DeletePropagationOrphan {
			sets = append(sets, n)
		}
	}
	for _, r := range usage.ClaimsLeft(g, sets, goes, func(*object.Object, string) bool { return true }) {
		wanted = append(wanted, client.KindInNamespace(r.Object))
	}
	for i := range p.Outcomes {
		o := &p.Outcomes[i]
		if n := g.Find(o.Object.UID); o.Object.IsPod() && o.State.Deletes() && !o.Already && usage.Controls(g, requested, n) {
			going.Add(n)
		}
	}
	if now.Cluster != nil { // a file shows it, or not
		wanted = append(wanted, usage.Serving(g, going)...)
	}
	read, unread, err := read.Usages(ctx, now.Cluster, now.Snapshot, g.View(), wanted)
	if err != nil {
		return err
	}
	for _, r := range usage.ReadyPods(g, read, going) {
		p.Impacts = append(p.Impacts, reason.Of(r))
	}
	for _, r := range usage.Users(g, read, named, goes) {
		p.Impacts = append(p.Impacts, reason.Of(r))
	}
	for _, r := range usage.ClaimsLeft(g, sets, goes, func(set *object.Object, template string) bool {
		return slices.Contains(read[set.UID].ClaimTemplates, template)
	}) {
		p.Impacts = append(p.Impacts, reason.Of(r))
	}
	if len(unread) > 0 {
		p.Impacts = append(p.Impacts, reason.ImpactUnread(snapshot.Parameters(unread)))
	}
	return nil
}

// UsersOf returns who uses these objects by their names, and what could not be read of that.
func UsersOf(ctx context.Context, seen Scanned, objects []graph.Node) ([]reason.UsedByOthers, []snapshot.Gap, error) {
	var wanted []object.Identity
	g := seen.Graph()
	objects = slices.DeleteFunc(objects, func(n graph.Node) bool { return g.Object(n) == nil })
	for _, n := range objects {
		wanted = append(wanted, g.Object(n).Users()...)
	}
	read, unread, err := read.Usages(ctx, seen.Cluster, seen.Snapshot, g.View(), wanted)
	return usage.Users(g, read, objects, func(n graph.Node) bool { return g.Object(n).Terminating() }), unread, err
}
