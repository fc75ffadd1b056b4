package cli

import (
	"context"
	"maps"
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
	var asks []toRead
	var named, sets []graph.Node
	for i := range p.Steps {
		s := &p.Steps[i]
		n, o := g.Find(s.Object.UID), s.Object.Identity
		if !s.Requested || s.Action != plan.ActionDelete {
			continue
		}
		requested.Add(n)
		if users := o.Users(); len(users) > 0 && !inUse[o.UID] {
			named = append(named, n)
			asks = append(asks, toRead{[]object.Identity{o}, users})
		}
		if o.GroupVersionKind().GroupKind() == object.StatefulSet && s.Deletion.Policy != metav1.DeletePropagationOrphan {
			sets = append(sets, n)
		}
	}
	for _, r := range usage.ClaimsLeft(g, sets, goes, func(*object.Object, string) bool { return true }) {
		asks = append(asks, toRead{[]object.Identity{r.Object}, []object.Identity{r.Object}})
	}
	var pods []object.Identity
	for i := range p.Outcomes {
		o := &p.Outcomes[i]
		if n := g.Find(o.Object.UID); o.Object.IsPod() && o.State.Deletes() && !o.Already && usage.Controls(g, requested, n) {
			going.Add(n)
			pods = append(pods, o.Object)
		}
	}
	if now.Cluster != nil { // a file shows it, or not
		asks = append(asks, toRead{pods, usage.Serving(g, going)})
	}
	read, unread, err := answers(ctx, now.Scanned, asks)
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
	if len(unread.Objects) > 0 {
		p.Impacts = append(p.Impacts, reason.Of(unread))
	}
	return nil
}

// UsersOf returns who uses these objects by their names, and what could not be read of that.
func UsersOf(ctx context.Context, seen Scanned, objects []graph.Node) ([]reason.UsedByOthers, []reason.Gap, error) {
	var asks []toRead
	g := seen.Graph()
	objects = slices.DeleteFunc(objects, func(n graph.Node) bool { return g.Object(n) == nil })
	for _, n := range objects {
		asks = append(asks, toRead{wanted: g.Object(n).Users()})
	}
	read, unread, err := answers(ctx, seen, asks)
	return usage.Users(g, read, objects, func(n graph.Node) bool { return g.Object(n).Terminating() }), unread.Gaps, err
}

// toRead is what has to be read to know what the deletion of objects means for others.
type toRead struct{ objects, wanted []object.Identity }

// answers reads what is wanted, everything once, and returns what could not be read for which objects.
func answers(ctx context.Context, seen Scanned, asks []toRead) (usage.Usages, reason.ImpactUnread, error) {
	var wanted []object.Identity
	for _, q := range asks {
		wanted = append(wanted, q.wanted...)
	}
	slices.SortFunc(wanted, object.Identity.Compare)
	found, gaps, err := read.Usages(ctx, seen.Cluster, seen.Snapshot, seen.Graph().View(), slices.Compact(wanted))
	var unread reason.ImpactUnread
	failed := func(w object.Identity) bool {
		return gaps[w].Reason != "" || gaps[client.KindInNamespace(w)].Reason != "" || gaps[client.KindOf(w)].Reason != ""
	}
	for _, q := range asks {
		if slices.ContainsFunc(q.wanted, failed) {
			unread.Objects = append(unread.Objects, q.objects...)
		}
	}
	for _, gap := range slices.SortedFunc(maps.Values(gaps), snapshot.Gap.Compare) {
		unread.Gaps = append(unread.Gaps, gap.Parameter())
	}
	unread.Gaps = slices.CompactFunc(unread.Gaps, func(a, b reason.Gap) bool { return a.String() == b.String() })
	return found, unread, err
}
