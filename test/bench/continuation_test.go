package main

import (
	"bufio"
	"bytes"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
)

// encoded returns a list as an API server sends it.
func encoded(t *testing.T, meta metav1.ListMeta) []byte {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := metav1.AddMetaToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	list := &metav1.PartialObjectMetadataList{ListMeta: meta}
	list.SetGroupVersionKind(metav1.SchemeGroupVersion.WithKind("PartialObjectMetadataList"))
	for _, name := range []string{"a", "b"} {
		list.Items = append(list.Items, metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	var out bytes.Buffer
	if err := protobuf.NewSerializer(scheme, scheme).Encode(list, &out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestContinuation(t *testing.T) {
	remaining := int64(7)
	for name, meta := range map[string]metav1.ListMeta{
		"a last page":       {ResourceVersion: "12"},
		"a first page":      {ResourceVersion: "12", Continue: "token", RemainingItemCount: &remaining},
		"a long token":      {Continue: strings.Repeat("x", 5000)},
		"an empty document": {},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := continuation(bufio.NewReader(bytes.NewReader(encoded(t, meta))))
			if err != nil || got != meta.Continue {
				t.Errorf("got %q, %v, want %q", got, err, meta.Continue)
			}
		})
	}
}

func TestContinuationRejectsOtherDocuments(t *testing.T) {
	whole := encoded(t, metav1.ListMeta{Continue: "token"})
	for n := range whole[:bytes.Index(whole, []byte("token"))] {
		if _, err := continuation(bufio.NewReader(bytes.NewReader(whole[:n]))); err == nil {
			t.Errorf("the first %d bytes pass for a list", n)
		}
	}
	if _, err := continuation(bufio.NewReader(strings.NewReader(`{"kind":"List"}`))); err == nil {
		t.Error("JSON passes for a list")
	}
}
