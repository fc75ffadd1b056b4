package plan_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	. "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// unsafely returns the plan of the unsafe deletion of an object that the API server cannot read.
func unsafely(s *snapshot.Snapshot, o object.Object) *plan.Plan {
	seen, uids := plan.WithUnreadable(s, snapshot.Coordinates{APIVersion: o.APIVersion, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name})
	return plan.Unsafe(collector.NewJudge(graph.New(seen)), uids, nil)
}

// The unsafe deletion of what cannot be read is like the deletion of an object that has no finalizers and no owners.
func TestUnsafeDeletionIsLikeADeletionWithoutFinalizers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		owner := Deployment("ns/web")
		var objects []object.Object
		for _, o := range []object.Object{
			Secret("ns/a", OwnedBy(owner)), ConfigMap("ns/b", OwnedBy(owner, ConfigMap("ns/live"))), ConfigMap("ns/c", OwnedBy(owner), WithFinalizers("example.com/x")),
			ConfigMap("ns/below-a", OwnedBy(Secret("ns/a"))), ConfigMap("ns/below-c", Owned(To(ConfigMap("ns/c"), Blocking))),
			ConfigMap("ns/d", Owned(To(owner, Blocking)), Foreground()), ConfigMap("ns/live"), ConfigMap("ns/other", OwnedBy(ConfigMap("ns/gone"))),
		} {
			if rapid.Bool().Draw(t, o.Name) {
				objects = append(objects, o)
			}
		}
		named := slices.ContainsFunc(objects, func(o object.Object) bool {
			return slices.ContainsFunc(o.Owners, func(r object.Reference) bool { return r.UID == owner.UID })
		})
		want := predicted(deleting(New(Listing(append(objects, owner)...)), inBackground, owner))
		s := New(Listing(objects...), Unreadable("deployments.apps", snapshot.StoreRead))
		if diff := cmp.Diff(want, predicted(unsafely(s, owner))); diff != "" && named {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// A reference to the unreadable object with the UID of another one must not make that UID contested.
func TestUnsafeDeletionLeavesUIDsOfOthersAlone(t *testing.T) {
	owner, other := Deployment("ns/web"), ConfigMap("ns/other")
	s := New(Listing(other, Secret("ns/a", OwnedBy(owner)), Secret("ns/wrong", Owned(To(owner, WithUID(other.UID))))), Unreadable("deployments.apps", snapshot.StoreRead))
	seen, uids := plan.WithUnreadable(s, snapshot.Coordinates{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "ns", Name: "web"})
	if len(uids) != 1 || uids[0] != owner.UID || slices.ContainsFunc(seen.Objects, func(o *object.Object) bool { return o.Contested }) {
		t.Errorf("UIDs %q", uids)
	}
}
