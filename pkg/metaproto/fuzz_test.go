package metaproto_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// FuzzAppend compares Append with client-go. If both accept the bytes, the results must be
// equal. If only client-go accepts them, no server writes such an encoding, and Append must
// read client-go's own encoding of the same list. If only client-go refuses them, the error
// is in a field that Append skips.
func FuzzAppend(f *testing.F) {
	for _, body := range recordings(f) {
		f.Add(body, true)
		f.Add(body, false)
	}
	f.Fuzz(func(t *testing.T, body []byte, labels bool) {
		got, meta, err := read(bytes.NewReader(body), labels)
		list, refused := decodeWithClientGo(body)
		if refused != nil {
			return
		}
		if err == nil {
			same(t, list, labels, got, meta)
		}
		got, meta, err = read(bytes.NewReader(encoded(t, list)), labels)
		if err != nil {
			t.Fatalf("what client-go wrote is refused: %v", err)
		}
		same(t, list, labels, got, meta)
	})
}

func same(t *testing.T, list *metav1.PartialObjectMetadataList, labels bool, got []*object.Object, meta metav1.ListMeta) {
	t.Helper()
	if diff := cmp.Diff(expected(list, labels), got); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
	want := metav1.ListMeta{ResourceVersion: list.ResourceVersion, Continue: list.Continue, RemainingItemCount: list.RemainingItemCount}
	if diff := cmp.Diff(want, meta); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}
}
