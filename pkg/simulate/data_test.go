package simulate_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

func storage(s object.Storage) st.Option {
	return func(o *object.Object) { o.Storage = &s }
}

func TestDataOfDeletedClaimsAndVolumes(t *testing.T) {
	const provisioner = "external-provisioner.volume.kubernetes.io/finalizer"
	claim := func(o ...st.Option) object.Object {
		return st.Object("v1", "PersistentVolumeClaim", "shop/data", o...)
	}
	volume := func(policy string, o ...st.Option) object.Object {
		return st.Object("v1", "PersistentVolume", "pv", append(o, storage(object.Storage{Size: "8Gi", ReclaimPolicy: policy}))...)
	}
	bound := claim(storage(object.Storage{Size: "8Gi", Volume: "pv"}))
	snapshotOf := func(name, of string) object.Object {
		return st.Object("snapshot.storage.k8s.io/v1", "VolumeSnapshot", name, storage(object.Storage{Claim: of}))
	}
	for name, c := range map[string]struct {
		deleted object.Object
		others  []object.Object
		want    *simulate.Data
	}{
		"the policy Delete takes the data along": {bound, []object.Object{volume("Delete")}, &simulate.Data{Size: "8Gi", Volume: "pv", ReclaimPolicy: "Delete", Lost: simulate.DataLost}},
		"so does Recycle":                        {bound, []object.Object{volume("Recycle")}, &simulate.Data{Size: "8Gi", Volume: "pv", ReclaimPolicy: "Recycle", Lost: simulate.DataLost}},
		"Retain keeps it":                        {bound, []object.Object{volume("Retain")}, &simulate.Data{Size: "8Gi", Volume: "pv", ReclaimPolicy: "Retain", Lost: simulate.DataKept}},
		"a volume that was not read":             {bound, nil, &simulate.Data{Size: "8Gi", Volume: "pv", Lost: simulate.DataLossUnknown}},
		"a claim that was not read":              {claim(), nil, &simulate.Data{Lost: simulate.DataLossUnknown}},
		"a claim without a volume":               {claim(storage(object.Storage{Size: "8Gi"})), nil, &simulate.Data{Size: "8Gi", Lost: simulate.DataKept}},
		"snapshots of the claim, in its namespace": {
			bound,
			[]object.Object{volume("Delete"), snapshotOf("shop/b", "data"), snapshotOf("shop/a", "data"), snapshotOf("shop/c", "other"), snapshotOf("bank/d", "data")},
			&simulate.Data{Size: "8Gi", Volume: "pv", ReclaimPolicy: "Delete", Lost: simulate.DataLost, Snapshots: []string{"a", "b"}},
		},
		"a volume whose provisioner deletes the storage":              {volume("Delete", st.WithFinalizers(provisioner)), nil, &simulate.Data{Size: "8Gi", Volume: "pv", ReclaimPolicy: "Delete", Lost: simulate.DataLost}},
		"a volume that nobody waits for may leave its storage behind": {volume("Delete"), nil, &simulate.Data{Size: "8Gi", Volume: "pv", ReclaimPolicy: "Delete", Lost: simulate.DataLossUnknown}},
		"a retained volume":     {volume("Retain", st.WithFinalizers(provisioner)), nil, &simulate.Data{Size: "8Gi", Volume: "pv", ReclaimPolicy: "Retain", Lost: simulate.DataKept}},
		"nothing else has data": {st.Pod("shop/p"), nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			g := graph.New(st.New(st.Listing(append(c.others, c.deleted)...)))
			if diff := cmp.Diff(c.want, simulate.NewVolumes(g).Data(g.Find(c.deleted.UID))); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
