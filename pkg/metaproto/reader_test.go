package metaproto_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/pkg/metaproto"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

const plenty = 1 << 20

func codec() runtime.Serializer {
	info, _ := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), runtime.ContentTypeProtobuf)
	return info.Serializer
}

// encoded returns the list as a server sends it.
func encoded(t interface{ Fatal(...any) }, list *metav1.PartialObjectMetadataList) []byte {
	list.TypeMeta = metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadataList"}
	var out bytes.Buffer
	if err := codec().Encode(list, &out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// expected returns the items as object.FromMeta converts them.
func expected(list *metav1.PartialObjectMetadataList, labels bool) []*object.Object {
	var out []*object.Object
	for i := range list.Items {
		o := object.FromMeta("apps/v1", "Deployment", &list.Items[i], labels)
		out = append(out, &o)
	}
	return out
}

func read(body io.Reader, labels bool) ([]*object.Object, metav1.ListMeta, error) {
	return metaproto.NewReader("apps/v1", "Deployment", labels).Append(nil, bufio.NewReaderSize(body, 64), plenty)
}

// decodeWithClientGo decodes a list with client-go's serializer.
func decodeWithClientGo(body []byte) (*metav1.PartialObjectMetadataList, error) {
	obj, _, err := codec().Decode(body, nil, nil)
	if err != nil {
		return nil, err
	}
	list, ok := obj.(*metav1.PartialObjectMetadataList)
	if !ok {
		return nil, fmt.Errorf("it is a %T", obj)
	}
	return list, nil
}

// recordings returns the bodies that a real API server sent.
func recordings(t interface{ Fatal(...any) }) map[string][]byte {
	files, err := filepath.Glob("testdata/*.pb")
	if err != nil || len(files) == 0 {
		t.Fatal("no recordings in testdata", err)
	}
	out := map[string][]byte{}
	for _, f := range files {
		body, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		out[f] = body
	}
	return out
}

func TestAppendEqualsClientGo(t *testing.T) {
	for name, body := range recordings(t) {
		list, err := decodeWithClientGo(body)
		if err != nil {
			t.Fatal(err)
		}
		for _, labels := range []bool{false, true} {
			got, meta, err := read(bytes.NewReader(body), labels)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if diff := cmp.Diff(expected(list, labels), got); diff != "" {
				t.Errorf("%s: objects (-want +got):\n%s", name, diff)
			}
			if diff := cmp.Diff(list.ListMeta, meta); diff != "" {
				t.Errorf("%s: list (-want +got):\n%s", name, diff)
			}
		}
	}
}

func TestAppendEqualsClientGoOnRandomLists(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := &metav1.PartialObjectMetadataList{
			ListMeta: metav1.ListMeta{ResourceVersion: words.Draw(t, "version"), Continue: words.Draw(t, "continue"), RemainingItemCount: rapid.Ptr(rapid.Int64(), true).Draw(t, "remaining")},
			Items:    rapid.SliceOfN(rapid.Custom(drawItem), 0, 6).Draw(t, "items"),
		}
		body := encoded(t, list)
		want, err := decodeWithClientGo(body)
		if err != nil {
			t.Fatal(err)
		}
		labels := rapid.Bool().Draw(t, "labels")
		got, meta, err := read(iotest.HalfReader(bytes.NewReader(body)), labels)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(expected(want, labels), got); diff != "" {
			t.Errorf("objects (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(want.ListMeta, meta); diff != "" {
			t.Errorf("list (-want +got):\n%s", diff)
		}
	})
}

// words repeat, as in a cluster, and some are longer than the buffer.
var words = rapid.SampledFrom([]string{"", "web", "shop", "apps/v1", "\xff\x00", strings.Repeat("long ", 30)})

func drawItem(t *rapid.T) metav1.PartialObjectMetadata {
	at := func(label string) metav1.Time {
		return metav1.Unix(rapid.Int64Range(-1<<35, 1<<35).Draw(t, label), rapid.Int64Range(0, 999).Draw(t, label))
	}
	m := metav1.ObjectMeta{
		Name: words.Draw(t, "name"), GenerateName: words.Draw(t, "generateName"), Namespace: words.Draw(t, "namespace"),
		UID: types.UID(words.Draw(t, "uid")), ResourceVersion: words.Draw(t, "resourceVersion"), Generation: rapid.Int64().Draw(t, "generation"),
		DeletionGracePeriodSeconds: rapid.Ptr(rapid.Int64(), true).Draw(t, "grace"),
		Labels:                     rapid.MapOfN(words, words, 0, 3).Draw(t, "labels"),
		Annotations:                rapid.MapOfN(words, words, 0, 3).Draw(t, "annotations"),
		Finalizers:                 rapid.SliceOfN(words, 0, 3).Draw(t, "finalizers"),
		OwnerReferences:            rapid.SliceOfN(rapid.Custom(drawReference), 0, 3).Draw(t, "owners"),
	}
	if rapid.Bool().Draw(t, "created") {
		m.CreationTimestamp = at("creationTimestamp")
	}
	if rapid.Bool().Draw(t, "deleted") {
		deleted := at("deletionTimestamp")
		m.DeletionTimestamp = &deleted
	}
	if rapid.Bool().Draw(t, "managed") {
		m.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: words.Draw(t, "manager"), FieldsV1: metav1.NewFieldsV1("{}")}}
	}
	return metav1.PartialObjectMetadata{ObjectMeta: m}
}

func drawReference(t *rapid.T) metav1.OwnerReference {
	return metav1.OwnerReference{
		APIVersion: words.Draw(t, "apiVersion"), Kind: words.Draw(t, "kind"), Name: words.Draw(t, "owner"), UID: types.UID(words.Draw(t, "ownerUID")),
		Controller: rapid.Ptr(rapid.Bool(), true).Draw(t, "controller"), BlockOwnerDeletion: rapid.Ptr(rapid.Bool(), true).Draw(t, "block"),
	}
}

func TestAppendReportsTruncatedBodies(t *testing.T) {
	broken := errors.New("connection reset by peer")
	for name, body := range recordings(t) {
		end := len(body) - 4 // the last two fields are empty and may be missing
		for n := range end {
			if _, _, err := read(bytes.NewReader(body[:n]), true); !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatalf("%s, %d of %d bytes: %v", name, n, len(body), err)
			}
		}
		for n := range body {
			if _, _, err := read(io.MultiReader(bytes.NewReader(body[:n]), iotest.ErrReader(broken)), true); !errors.Is(err, broken) {
				t.Fatalf("%s, broken behind %d of %d bytes: %v", name, n, len(body), err)
			}
		}
	}
}

func TestAppendAfterTruncatedBody(t *testing.T) {
	list := &metav1.PartialObjectMetadataList{}
	for i := range 9 {
		list.Items = append(list.Items, metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("web-%d", i), OwnerReferences: []metav1.OwnerReference{{Name: fmt.Sprint("web", i/3)}},
		}})
	}
	body := encoded(t, list)
	r := metaproto.NewReader("apps/v1", "Deployment", false)
	first, _, err := r.Append(nil, bufio.NewReader(bytes.NewReader(body)), plenty)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.Append(first, bufio.NewReader(bytes.NewReader(body[:len(body)/2])), plenty); err == nil {
		t.Fatal("half a response was read")
	}
	both, _, err := r.Append(first, bufio.NewReader(bytes.NewReader(body)), plenty)
	if err != nil {
		t.Fatal(err)
	}
	once := expected(list, false)
	if diff := cmp.Diff(append(once, once...), both); diff != "" {
		t.Error(diff)
	}
}

func TestAppendErrors(t *testing.T) {
	message := func(number protowire.Number, content ...byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), content)
	}
	item := func(metadata ...byte) []byte { return message(2, message(2, message(1, metadata...)...)...) }
	for name, test := range map[string]struct {
		behind []byte
		says   string
	}{
		"a response without a list":                   {nil, "unexpected EOF"},
		"two lists":                                   {append(message(2), message(2)...), "more than one"},
		"a list that is no message":                   {[]byte{2 << 3, 1}, "malformed"},
		"an item that is no message":                  {message(2, 2<<3, 1), "field 2 is of type 0"},
		"an item longer than its list":                {message(2, 2<<3|2, 9, 0), "reaches beyond its end"},
		"a name longer than its item":                 {item(1<<3|2, 9, 'a'), "malformed"},
		"a name that is a number":                     {item(1<<3, 9), "field 1 is of type 0"},
		"a grace period that is text":                 {item(10<<3|2, 1, '9'), "field 10 is of type 2"},
		"field 0":                                     {item(2, 0), "malformed"},
		"a group":                                     {item(90<<3&0x7f|3, 0), "malformed"},
		"a number of more bits than there are":        {item(append([]byte{10 << 3}, bytes.Repeat([]byte{0xff}, 10)...)...), "malformed"},
		"a list of more bytes than are read":          {protowire.AppendVarint([]byte{2<<3 | 2}, 1<<40), "more than the"},
		"an item of more bytes than are read":         {protowire.AppendVarint(append(protowire.AppendVarint([]byte{2<<3 | 2}, 1<<30), 2<<3|2), 1<<29), "more than the"},
		"an unknown field of bytes without end":       {protowire.AppendVarint([]byte{9<<3 | 2}, 1<<60), "more than the"},
		"an unknown field that is a group":            {[]byte{9<<3 | 3}, "malformed"},
		"an unknown field that ends before its value": {[]byte{9<<3 | 1, 0}, "unexpected EOF"},
	} {
		_, _, err := read(io.MultiReader(strings.NewReader(metaproto.Head), bytes.NewReader(test.behind)), true)
		if err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: got %v, want: %s", name, err, test.says)
		}
	}
	if _, _, err := read(strings.NewReader(strings.Repeat("<html>", 20)), true); err == nil || !strings.Contains(err.Error(), "it begins with") {
		t.Errorf("a response of another kind: %v", err)
	}
}

func TestAppendLimitsObjects(t *testing.T) {
	body := encoded(t, &metav1.PartialObjectMetadataList{Items: make([]metav1.PartialObjectMetadata, 4)})
	if _, _, err := metaproto.NewReader("", "", false).Append(nil, bufio.NewReader(bytes.NewReader(body)), 3); !errors.Is(err, metaproto.ErrTooManyObjects) {
		t.Errorf("got %v", err)
	}
	if _, _, err := metaproto.NewReader("", "", false).Append(nil, bufio.NewReader(bytes.NewReader(body)), 4); err != nil {
		t.Errorf("as many as are read: %v", err)
	}
}

// A few bytes may announce many.
func TestAppendDoesNotAllocateAnnouncedBytes(t *testing.T) {
	body := protowire.AppendVarint([]byte(metaproto.Head+"\x12"), 16<<20)
	body = protowire.AppendVarint(append(body, 2<<3|2), 15<<20)
	allocated := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			if _, _, err := read(bytes.NewReader(body), false); !errors.Is(err, io.ErrUnexpectedEOF) {
				b.Fatal(err)
			}
		}
	}).AllocedBytesPerOp()
	if allocated > 1<<16 {
		t.Errorf("%d bytes of memory for a response of %d", allocated, len(body))
	}
}

func TestAppendReadsTimesInUTC(t *testing.T) {
	at := metav1.NewTime(time.Date(2026, 11, 20, 9, 0, 0, 5, time.FixedZone("elsewhere", 3600)))
	list := &metav1.PartialObjectMetadataList{Items: []metav1.PartialObjectMetadata{{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: at, DeletionTimestamp: &at}}}}
	got, _, err := read(bytes.NewReader(encoded(t, list)), false)
	if err != nil {
		t.Fatal(err)
	}
	want := time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)
	if got[0].Created != want || *got[0].Deleted != want {
		t.Errorf("created %v, deleted %v; want %v", got[0].Created, got[0].Deleted, want)
	}
}
