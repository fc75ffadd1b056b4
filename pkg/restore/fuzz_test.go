package restore_test

import (
	"encoding/json"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/restore"
)

// FuzzBody checks that Body returns a JSON object or an error for any manifest.
func FuzzBody(f *testing.F) {
	for _, kind := range []string{"Pod", "Job", "Service", "PersistentVolume", "PersistentVolumeClaim", "Secret", "Namespace", "CustomResourceDefinition"} {
		f.Add(kind, `{"metadata":{"name":"a","finalizers":["orphan",1],"annotations":{"a":1},"ownerReferences":[{"uid":1}]},"spec":{"ports":[1,{"nodePort":2}],"template":[],"claimRef":"x","versions":[{}]},"status":{"conditions":[{"type":"Complete","status":"True"},3]},"data":[]}`)
	}
	f.Add("Pod", `null`)
	f.Add("Job", `{"metadata":null,"spec":null,"status":null}`)
	f.Fuzz(func(t *testing.T, kind, manifest string) {
		group := map[string]string{"Job": "batch/v1", "CustomResourceDefinition": "apiextensions.k8s.io/v1"}
		o := object.Identity{APIVersion: "v1", Kind: kind, Namespace: "shop", Name: "a", UID: "u"}
		if version, ok := group[kind]; ok {
			o.APIVersion = version
		}
		r := restore.New(restore.SavedRun{
			Saved:    []event.Saved{{Object: o}},
			Manifest: func(event.Saved) (json.RawMessage, error) { return json.RawMessage(manifest), nil },
		}, scenario{}.snapshot(), restore.Options{})
		for i := range r.Plan.Steps {
			body, err := r.Body(&r.Plan.Steps[i], nil)
			var decoded map[string]any
			if err == nil && json.Unmarshal(body, &decoded) != nil {
				t.Errorf("%s", body)
			}
			restore.WithoutAllocatedFields(o, body)
		}
	})
}
