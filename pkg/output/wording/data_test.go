package wording_test

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
)

func TestData(t *testing.T) {
	claim, volume := object.Identity{APIVersion: "v1", Kind: "PersistentVolumeClaim"}, object.Identity{APIVersion: "v1", Kind: "PersistentVolume"}
	for _, c := range []struct {
		of   object.Identity
		data simulate.Data
		want string
	}{
		{claim, simulate.Data{Size: "8Gi", Volume: "pv-1", ReclaimPolicy: "Delete", Lost: simulate.DataLost}, "8Gi, volume pv-1 is DELETED with its data"},
		{claim, simulate.Data{Size: "8Gi", Volume: "pv-1", ReclaimPolicy: "Delete", Lost: simulate.DataLost, Snapshots: []string{"a", "b"}}, "8Gi, volume pv-1 is DELETED with its data; VolumeSnapshot/a, VolumeSnapshot/b stay"},
		{claim, simulate.Data{Size: "8Gi", Volume: "pv-1", ReclaimPolicy: "Retain", Lost: simulate.DataKept, Snapshots: []string{"a"}}, "8Gi, volume pv-1 is kept with its data (Retain); VolumeSnapshot/a stays"},
		{claim, simulate.Data{Size: "8Gi", Volume: "pv-1", ReclaimPolicy: "Retain", Lost: simulate.DataKept, VolumeGoes: true}, "8Gi, volume pv-1 is being deleted, and its data stays in the storage"},
		{claim, simulate.Data{Size: "8Gi", Lost: simulate.DataKept}, "8Gi, without a volume"},
		{claim, simulate.Data{Size: "8Gi", Volume: "pv-1", Lost: simulate.DataLossUnknown}, "8Gi, volume pv-1 may be deleted with its data"},
		{claim, simulate.Data{Lost: simulate.DataLossUnknown}, "its data may be deleted"},
		{volume, simulate.Data{Size: "8Gi", Volume: "pv-1", ReclaimPolicy: "Delete", Lost: simulate.DataLost}, "8Gi, its data is DELETED"},
		{volume, simulate.Data{Size: "8Gi", Volume: "pv-1", ReclaimPolicy: "Retain", Lost: simulate.DataKept}, "8Gi, its data stays in the storage"},
		{volume, simulate.Data{Size: "8Gi", Volume: "pv-1", ReclaimPolicy: "Delete", Lost: simulate.DataLossUnknown}, "8Gi, the storage driver decides whether its data is deleted"},
		{claim, simulate.Data{Volume: "a\x1b[31m", Lost: simulate.DataLost}, `volume a\x1b[31m is DELETED with its data`},
	} {
		if got := wording.Data(c.of, &c.data, false); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}
