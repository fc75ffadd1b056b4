package object

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The kinds that have a Storage.
var (
	VolumeClaim    = schema.GroupKind{Kind: "PersistentVolumeClaim"}
	Volume         = schema.GroupKind{Kind: "PersistentVolume"}
	VolumeSnapshot = schema.GroupKind{Group: "snapshot.storage.k8s.io", Kind: "VolumeSnapshot"}
)

// Storage is what a claim, a volume or a snapshot of a volume says about data.
type Storage struct {
	Size          string `json:"size,omitempty"`          // a quantity; empty if unknown
	Volume        string `json:"volume,omitempty"`        // the PersistentVolume of a claim; empty if it has none
	ReclaimPolicy string `json:"reclaimPolicy,omitempty"` // of a PersistentVolume
	Claim         string `json:"claim,omitempty"`         // the claim that a VolumeSnapshot was taken of, in its namespace
}

// StorageOf returns an object's Storage from its spec and status: nil for another kind and for a malformed object.
func StorageOf(i Identity, rawSpec, rawStatus json.RawMessage) *Storage {
	switch i.GroupVersionKind().GroupKind() {
	case VolumeClaim, Volume, VolumeSnapshot:
	default:
		return nil
	}
	type sizes struct{ Storage *resource.Quantity }
	var spec struct {
		VolumeName                    string
		PersistentVolumeReclaimPolicy string
		Capacity                      sizes
		Resources                     struct{ Requests sizes }
		Source                        struct{ PersistentVolumeClaimName string }
	}
	var status struct{ Capacity sizes }
	if json.Unmarshal(rawSpec, &spec) != nil || len(rawStatus) > 0 && json.Unmarshal(rawStatus, &status) != nil {
		return nil
	}
	out := &Storage{Volume: spec.VolumeName, ReclaimPolicy: spec.PersistentVolumeReclaimPolicy, Claim: spec.Source.PersistentVolumeClaimName}
	for _, size := range []*resource.Quantity{status.Capacity.Storage, spec.Capacity.Storage, spec.Resources.Requests.Storage} {
		if size != nil {
			out.Size = size.String()
			break
		}
	}
	return out
}
