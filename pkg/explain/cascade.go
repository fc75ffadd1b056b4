package explain

import (
	"cmp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// addCascade counts what is deleted with the object: if it were deleted now, and, if the
// garbage collector deletes it, what it deletes then.
func (b *answerBuilder) addCascade() {
	deleted := graph.NewSet(b.graph)
	for _, n := range append(b.contents(), b.node) {
		deleted.Add(n)
	}
	result := b.simulateDeletion()
	b.addDeleted(result, deleted)
	release := result.SimulateRelease()
	b.addDeleted(&release.Result, deleted)
	for _, n := range release.DeletionsBegun { // also without a transition of their own
		if slices.ContainsFunc(release.Causes[n], deleted.Has) {
			deleted.Add(n)
		}
	}
	for _, n := range release.Result.FinalizersRemoved.Nodes() { // claims that only Pods held
		if b.object.IsNode() && b.graph.Object(n).Terminating() && release.Result.Model.Object(n) == nil {
			deleted.Add(n)
		}
	}
	if b.answer.Consequence == collector.ConsequenceDelete {
		b.addDeleted(b.result, deleted)
	}
	for _, n := range deleted.Nodes() { // what they own may be terminating already, and go because of them
		for _, e := range b.graph.Dependents(n) {
			if o := b.graph.Object(e.Node); o.Terminating() && !b.object.Terminating() && int(e.Node) < b.graph.Listed() {
				deleted.Add(e.Node)
			}
		}
	}
	deleted.Remove(b.node)
	b.answer.Cascade = b.cascadeOf(deleted.Nodes())
}

// simulateDeletion simulates a background deletion of the object, or the deletion that is
// in progress.
func (b *answerBuilder) simulateDeletion() *simulate.Prediction {
	bounds := simulate.Bounds{Roots: simulate.NoRoots}
	if b.object.Terminating() {
		for _, n := range append(b.contents(), b.node) {
			bounds.Deletes = append(bounds.Deletes, simulate.DeleteRequest{Node: n}) // with the policy that it has
		}
		bounds.Roots = func(n graph.Node) bool {
			return n == b.node || b.object.DeletingDependents() && slices.Contains(b.graph.Owners(n), b.node)
		}
	} else {
		bounds.Deletes = []simulate.DeleteRequest{{Node: b.node, Policy: metav1.DeletePropagationBackground}}
	}
	return simulate.Run(b.judge, simulate.Cluster, bounds)
}

// addDeleted adds what a simulation deletes because its owners are in deleted, directly or
// indirectly.
func (b *answerBuilder) addDeleted(result *simulate.Prediction, deleted graph.Set) {
	contents := map[int][]graph.Node{} // per transition
	for _, deleted := range []map[graph.Node]int{result.ContentsDeleted, result.ContentsPending} {
		for n, transition := range deleted {
			contents[transition] = append(contents[transition], n)
		}
	}
	for i := range result.Transitions {
		t := &result.Transitions[i]
		if t.Action != collector.ActionDelete || !deleted.Has(t.Node) && !b.losesOwner(t, deleted) {
			continue
		}
		deleted.Add(t.Node)
		for _, n := range contents[i] {
			deleted.Add(n)
		}
	}
}

// losesOwner reports whether one of the bad owners of a transition is in deleted.
func (b *answerBuilder) losesOwner(t *simulate.Transition, deleted graph.Set) bool {
	for i, v := range t.Verdicts {
		if v.IsDanglingOrWaiting() && deleted.Has(b.graph.Find(t.StateBefore.Owners[i].UID)) {
			return true
		}
	}
	return false
}

// podsOfNode names the Pods that are deleted once a Node is gone
// (docs/gc-semantics.md#pods-of-a-node).
func (b *answerBuilder) podsOfNode() {
	var pods, bare []string
	for _, o := range b.graph.Snapshot().Objects {
		if b.object.IsNode() && o.Node != nil && o.Node.Name == b.object.Name {
			if pods = append(pods, name(o.Identity, "")); !o.Controlled() {
				bare = append(bare, name(o.Identity, ""))
			}
		}
	}
	if len(pods) > 0 {
		b.answer.nextf("About a minute after it is gone, kube-controller-manager deletes the %s on it: %s.", reason.Count(len(pods), "Pod"), list(pods))
	}
	if len(bare) > 0 {
		b.answer.nextf("No controller recreates %s.", list(bare))
	}
}

var claim = KindCount{APIVersion: "v1", Kind: "PersistentVolumeClaim"}

func (b *answerBuilder) cascadeOf(nodes []graph.Node) *Cascade {
	out := &Cascade{Objects: len(nodes), Claims: []Claim{}}
	out.ClaimsUnread = slices.ContainsFunc(b.graph.Snapshot().Gaps, snapshot.Gap.HidesClaims)
	kinds := map[KindCount]int{claim: 0}
	volumes := simulate.NewVolumes(b.graph)
	for _, n := range append(nodes, b.node) {
		if in := b.result.Model.Inventory(n); in == nil || in.Unknown != "" {
			out.Unseen = cmp.Or(out.Unseen, simulate.AlsoDeleted(b.graph.Object(n).Finalizers))
		}
	}
	for _, n := range nodes {
		i := b.graph.Object(n).Identity
		k := KindCount{APIVersion: i.APIVersion, Kind: i.Kind}
		kinds[k]++
		if k == claim {
			out.Claims = append(out.Claims, Claim{i, volumes.Data(n)})
		}
	}
	for k, n := range kinds {
		k.Objects = n
		out.Kinds = append(out.Kinds, k)
	}
	slices.SortFunc(out.Kinds, func(a, b KindCount) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.APIVersion, b.APIVersion))
	})
	return out
}
