package simulate

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// Data is what becomes of the data of a claim or a volume that is deleted.
type Data struct {
	Size          string   `json:"size,omitempty"`          // a quantity; empty if unknown
	Volume        string   `json:"volume,omitempty"`        // empty for a claim without a volume
	ReclaimPolicy string   `json:"reclaimPolicy,omitempty"` // of the volume; empty if unknown
	Lost          DataLoss `json:"lost"`
	VolumeGoes    bool     `json:"volumeGoes,omitzero"` // of a claim: its PersistentVolume is being deleted, whatever becomes of the data
	Snapshots     []string `json:"snapshots,omitempty"` // sorted names of the VolumeSnapshots of the claim, in its namespace
}

// DataLoss is whether data is deleted. The words are part of the JSON contract.
type DataLoss string

// The possibilities.
const (
	DataLost        DataLoss = "yes"
	DataKept        DataLoss = "no"
	DataLossUnknown DataLoss = "unknown"
)

// Volumes finds out what becomes of data. It is for one graph.
type Volumes struct {
	graph     *graph.Graph
	volumes   map[string]*object.Object // by name; nil until a claim needs it
	snapshots map[string][]string       // names by the namespace/name of the claim
}

// NewVolumes returns the Volumes of a graph.
func NewVolumes(g *graph.Graph) *Volumes { return &Volumes{graph: g} }

// index indexes the volumes and snapshots, on first use.
func (v *Volumes) index() {
	if v.volumes != nil {
		return
	}
	v.volumes, v.snapshots = map[string]*object.Object{}, map[string][]string{}
	for n := range v.graph.Listed() {
		switch o := v.graph.Object(graph.Node(n)); {
		case o.Storage == nil:
		case o.GroupVersionKind().GroupKind() == object.Volume:
			v.volumes[o.Name] = o
		case o.Storage.Claim != "":
			of := o.Namespace + "/" + o.Storage.Claim
			v.snapshots[of] = append(v.snapshots[of], o.Name)
		}
	}
}

// Data returns what becomes of the data of an object when it is deleted, or nil if it is neither a
// claim nor a volume.
func (v *Volumes) Data(n graph.Node) *Data {
	o := v.graph.Object(n)
	switch kind := o.GroupVersionKind().GroupKind(); {
	case kind != object.VolumeClaim && kind != object.Volume:
		return nil
	case o.Storage == nil:
		return &Data{Lost: DataLossUnknown}
	case kind == object.Volume:
		return &Data{Size: o.Storage.Size, Volume: o.Name, ReclaimPolicy: o.Storage.ReclaimPolicy, Lost: lostWithVolume(o)}
	}
	v.index()
	out := &Data{Size: o.Storage.Size, Volume: o.Storage.Volume, Lost: DataKept, Snapshots: slices.Sorted(slices.Values(v.snapshots[o.Namespace+"/"+o.Name]))}
	if out.Volume == "" {
		return out
	}
	out.Lost = DataLossUnknown
	if volume := v.volumes[out.Volume]; volume != nil {
		out.ReclaimPolicy, out.Lost, out.VolumeGoes = volume.Storage.ReclaimPolicy, lostWithClaim(volume), volume.Terminating()
	}
	return out
}

// lostWithClaim returns whether a volume loses its data when its claim is deleted
// (pv_controller.go, reclaimVolume).
func lostWithClaim(volume *object.Object) DataLoss {
	switch volume.Storage.ReclaimPolicy {
	case "Delete", "Recycle":
		return DataLost
	case "Retain":
		return DataKept
	}
	return DataLossUnknown
}

// lostWithVolume returns whether the deletion of a PersistentVolume deletes its data. A policy of Delete
// is honored only for a volume that has the finalizer of what deletes the storage
// (kubernetes/enhancements, KEP-2644); without it the storage stays behind.
func lostWithVolume(volume *object.Object) DataLoss {
	loss := lostWithClaim(volume)
	honored := slices.ContainsFunc(volume.Finalizers, func(f string) bool {
		return f == "external-provisioner.volume.kubernetes.io/finalizer" || f == "kubernetes.io/pv-controller"
	})
	if loss == DataLost && !honored {
		return DataLossUnknown
	}
	return loss
}
