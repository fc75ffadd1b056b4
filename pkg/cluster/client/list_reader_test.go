package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// proto returns an object in Kubernetes' protobuf.
func proto(t *testing.T, obj runtime.Object) []byte {
	t.Helper()
	info, _ := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), runtime.ContentTypeProtobuf)
	var out bytes.Buffer
	if err := info.Serializer.Encode(obj, &out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func pageOf(t *testing.T, next string, names ...string) []byte {
	t.Helper()
	list := &metav1.PartialObjectMetadataList{
		TypeMeta: metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadataList"},
		ListMeta: metav1.ListMeta{Continue: next, ResourceVersion: "10"},
	}
	for _, name := range names {
		list.Items = append(list.Items, metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID("uid-" + name), ResourceVersion: "5"}})
	}
	return proto(t, list)
}

// sends starts a server that returns the answers in turn and repeats the last one.
func sends(t *testing.T, asked *atomic.Int32, answers ...func(http.ResponseWriter)) *Client {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		n := int(asked.Add(1))
		w.Header().Set("Content-Type", "application/vnd.kubernetes.protobuf")
		answers[min(n, len(answers))-1](w)
	}))
	t.Cleanup(server.Close)
	c, err := New(&rest.Config{Host: server.URL}, Config{Timeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func all(body []byte) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) { _, _ = w.Write(body) }
}

// half sends half of a body and breaks the connection.
func half(body []byte) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Length", fmt.Sprint(len(body)))
		_, _ = w.Write(body[:len(body)/2])
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
}

func TestProtobufPage(t *testing.T) {
	first, second := pageOf(t, "more", "a", "b"), pageOf(t, "", "c", "d")
	broken := bytes.Replace(second, []byte("uid-d"), []byte("uid-"), 1) // makes a length wrong
	for name, test := range map[string]struct {
		answers []func(http.ResponseWriter)
		want    []string
		reason  snapshot.ErrorClass // class of the gap; empty: none
		asked   int
	}{
		"pages are put together": {
			answers: []func(http.ResponseWriter){all(first), all(second)},
			want:    []string{"a", "b", "c", "d"}, asked: 2,
		},
		"a page that breaks off is read again, and nothing of it twice": {
			answers: []func(http.ResponseWriter){all(first), half(second), all(second)},
			want:    []string{"a", "b", "c", "d"}, asked: 3,
		},
		"a page that keeps breaking off is a gap, behind what was read before": {
			answers: []func(http.ResponseWriter){all(first), half(second)},
			want:    []string{"a", "b"}, reason: snapshot.Unavailable, asked: 1 + RetryBackoff.Steps,
		},
		"a page that is malformed is a gap": {
			answers: []func(http.ResponseWriter){all(first), all(broken)},
			want:    []string{"a", "b"}, reason: snapshot.Unreadable, asked: 2,
		},
		"an object of the list's name is no list": {
			answers: []func(http.ResponseWriter){all(proto(t, &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadata"}}))},
			reason:  snapshot.Unreadable, asked: 1,
		},
		"what is neither protobuf nor JSON is a gap": {
			answers: []func(http.ResponseWriter){all([]byte("<html>sign in first, please, before you go on here</html>"))},
			reason:  snapshot.Unreadable, asked: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var asked atomic.Int32
			list := sends(t, &asked, test.answers...).List(context.Background(), Query{Type: podType}, false)
			objects, err := list.Objects, list.Err
			var got []string
			for _, o := range objects {
				got = append(got, o.Name)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			var reason snapshot.ErrorClass
			if err != nil {
				reason, _ = Classify(err)
			}
			if reason != test.reason {
				t.Errorf("got %v (%s), want %q", err, reason, test.reason)
			}
			if int(asked.Load()) != test.asked {
				t.Errorf("%d requests, want %d", asked.Load(), test.asked)
			}
		})
	}
}

func TestProtobufStatusNeedsCodeOfResponse(t *testing.T) {
	gone := metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure,
		Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden, Message: "pods is forbidden",
	}
	for name, code := range map[string]int{"with its code": http.StatusForbidden, "with 200": http.StatusOK} {
		var asked atomic.Int32
		c := sends(t, &asked, func(w http.ResponseWriter) {
			w.WriteHeader(code)
			_, _ = w.Write(proto(t, &gone))
		})
		err := c.List(context.Background(), Query{Type: podType}, false).Err
		is := apierrors.IsForbidden(err) && err.Error() == gone.Message
		if code == http.StatusOK { // no server sends this, and a gateway's answer must prove nothing
			is = errors.As(err, new(*AnswerError))
		}
		if !is || asked.Load() != 1 {
			t.Errorf("%s: %v, after %d requests", name, err, asked.Load())
		}
	}
}

var podType = snapshot.Type{Version: "v1", Resource: "pods", Kind: "Pod", Namespaced: true, Preferred: true, Verbs: []string{"delete", "get", "list", "watch"}}
