package metaproto_test

import (
	"bufio"
	"bytes"
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/metaproto"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// pods returns a page of realistic Pods, three per owner.
func pods(b *testing.B) []byte {
	list := &metav1.PartialObjectMetadataList{}
	managed := bytes.Repeat([]byte(`{"f:metadata":{"f:labels":{"f:app":{}}}}`), 30)
	yes := true
	for i := range 5000 {
		list.Items = append(list.Items, metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("web-%d-%d", i/3, i), GenerateName: fmt.Sprintf("web-%d-", i/3), Namespace: fmt.Sprintf("shop-%d", i/100),
			UID: types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", i)), ResourceVersion: fmt.Sprint(100000 + i),
			CreationTimestamp: metav1.Unix(1700000000+int64(i), 0), Labels: map[string]string{"app": "web", "pod-template-hash": "5d59d67564"},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "apps/v1", Kind: "ReplicaSet", Name: fmt.Sprintf("web-%d", i/3), UID: types.UID(fmt.Sprintf("11111111-0000-4000-8000-%012d", i/3)),
				Controller: &yes, BlockOwnerDeletion: &yes,
			}},
			ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "kubelet", Operation: "Update", FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(string(managed))}},
		}})
	}
	return encoded(b, list)
}

func BenchmarkAppend(b *testing.B) {
	body := pods(b)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := metaproto.NewReader("v1", "Pod", false).Append(nil, bufio.NewReaderSize(bytes.NewReader(body), 64<<10), plenty); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkClientGo decodes the same page with client-go, for comparison.
func BenchmarkClientGo(b *testing.B) {
	body := pods(b)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		list, err := decodeWithClientGo(body)
		if err != nil {
			b.Fatal(err)
		}
		out := make([]object.Object, len(list.Items))
		for i := range list.Items {
			out[i] = object.FromMeta("v1", "Pod", &list.Items[i], false)
		}
	}
}
