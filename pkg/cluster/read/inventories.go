package read

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// maxMarked is how many members of inventories MarkInventories reads.
const maxMarked = 5000

// MarkInventories returns a copy of the snapshot with the inventories of these objects. It requests these whole, for a HelmRelease
// the Secret of its release, too, and the metadata of each member that labels or annotations may keep. What could not be read is
// a gap. The error is the context's.
func MarkInventories(ctx context.Context, c *client.Client, s *snapshot.Snapshot, objects []*object.Object) (*snapshot.Snapshot, error) {
	view, read := snapshot.NewView(s), map[types.UID]*snapshot.Inventory{}
	var gaps []snapshot.Gap
	var mu sync.Mutex
	_, err := client.InParallel(ctx, c.Config.SmallConcurrency, objects, func(o *object.Object) any {
		inventory, gap := inventoryOf(ctx, c, view, o)
		mu.Lock()
		defer mu.Unlock()
		if read[o.UID] = inventory; gap != nil {
			gaps = append(gaps, *gap)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	out := s.WithInventories(read)
	if len(gaps) > 0 {
		out.Gaps = slices.Concat(s.Gaps, gaps)
		slices.SortFunc(out.Gaps, snapshot.Gap.Compare)
	}
	type marked struct {
		of     *snapshot.Inventory
		member *snapshot.Member
	}
	var wanted []marked
	for _, o := range objects {
		inventory := read[o.UID]
		for i := range inventory.Members {
			if inventory.DependsOnMarks() && len(wanted) < maxMarked {
				wanted = append(wanted, marked{inventory, &inventory.Members[i]})
			}
		}
	}
	_, err = client.InParallel(ctx, c.Config.SmallConcurrency, wanted, func(m marked) any {
		if now, err := metadata(ctx, c, view, m.member.Identity); err == nil {
			m.of.Mark(m.member, now.Labels, now.Annotations)
		}
		return nil
	})
	return out, err
}

// inventoryOf requests the inventory of an object. The gap is nil if it could be read.
func inventoryOf(ctx context.Context, c *client.Client, view *snapshot.View, o *object.Object) (inventory *snapshot.Inventory, gap *snapshot.Gap) {
	var asked client.Query
	inventory, err := snapshot.InventoryOf(o, func(i object.Identity) (raw json.RawMessage, err error) {
		if asked, err = client.QueryOf(view, i); err != nil {
			return nil, err
		}
		err = client.GetWhole(ctx, c, asked, &raw)
		if i.UID == "" && client.IsNotFound(err, asked.Type.GroupResource(), i.Name) {
			return nil, nil
		}
		var is struct{ Metadata struct{ UID types.UID } }
		if err = cmp.Or(err, json.Unmarshal(raw, &is)); err == nil && i.UID != "" && is.Metadata.UID != i.UID {
			err = client.NewAnswerError("%s has UID %s now, and had %s", i, is.Metadata.UID, i.UID)
		}
		return raw, err
	})
	if err == nil {
		return inventory, nil
	}
	failed := client.GapOf(asked, err)
	failed.Namespace, failed.Name = asked.Namespace, asked.Name
	inventory.Unknown = failed.Reason
	return inventory, &failed
}
