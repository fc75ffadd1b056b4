package object_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

func TestStorageOf(t *testing.T) {
	for name, c := range map[string]struct {
		apiVersion, kind, spec, status string
		want                           *object.Storage
	}{
		"a bound claim has the size that it got": {
			"v1", "PersistentVolumeClaim", `{"volumeName":"pv","resources":{"requests":{"storage":"5Gi"}}}`, `{"capacity":{"storage":"8Gi"}}`,
			&object.Storage{Size: "8Gi", Volume: "pv"},
		},
		"a claim without a volume has the size that it wants": {
			"v1", "PersistentVolumeClaim", `{"resources":{"requests":{"storage":"5Gi"}}}`, `{}`, &object.Storage{Size: "5Gi"},
		},
		"a volume has a reclaim policy": {
			"v1", "PersistentVolume", `{"capacity":{"storage":"8Gi"},"persistentVolumeReclaimPolicy":"Retain"}`, ``,
			&object.Storage{Size: "8Gi", ReclaimPolicy: "Retain"},
		},
		"a snapshot is of a claim": {
			"snapshot.storage.k8s.io/v1", "VolumeSnapshot", `{"source":{"persistentVolumeClaimName":"data"}}`, `{}`, &object.Storage{Claim: "data"},
		},
		"a malformed claim is unknown":      {"v1", "PersistentVolumeClaim", `{"resources":{"requests":{"storage":"much"}}}`, `{}`, nil},
		"a claim without a spec is unknown": {"v1", "PersistentVolumeClaim", ``, ``, nil},
		"another kind of that name":         {"example.com/v1", "PersistentVolumeClaim", `{"volumeName":"pv"}`, `{}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			i := object.Identity{APIVersion: c.apiVersion, Kind: c.kind, Name: "it"}
			if diff := cmp.Diff(c.want, object.StorageOf(i, json.RawMessage(c.spec), json.RawMessage(c.status))); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
