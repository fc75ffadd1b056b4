package object

import (
	"encoding/json"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The kinds that use or hold data, and others that Kubernetes protects as long as Pods use them.
var (
	Pod              = schema.GroupKind{Kind: "Pod"}
	VolumeClaim      = schema.GroupKind{Kind: "PersistentVolumeClaim"}
	Volume           = schema.GroupKind{Kind: "PersistentVolume"}
	VolumeAttachment = schema.GroupKind{Group: "storage.k8s.io", Kind: "VolumeAttachment"}
	VolumeSnapshot   = schema.GroupKind{Group: "snapshot.storage.k8s.io", Kind: "VolumeSnapshot"}
	SnapshotContent  = schema.GroupKind{Group: "snapshot.storage.k8s.io", Kind: "VolumeSnapshotContent"}
	ResourceClaim    = schema.GroupKind{Group: "resource.k8s.io", Kind: "ResourceClaim"}
	PodGroup         = schema.GroupKind{Group: "scheduling.k8s.io", Kind: "PodGroup"}
)

// MayBeInUse reports whether the object is of a kind whose users are not metadata.
func (i Identity) MayBeInUse() bool {
	switch i.GroupVersionKind().GroupKind() {
	case VolumeClaim, Volume, VolumeSnapshot, SnapshotContent, ResourceClaim, PodGroup:
		return true
	}
	return false
}

// Storage is what a claim, a volume or a snapshot of a volume says about data.
type Storage struct {
	Size          string `json:"size,omitempty"`          // a quantity; empty if unknown
	Volume        string `json:"volume,omitempty"`        // the PersistentVolume of a claim; empty if it has none
	ReclaimPolicy string `json:"reclaimPolicy,omitempty"` // of a PersistentVolume
	Claim         string `json:"claim,omitempty"`         // the claim that a VolumeSnapshot was taken of, in its namespace
	ReadyToUse    bool   `json:"readyToUse,omitzero"`     // of a VolumeSnapshot; until then it needs its claim
}

// StorageOf returns an object's Claims and Storage from its spec and status: nil for another kind and
// for a malformed object. A Pod without a node uses no claims, and one that has finished keeps only those
// of volumes (resourceclaim/controller.go, isPodDone; podgroup_protection_controller.go, isPodTerminated).
func StorageOf(i Identity, rawSpec, rawStatus json.RawMessage) (claims []string, storage *Storage) {
	kind := i.GroupVersionKind().GroupKind()
	switch kind {
	case Pod, VolumeClaim, Volume, VolumeAttachment, VolumeSnapshot, SnapshotContent, ResourceClaim:
	default:
		return nil, nil
	}
	type sizes struct{ Storage *resource.Quantity }
	var spec struct {
		NodeName string
		Volumes  []struct {
			Name                  string
			PersistentVolumeClaim *struct{ ClaimName string }
			Ephemeral             *struct{}
		}
		ResourceClaims                []struct{ ResourceClaimName string }
		SchedulingGroup               struct{ PodGroupName string }
		VolumeName                    string
		DataSource                    struct{ Kind, Name string }
		VolumeSnapshotRef             struct{ Namespace, Name, UID string }
		ClaimRef                      *struct{ Namespace, Name string }
		PersistentVolumeReclaimPolicy string
		Capacity                      sizes
		Resources                     struct{ Requests sizes }
		Source                        struct{ PersistentVolumeName, PersistentVolumeClaimName string }
	}
	var status struct {
		Phase                 string
		Capacity              sizes
		ReadyToUse            bool
		ResourceClaimStatuses []struct{ ResourceClaimName string }
		ReservedFor           []struct{ Resource, Name string }
	}
	if unmarshalOptional(rawSpec, &spec) != nil || unmarshalOptional(rawStatus, &status) != nil {
		return nil, nil
	}
	claims = []string{}
	switch kind {
	case Pod:
		for _, v := range spec.Volumes {
			switch {
			case spec.NodeName == "":
			case v.PersistentVolumeClaim != nil:
				claims = append(claims, v.PersistentVolumeClaim.ClaimName)
			case v.Ephemeral != nil: // its claim is named after the Pod and the volume
				claims = append(claims, i.Name+"-"+v.Name)
			}
		}
		if status.Phase == "Succeeded" || status.Phase == "Failed" {
			return claims, nil
		}
		for _, c := range slices.Concat(spec.ResourceClaims, status.ResourceClaimStatuses) {
			if spec.NodeName != "" && c.ResourceClaimName != "" {
				claims = append(claims, ResourceClaim.Kind+"/"+c.ResourceClaimName)
			}
		}
		if spec.SchedulingGroup.PodGroupName != "" {
			claims = append(claims, PodGroup.Kind+"/"+spec.SchedulingGroup.PodGroupName)
		}
		return claims, nil
	case ResourceClaim:
		for _, consumer := range status.ReservedFor {
			if consumer.Resource != "pods" {
				return nil, nil
			}
			claims = append(claims, consumer.Name)
		}
		return claims, nil
	case SnapshotContent:
		if of := spec.VolumeSnapshotRef; of.UID != "" { // it is bound
			claims = append(claims, of.Namespace+"/"+of.Name)
		}
		return claims, nil
	case VolumeAttachment:
		if spec.Source.PersistentVolumeName != "" {
			claims = append(claims, spec.Source.PersistentVolumeName)
		}
		return claims, nil
	case Volume:
		if status.Phase == "Bound" && spec.ClaimRef != nil {
			claims = append(claims, spec.ClaimRef.Namespace+"/"+spec.ClaimRef.Name)
		}
	case VolumeClaim:
		if status.Phase == "Pending" && spec.DataSource.Name != "" {
			claims = append(claims, spec.DataSource.Kind+"/"+spec.DataSource.Name)
		}
	default:
		claims = nil
	}
	if len(rawSpec) == 0 {
		return claims, nil
	}
	storage = &Storage{
		Volume: spec.VolumeName, ReclaimPolicy: spec.PersistentVolumeReclaimPolicy,
		Claim: spec.Source.PersistentVolumeClaimName, ReadyToUse: status.ReadyToUse,
	}
	for _, size := range []*resource.Quantity{status.Capacity.Storage, spec.Capacity.Storage, spec.Resources.Requests.Storage} {
		if size != nil {
			storage.Size = size.String()
			break
		}
	}
	return claims, storage
}
