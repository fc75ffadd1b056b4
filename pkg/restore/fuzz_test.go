package restore_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/restore"
	. "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// Whatever is in a backup, what is made of it is JSON with an object in it, or an
// error.
func FuzzBody(f *testing.F) {
	for _, kind := range []string{"Pod", "Job", "Service", "PersistentVolume", "PersistentVolumeClaim", "Secret", "Namespace", "CustomResourceDefinition"} {
		f.Add(kind, `{"metadata":{"name":"a","finalizers":["orphan",1],"annotations":{"a":1},"ownerReferences":[{"uid":1}]},"spec":{"ports":[1,{"nodePort":2}],"template":[],"claimRef":"x","versions":[{}]},"status":{"conditions":[{"type":"Complete","status":"True"},3]},"data":[]}`)
	}
	f.Add("Pod", `null`)
	f.Add("Job", `{"metadata":null,"spec":null,"status":null}`)
	f.Fuzz(func(t *testing.T, kind, manifest string) {
		group := map[string]string{"Job": "batch/v1", "CustomResourceDefinition": "apiextensions.k8s.io/v1"}
		at := object.Identity{APIVersion: "v1", Kind: kind, Namespace: "shop", Name: "a", UID: "u"}
		if version, ok := group[kind]; ok {
			at.APIVersion = version
		}
		r := restore.New(restore.Backup{
			Saved:    []restore.Saved{{Object: at}},
			Manifest: func(restore.Saved) (json.RawMessage, error) { return json.RawMessage(manifest), nil },
		}, scene{}.look(), restore.Options{})
		for i := range r.Plan.Steps {
			body, err := r.Body(i, nil)
			var made map[string]any
			if err == nil && json.Unmarshal(body, &made) != nil {
				t.Errorf("%s", body)
			}
			restore.WithoutAllocatedFields(at, body)
		}
	})
}

func BenchmarkMake(b *testing.B) {
	var s scene
	for i := range 20000 {
		owner := widget(fmt.Sprintf("shop/%d", i))
		s.gone = append(s.gone, owner, ConfigMap(fmt.Sprintf("shop/%d", i), OwnedBy(owner)))
	}
	in, look := s.backup(b), s.look()
	b.ResetTimer()
	for range b.N {
		restore.New(in, look, restore.Options{})
	}
}
