package object_test

import (
	"encoding/json"
	"slices"
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
		"a snapshot may be ready": {
			"snapshot.storage.k8s.io/v1", "VolumeSnapshot", `{"source":{"persistentVolumeClaimName":"data"}}`, `{"readyToUse":true}`, &object.Storage{Claim: "data", ReadyToUse: true},
		},
		"a malformed claim is unknown":      {"v1", "PersistentVolumeClaim", `{"resources":{"requests":{"storage":"much"}}}`, `{}`, nil},
		"a claim without a spec is unknown": {"v1", "PersistentVolumeClaim", ``, ``, nil},
		"another kind of that name":         {"example.com/v1", "PersistentVolumeClaim", `{"volumeName":"pv"}`, `{}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			i := object.Identity{APIVersion: c.apiVersion, Kind: c.kind, Name: "it"}
			_, got := object.StorageOf(i, json.RawMessage(c.spec), json.RawMessage(c.status))
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestStorageOfReturnsClaims(t *testing.T) {
	const volumes = `"volumes":[{"name":"data","persistentVolumeClaim":{"claimName":"a"}},{"name":"scratch","ephemeral":{}},{"name":"map","configMap":{"name":"x"}}]`
	for name, c := range map[string]struct {
		kind, spec, status string
		want               []string
	}{
		"a Pod on a node keeps what it mounts, and what is made for it": {"Pod", `{"nodeName":"n",` + volumes + `}`, ``, []string{"a", "it-scratch"}},
		"a Pod without a node keeps nothing":                            {"Pod", `{` + volumes + `}`, ``, []string{}},
		"of what is no Pod within nothing is known":                     {"Pod", `[1]`, ``, nil},
		"a volume is bound to a claim":                                  {"PersistentVolume", `{"claimRef":{"namespace":"ns","name":"a"}}`, `{"phase":"Bound"}`, []string{"ns/a"}},
		"a volume that is released is not":                              {"PersistentVolume", `{"claimRef":{"namespace":"ns","name":"a"}}`, `{"phase":"Released"}`, []string{}},
		"an attachment is for a volume":                                 {"VolumeAttachment", `{"source":{"persistentVolumeName":"pv-1"}}`, ``, []string{"pv-1"}},
		"an attachment of an inline volume is for none":                 {"VolumeAttachment", `{"source":{"inlineVolumeSpec":{}}}`, ``, []string{}},
		"a Pod on a node keeps its devices, and its group":              {"Pod", `{"nodeName":"n","resourceClaims":[{"resourceClaimName":"gpu"}],"schedulingGroup":{"podGroupName":"train"}}`, `{}`, []string{"ResourceClaim/gpu", "PodGroup/train"}},
		"not when it is done":                                           {"Pod", `{"nodeName":"n","resourceClaims":[{"resourceClaimName":"gpu"}]}`, `{"phase":"Succeeded"}`, []string{}},
		"a device is reserved for Pods":                                 {"ResourceClaim", `{"devices":{}}`, `{"reservedFor":[{"resource":"pods","name":"a"}]}`, []string{"a"}},
		"a device that is not reserved is for none":                     {"ResourceClaim", `{"devices":{}}`, `{}`, []string{}},
		"of a device for others the Pods are unknown":                   {"ResourceClaim", `{"devices":{}}`, `{"reservedFor":[{"resource":"podgroups","name":"a"}]}`, nil},
		"a content is bound to a snapshot":                              {"VolumeSnapshotContent", `{"volumeSnapshotRef":{"namespace":"ns","name":"a","uid":"u"}}`, ``, []string{"ns/a"}},
		"a content that is not bound is for none":                       {"VolumeSnapshotContent", `{"volumeSnapshotRef":{"namespace":"ns","name":"a"}}`, ``, []string{}},
		"a claim is being made from a snapshot":                         {"PersistentVolumeClaim", `{"dataSource":{"kind":"VolumeSnapshot","name":"a"}}`, `{"phase":"Pending"}`, []string{"VolumeSnapshot/a"}},
		"of anything else nothing is known":                             {"ConfigMap", `{"nodeName":"n",` + volumes + `}`, ``, nil},
	} {
		i := object.Identity{APIVersion: "v1", Kind: c.kind, Name: "it"}
		switch c.kind {
		case "VolumeAttachment":
			i.APIVersion = "storage.k8s.io/v1"
		case "VolumeSnapshotContent":
			i.APIVersion = "snapshot.storage.k8s.io/v1"
		case "ResourceClaim":
			i.APIVersion = "resource.k8s.io/v1"
		}
		got, _ := object.StorageOf(i, json.RawMessage(c.spec), json.RawMessage(c.status))
		if !slices.Equal(got, c.want) || (got == nil) != (c.want == nil) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
