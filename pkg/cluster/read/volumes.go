package read

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// MarkUsers is MarkVolumes for what uses the objects that are being deleted.
func MarkUsers(ctx context.Context, c *client.Client, s *snapshot.Snapshot) (*snapshot.Snapshot, error) {
	var namespaces []string // of volumes: empty
	for _, o := range s.Objects {
		if o.MayBeInUse() && o.Terminating() {
			namespaces = append(namespaces, o.Namespace)
		}
	}
	if len(namespaces) == 0 {
		return s, nil
	}
	slices.Sort(namespaces)
	return MarkVolumes(ctx, c, s, slices.Compact(namespaces))
}

// MarkVolumes returns a copy of the snapshot with the Claims and Storage of its objects filled in: of all
// PersistentVolumes and VolumeSnapshotContents, and of Pods, PersistentVolumeClaims and VolumeSnapshots in these
// namespaces. If "" is among the namespaces, VolumeAttachments are included. This is not metadata, so whole
// objects are read. What cannot be read stays unmarked, and so do all Pods of a namespace in which a
// Pod that the scan did not see uses a claim. The error is the context's.
func MarkVolumes(ctx context.Context, c *client.Client, s *snapshot.Snapshot, namespaces []string) (*snapshot.Snapshot, error) {
	known := map[types.UID]bool{}
	for _, o := range s.Objects {
		known[o.UID] = true
	}
	queries := []client.Query{{Type: snapshot.Type{Version: "v1", Resource: "persistentvolumes", Kind: "PersistentVolume"}}}
	if slices.Contains(namespaces, "") {
		queries = append(queries, client.Query{Type: snapshot.Type{Group: "storage.k8s.io", Version: "v1", Resource: "volumeattachments", Kind: "VolumeAttachment"}})
	}
	devices := func(o *object.Object) bool {
		return o.GroupVersionKind().GroupKind() == object.ResourceClaim && slices.Contains(namespaces, o.Namespace)
	}
	reserves := slices.ContainsFunc(s.Objects, devices)
	for _, t := range s.Types {
		kind := schema.GroupKind{Group: t.Group, Kind: t.Kind}
		if t.Preferred && kind == object.SnapshotContent {
			queries = append(queries, client.Query{Type: t})
		}
		isCore := t.Group == "" && (t.Resource == "pods" || t.Resource == "persistentvolumeclaims")
		if isCore || t.Preferred && (kind == object.VolumeSnapshot || kind == object.ResourceClaim && reserves) {
			for _, namespace := range namespaces {
				if namespace != "" {
					queries = append(queries, client.Query{Type: t, Namespace: namespace})
				}
			}
		}
	}
	found, err := client.InParallel(ctx, c.Config.Concurrency, queries, func(q client.Query) map[types.UID]volumeFacts {
		facts, err := readVolumeFacts(ctx, c, q)
		unseen := func(uid types.UID) bool { return !known[uid] && len(facts[uid].claims) > 0 }
		if err != nil || q.Type.Resource == "pods" && slices.ContainsFunc(slices.Collect(maps.Keys(facts)), unseen) {
			return nil
		}
		return facts
	})
	if err != nil {
		return nil, err
	}
	all := map[types.UID]volumeFacts{}
	for _, some := range found {
		maps.Copy(all, some)
	}
	marked := *s
	marked.Objects = slices.Clone(s.Objects)
	for i, o := range marked.Objects {
		if facts, ok := all[o.UID]; ok {
			of := *o
			of.Claims, of.Storage = facts.claims, facts.storage
			marked.Objects[i] = &of
		}
	}
	return &marked, nil
}

// volumeFacts are the Claims and the Storage of an object.
type volumeFacts struct {
	claims  []string
	storage *object.Storage
}

// readVolumeFacts reads every object of a query, page by page.
func readVolumeFacts(ctx context.Context, c *client.Client, in client.Query) (map[types.UID]volumeFacts, error) {
	type whole struct {
		Metadata     struct{ UID, Name string }
		Spec, Status json.RawMessage
	}
	out := map[types.UID]volumeFacts{}
	err := client.EachWhole(ctx, c, in, metav1.ListOptions{Limit: c.Config.ChunkSize}, func(o whole) bool {
		i := object.Identity{APIVersion: in.Type.APIVersion(), Kind: in.Type.Kind, Name: o.Metadata.Name}
		claims, storage := object.StorageOf(i, o.Spec, o.Status)
		out[types.UID(o.Metadata.UID)] = volumeFacts{claims, storage}
		return true
	})
	return out, err
}
