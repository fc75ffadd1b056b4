package object_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

func TestClaimsOf(t *testing.T) {
	const volumes = `"volumes":[{"name":"data","persistentVolumeClaim":{"claimName":"a"}},{"name":"scratch","ephemeral":{}},{"name":"map","configMap":{"name":"x"}}]`
	for name, c := range map[string]struct {
		kind, spec, status string
		want               []string
	}{
		"a Pod on a node keeps what it mounts, and what is made for it": {"Pod", `{"nodeName":"n",` + volumes + `}`, ``, []string{"a", "it-scratch"}},
		"a Pod without a node keeps nothing":                            {"Pod", `{` + volumes + `}`, ``, []string{}},
		"an item that is not a Pod keeps nothing":                       {"Pod", `[1]`, ``, []string{}},
		"a volume is bound to a claim":                                  {"PersistentVolume", `{"claimRef":{"namespace":"ns","name":"a"}}`, `{"phase":"Bound"}`, []string{"ns/a"}},
		"a volume that is released is not":                              {"PersistentVolume", `{"claimRef":{"namespace":"ns","name":"a"}}`, `{"phase":"Released"}`, []string{}},
		"an attachment is for a volume":                                 {"VolumeAttachment", `{"source":{"persistentVolumeName":"pv-1"}}`, ``, []string{"pv-1"}},
		"an attachment of an inline volume is for none":                 {"VolumeAttachment", `{"source":{"inlineVolumeSpec":{}}}`, ``, []string{}},
		"of anything else nothing is known":                             {"ConfigMap", `{"nodeName":"n",` + volumes + `}`, ``, nil},
	} {
		i := object.Identity{APIVersion: "v1", Kind: c.kind, Name: "it"}
		if c.kind == "VolumeAttachment" {
			i.APIVersion = "storage.k8s.io/v1"
		}
		got := object.ClaimsOf(i, json.RawMessage(c.spec), json.RawMessage(c.status))
		if !slices.Equal(got, c.want) || (got == nil) != (c.want == nil) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
