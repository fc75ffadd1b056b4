package snapshottest

import (
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Replicated is a large snapshot, of that many objects or a few more, in which
// nothing is wrong: Deployments of one ReplicaSet of eight Pods each.
func Replicated(count int) *snapshot.Snapshot {
	s := New()
	for i := 0; len(s.Objects) < count; i++ {
		deployment := Deployment(fmt.Sprintf("shop/web-%d", i))
		set := Object("apps/v1", "ReplicaSet", fmt.Sprintf("shop/web-%d-a", i), OwnedBy(deployment))
		Listing(deployment, set)(s)
		for k := range 8 {
			Listing(Pod(fmt.Sprintf("shop/web-%d-a-%d", i, k), OwnedBy(set)))(s)
		}
	}
	return s
}
