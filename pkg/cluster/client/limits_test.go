package client

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/pkg/metaproto"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// forever writes some again and again until the reader is gone.
func forever(w io.Writer, some []byte) {
	for {
		if _, err := w.Write(some); err != nil {
			return
		}
	}
}

// proper returns the start of a protobuf list that announces so many bytes of items.
func proper(announced uint64) []byte {
	return binary.AppendUvarint(append([]byte(metaproto.Head), 0x12), announced)
}

// entry returns one item of such a list, with a padded name.
func entry(padding int) []byte {
	name := append([]byte{0x0a}, binary.AppendUvarint(nil, uint64(padding+1))...)
	name = append(name, strings.Repeat("n", padding+1)...)
	meta := append(name, 0x1a, 2, 'n', 's', 0x2a, 1, 'u', 0x32, 1, '5')
	held := append(append([]byte{0x0a}, binary.AppendUvarint(nil, uint64(len(meta)))...), meta...)
	return append(append([]byte{0x12}, binary.AppendUvarint(nil, uint64(len(held)))...), held...)
}

// peak returns how much the heap grew at most during do.
func peak(do func()) (grown uint64) {
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	over, ended := make(chan struct{}), make(chan uint64)
	go func() {
		most := before.HeapAlloc
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				runtime.ReadMemStats(&now)
				most = max(most, now.HeapAlloc)
			case <-over:
				ended <- most - before.HeapAlloc
				return
			}
		}
	}()
	do()
	close(over)
	return <-ended
}

// Each response ends by a limit of the client, not by the request timeout. One limit is lower here,
// because the race detector makes 64 MiB take minutes on a busy machine.
func TestEndlessResponseIsLimited(t *testing.T) {
	const mib = 1 << 20
	protobuf := func(w http.ResponseWriter) { w.Header().Set("Content-Type", "application/vnd.kubernetes.protobuf") }
	list := func(c *Client) error {
		return c.List(context.Background(), Query{Type: podType}, false).Err
	}
	get := func(c *Client) error {
		result, err := c.do(context.Background(), func() *rest.Request { return c.get(Query{Type: podType, Namespace: "ns", Name: "name"}, AcceptObject) })
		if err != nil {
			return err
		}
		_, err = ReadObject(result, Query{Type: podType, Namespace: "ns", Name: "name"}, true)
		return err
	}
	discover := func(c *Client) error {
		_, err := c.GetRaw(context.Background(), "/api", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")
		return err
	}
	zeros := bytes.Repeat([]byte("0"), mib)
	for name, test := range map[string]struct {
		answer http.HandlerFunc
		ask    func(*Client) error
		says   string
		most   uint64 // MiB that the heap may grow by, including garbage
	}{
		"a list whose one item is announced to be larger than the server can store": {
			answer: func(w http.ResponseWriter, _ *http.Request) {
				protobuf(w)
				_, _ = w.Write(append(proper(1<<31), append([]byte{0x12}, binary.AppendUvarint(nil, 1<<30)...)...))
				forever(w, zeros)
			},
			ask: list, says: "a field of the list has 1073741824 bytes, more than the 16777216 that are read", most: 8,
		},
		"a list that is announced to be longer than any": {
			answer: func(w http.ResponseWriter, _ *http.Request) {
				protobuf(w)
				_, _ = w.Write(proper(1 << 40))
				forever(w, entry(100))
			},
			ask: list, says: "more than the 4294967296 that are read", most: 8,
		},
		"garbage behind a list, without end": {
			answer: func(w http.ResponseWriter, _ *http.Request) {
				protobuf(w)
				one := entry(1)
				_, _ = w.Write(append(proper(uint64(len(one))), one...))
				forever(w, bytes.Repeat([]byte{0xff}, mib))
			},
			ask: list, says: "read list: ", most: 8,
		},
		"one object without end": {
			answer: func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, `{"metadata":{"name":"`)
				forever(w, zeros)
			},
			ask: get, says: "an answer of the server is longer than 4 MiB, the most that this tool reads", most: 32,
		},
		"one object that is packed, and without end when it is unpacked": {
			answer: func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.Header().Set("Content-Encoding", "gzip")
				z := gzip.NewWriter(w)
				_, _ = io.WriteString(z, `{"metadata":{"name":"`)
				forever(z, zeros)
			},
			ask: get, says: "longer than 4 MiB, the most that this tool reads", most: 32,
		},
		"an object of a length that is too large to begin with": {
			answer: func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.Header().Set("Content-Length", fmt.Sprint(int64(1)<<40))
				forever(w, zeros)
			},
			ask: get, says: "longer than 4 MiB, the most that this tool reads", most: 32,
		},
		"a refusal without end": {
			answer: func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusForbidden)
				forever(w, zeros)
			},
			ask: list, says: "longer than 1 MiB, the most that this tool reads", most: 32,
		},
		"discovery without end": {
			answer: func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, `{"kind":"`)
				forever(w, zeros)
			},
			ask: discover, says: "longer than 4 MiB, the most that this tool reads", most: 64,
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := connectWith(t, test.answer, Config{Timeout: time.Minute, maxAnswer: 4 * mib})
			var err error
			if grown := peak(func() { err = test.ask(c) }); grown > test.most*mib {
				t.Errorf("the heap grew by %d MiB, more than %d", grown/mib, test.most)
			}
			if err == nil || !strings.Contains(err.Error(), test.says) || len(err.Error()) > 1000 {
				t.Errorf("it says %v, want %q", err, test.says)
			}
		})
	}
}

func TestAnswersAreLimitedTo64MiB(t *testing.T) {
	c := connectTo(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		forever(w, make([]byte, 1<<20))
	})
	body, err := c.REST.Get().AbsPath("/api").Stream(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	n, err := io.Copy(io.Discard, body)
	if want := (&AnswerTooLongError{"an answer", 64 << 20}).Error(); n < 64<<20 || err == nil || err.Error() != want {
		t.Errorf("after %d bytes: %v, want %s", n, err, want)
	}
}

func TestEndlessListFails(t *testing.T) {
	look := func(t *testing.T, answer func(http.ResponseWriter, int)) snapshot.Gap {
		var asked atomic.Int32
		c := connectTo(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/vnd.kubernetes.protobuf")
			answer(w, int(asked.Add(1)))
		})
		list := c.List(context.Background(), Query{Type: podType}, false)
		objects, err := list.Objects, list.Err
		if err == nil {
			t.Fatalf("all is well, with %d objects", len(objects))
		}
		reason, message := Classify(err)
		return snapshot.Gap{Reason: reason, Message: message}
	}
	for name, test := range map[string]struct {
		answer func(w http.ResponseWriter, n int)
		want   string
	}{
		"a page that offers itself": {
			func(w http.ResponseWriter, _ int) { _, _ = w.Write(pageOf(t, "again", "a")) },
			ErrEndlessPages.Error(),
		},
		"items that are cut off": {
			func(w http.ResponseWriter, _ int) { _, _ = w.Write(append(proper(1<<30), entry(5)...)) },
			"read list: unexpected EOF",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if gap := look(t, test.answer); gap.Message != test.want || gap.Reason == "" {
				t.Errorf("%+v, want %q", gap, test.want)
			}
		})
	}
}

func TestPagesNext(t *testing.T) {
	more := int64(3)
	for name, test := range map[string]struct {
		pages []metav1.ListMeta
		size  int   // objects of each page
		says  error // of the last page; nil: it ends the list
		total int
	}{
		"with the last":             {[]metav1.ListMeta{{Continue: "a", RemainingItemCount: &more}, {Continue: "b"}, {}}, 10, nil, 30},
		"where a token repeats":     {[]metav1.ListMeta{{Continue: "a"}, {Continue: "a"}}, 10, ErrEndlessPages, 20},
		"where a page is empty":     {[]metav1.ListMeta{{Continue: "a"}}, 0, ErrEndlessPages, 0},
		"where there are ever more": {[]metav1.ListMeta{{Continue: "a"}, {Continue: "b"}}, maxObjects/2 + 1, ErrEndlessPages, maxObjects + 2},
		"with a lost token":         {[]metav1.ListMeta{{RemainingItemCount: &more}}, 10, &AnswerError{"its last page says that more objects remain"}, 13},
	} {
		t.Run(name, func(t *testing.T) {
			var p Pages
			var goesOn bool
			var err error
			for i, page := range test.pages {
				page.ResourceVersion = "9"
				goesOn, err = p.Next(page, test.size)
				if last := i == len(test.pages)-1; !last && (err != nil || !goesOn) {
					t.Fatalf("page %d: %t, %v", i, goesOn, err)
				}
			}
			if fmt.Sprint(err) != fmt.Sprint(test.says) || goesOn || p.total != test.total {
				t.Errorf("%v, of %d objects, want %v, of %d", err, p.total, test.says, test.total)
			}
		})
	}
	if _, err := new(Pages).Next(metav1.ListMeta{}, 1); err == nil {
		t.Error("a list without a resourceVersion is accepted")
	}
}

// A watch has no end, so the limit is for each event.
func TestWatchEventIsLimited(t *testing.T) {
	event := func(pad int) string {
		o := metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: types.UID("u"), Annotations: map[string]string{"x": strings.Repeat("x", pad)}}}
		raw, _ := json.Marshal(o)
		return fmt.Sprintf(`{"type":"MODIFIED","object":%s}`, raw)
	}
	for name, test := range map[string]struct {
		body string
		want string
	}{
		"many events may be longer together": {strings.Repeat(event(1<<20)+"\n", 40), ""},
		"one may not":                        {event(1) + "\n" + event(17<<20), "an event of the server is longer than 16 MiB, the most that this tool reads"},
	} {
		t.Run(name, func(t *testing.T) {
			b := &limitedBody{ReadCloser: io.NopCloser(strings.NewReader(test.body)), what: "an event", limit: maxEventBytes, perLine: true}
			_, err := io.Copy(io.Discard, b)
			if got := fmt.Sprint(err); err == nil != (test.want == "") || err != nil && got != test.want {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}

func connectTo(t *testing.T, answer http.HandlerFunc) *Client {
	t.Helper()
	return connectWith(t, answer, Config{Timeout: time.Minute})
}

func connectWith(t *testing.T, answer http.HandlerFunc, o Config) *Client {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	c, err := New(&rest.Config{Host: server.URL}, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestMemoryNamesTheNamespacesWithTheMostLargeObjects(t *testing.T) {
	large := func(namespace string, references int) *object.Object {
		return &object.Object{Identity: object.Identity{Namespace: namespace}, Owners: make([]object.Reference, references)}
	}
	for name, c := range map[string]struct {
		objects []*object.Object
		want    []string
	}{
		"the largest alone":                   {[]*object.Object{large("a", 100), large("b", 10)}, []string{"a"}},
		"with those that are half as large":   {[]*object.Object{large("a", 100), large("b", 60), large("b", 3), large("c", 4)}, []string{"a", "b"}},
		"not for ordinary objects":            {[]*object.Object{large("a", 3), large("a", 3)}, nil},
		"not for objects without a namespace": {[]*object.Object{large("", 100)}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			m := (&Client{Config: Config{MaxMemory: 1 << 30}}).WithOwnMemory().Memory
			for _, o := range c.objects {
				if err := m.Hold(o); err != nil {
					t.Fatal(err)
				}
			}
			var full *MemoryError
			if err := m.Take(2 << 30); !errors.As(err, &full) || !slices.Equal(full.Largest, c.want) {
				t.Errorf("got %+v, want %q", err, c.want)
			}
			m.Drop(c.objects...)
			if err := m.Take(2 << 30); !errors.As(err, &full) || full.Largest != nil {
				t.Errorf("got %+v after all was dropped", err)
			}
		})
	}
}

func TestLargeObjectsOfACrowdedNamespaceKeepWhatTheyAre(t *testing.T) {
	c := &Client{Crowded: []string{"tenant"}}
	at := func(namespace string, references int, finalizers ...string) object.Object {
		return object.Object{Identity: object.Identity{Namespace: namespace, Name: "x", UID: "u"}, Owners: make([]object.Reference, references), Finalizers: finalizers}
	}
	for name, o := range map[string]object.Object{"of another namespace": at("shop", 99), "an ordinary one": at("tenant", 2, "a/b")} {
		kept := o
		if c.Keep(&kept); !reflect.DeepEqual(kept, o) {
			t.Errorf("%s: %+v", name, kept)
		}
	}
	o := at("tenant", 99, "a/b", object.ForegroundFinalizer, object.ForegroundFinalizer)
	c.Keep(&o)
	want := object.Object{Identity: o.Identity, Finalizers: []string{object.ForegroundFinalizer}} // its dependents know that it waits
	if !reflect.DeepEqual(o, want) {
		t.Errorf("%+v is kept, want %+v", o, want)
	}
}
