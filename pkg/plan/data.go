package plan

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
)

// addData adds to the outcomes what becomes of the data of claims and volumes. VolumeSnapshots that are deleted
// as well are left out.
func (b *builder) addData(outcomes []Outcome) {
	deleted, volumes := map[object.Identity]bool{}, simulate.NewVolumes(b.graph)
	for i := range outcomes {
		o := &outcomes[i]
		if !o.State.Deletes() && !o.MayBeDeleted {
			continue
		}
		switch o.Object.GroupVersionKind().GroupKind() {
		case object.VolumeSnapshot:
			deleted[object.Identity{Namespace: o.Object.Namespace, Name: o.Object.Name}] = true
		case object.VolumeClaim, object.Volume:
			o.Data = volumes.Data(b.graph.Find(o.Object.UID))
		}
	}
	for i := range outcomes {
		if o := &outcomes[i]; o.Data != nil {
			o.Data.Snapshots = slices.DeleteFunc(o.Data.Snapshots, func(name string) bool {
				return deleted[object.Identity{Namespace: o.Object.Namespace, Name: name}]
			})
		}
	}
}

// DataTotals counts volumes by what becomes of their data.
type DataTotals struct {
	Lost, Kept, Unknown int
	InUse               int               // of Lost: kept until nothing uses them
	Size                resource.Quantity // of Lost, as far as it is known
}

// Data counts the volumes that are lost (see LostObjects), and those of lost claims.
func (p *Plan) Data() DataTotals {
	var out DataTotals
	lost, counted := map[object.Identity]bool{}, map[string]bool{}
	for _, loss := range p.LostObjects {
		lost[loss.Object] = true
	}
	for i := range p.Outcomes {
		o := &p.Outcomes[i]
		switch {
		case o.Data == nil || !lost[o.Object] || o.Data.Volume != "" && counted[o.Data.Volume]:
			continue
		case o.Data.Lost == simulate.DataLossUnknown:
			out.Unknown++
		case o.Data.Volume == "": // there is no data
		case o.Data.Lost == simulate.DataLost:
			if out.Lost++; o.InUse() {
				out.InUse++
			}
			if size, err := resource.ParseQuantity(o.Data.Size); err == nil {
				out.Size.Add(size)
			}
		default:
			out.Kept++
		}
		counted[o.Data.Volume] = true
	}
	return out
}
