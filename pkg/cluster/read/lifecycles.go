package read

import (
	"context"
	"encoding/json"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// MarkLifecycles returns a copy of the snapshot with the Lifecycle of these objects and of their controllers. This is
// not metadata, so whole objects are requested. What cannot be read stays unmarked. The error is the context's.
func MarkLifecycles(ctx context.Context, c *client.Client, s *snapshot.Snapshot, objects []*object.Object) (*snapshot.Snapshot, error) {
	controllers := map[types.UID]bool{}
	for _, o := range objects {
		for _, r := range o.Owners {
			controllers[r.UID] = controllers[r.UID] || r.Controls()
		}
	}
	view, marked := snapshot.NewView(s), *s
	marked.Objects = slices.Clone(s.Objects)
	var wanted []int
	for i, o := range s.Objects {
		if o.HasLifecycle() && o.Lifecycle == nil && (controllers[o.UID] || slices.Contains(objects, o)) {
			wanted = append(wanted, i)
		}
	}
	_, err := client.InParallel(ctx, c.Config.SmallConcurrency, wanted, func(i int) any {
		o := *s.Objects[i]
		var whole json.RawMessage
		if q, err := client.QueryOf(view, o.Identity); err == nil && client.GetWhole(ctx, c, q, &whole) == nil {
			var is struct{ Metadata struct{ UID types.UID } }
			if json.Unmarshal(whole, &is) == nil && is.Metadata.UID == o.UID {
				o.Lifecycle = object.LifecycleOf(o.Identity, whole)
				marked.Objects[i] = &o
			}
		}
		return nil
	})
	return &marked, err
}
