package memoryserver

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// BenchmarkRequests measures the requests that the garbage collector sends. Each patch changes
// the object.
func BenchmarkRequests(b *testing.B) {
	reference := func(uid string, blocks bool) metav1.OwnerReference {
		return metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "owner", UID: types.UID(uid), BlockOwnerDeletion: &blocks}
	}
	o := object(configMapType, "test.example/a", metav1.FinalizerOrphanDependents)
	o.Labels = map[string]string{"app": "test"}
	o.OwnerReferences = []metav1.OwnerReference{reference("u1", true), reference("u2", true), reference("u3", true)}
	server := func() *Server {
		s := serverWith(o)
		for i := range 20 {
			other := o
			other.Name, other.UID = fmt.Sprintf("other%d", i), types.UID(fmt.Sprintf("other%d", i))
			s.Add(other)
		}
		return s
	}
	patches := func(patchType types.PatchType, odd, even string) func(*Server, int) error {
		return func(s *Server, i int) error {
			patch := even
			if i%2 == 1 {
				patch = odd
			}
			_, err := s.Patch(configMapType.GVR, testNamespace, "o", patchType, []byte(patch))
			return err
		}
	}
	const ownerReference = `{"apiVersion":"v1","kind":"ConfigMap","name":"owner","uid":"u1","blockOwnerDeletion":%t}`
	for _, bench := range []struct {
		name string
		send func(s *Server, i int) error
	}{
		{"get", func(s *Server, _ int) error {
			_, err := s.Get(configMapType.GVR, testNamespace, "o")
			return err
		}},
		{"objects", func(s *Server, _ int) error {
			s.Objects()
			return nil
		}},
		{"add and delete", func(s *Server, _ int) error {
			brief := object(configMapType)
			brief.Name = "brief"
			s.Add(brief)
			return s.Delete(configMapType.GVR, testNamespace, "brief", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &brief.UID}})
		}},
		{"strategic merge patch", patches(types.StrategicMergePatchType,
			`{"metadata":{"uid":"uid","ownerReferences":[{"$patch":"delete","uid":"u1"}]}}`,
			`{"metadata":{"uid":"uid","ownerReferences":[`+fmt.Sprintf(ownerReference, true)+`]}}`)},
		{"merge patch of references", patches(types.MergePatchType,
			`{"metadata":{"uid":"uid","ownerReferences":[`+fmt.Sprintf(ownerReference, false)+`]}}`,
			`{"metadata":{"uid":"uid","ownerReferences":[`+fmt.Sprintf(ownerReference, true)+`]}}`)},
		{"merge patch of finalizers", patches(types.MergePatchType,
			`{"metadata":{"uid":"uid","finalizers":["test.example/a"]}}`,
			`{"metadata":{"uid":"uid","finalizers":["test.example/a","orphan"]}}`)},
	} {
		b.Run(bench.name, func(b *testing.B) {
			s := server()
			for i := 0; b.Loop(); i++ {
				if err := bench.send(s, i); err != nil {
					b.Fatal(err)
				}
				s.TakeEvents()
			}
		})
	}
}
