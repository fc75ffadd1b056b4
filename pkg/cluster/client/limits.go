package client

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Limits for the uncompressed size of one response, so that an endless response cannot use up all
// memory. Metadata lists are decoded as they arrive and counted by Memory; all other responses
// are held as a whole.
const (
	maxListBytes   = 4 << 30
	maxAnswerBytes = 64 << 20 // metadata of one object, discovery, errors
	maxEventBytes  = 16 << 20 // one event; client-go itself limits those in protobuf
)

// wholeShare limits an answer with whole objects, and a metadata list in JSON, which cannot be decoded
// as it arrives, to a fraction of MaxMemory: several answers are held at a time, and each may be held
// twice while it is decoded.
const wholeShare = 16

// AnswerTooLongError reports a response that exceeds its limit.
type AnswerTooLongError struct {
	what  string
	limit int64
}

func (e *AnswerTooLongError) Error() string {
	return fmt.Sprintf("%s of the server is longer than %d MiB, the most that this tool reads", e.what, e.limit>>20)
}

// limitingTransport limits and verifies every response.
type limitingTransport struct {
	http.RoundTripper
	memory int64 // Config.MaxMemory
	answer int64 // limit for everything except lists, events and whole objects
}

// RoundTrip returns verification errors when the body is read. An error returned here would be
// taken for a connection error.
func (t *limitingTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := t.RoundTripper.RoundTrip(r)
	if err != nil || response.Body == nil {
		return response, err
	}
	if err := verifyResponse(response); err != nil {
		_ = response.Body.Close() // nobody reads it
		response.Body = failedBody{err}
		return response, nil
	}
	if response.StatusCode >= http.StatusBadRequest {
		return response, nil // limited above
	}
	body := &limitedBody{ReadCloser: response.Body, what: "an answer", limit: t.answer}
	inProtobuf, accept := strings.Contains(response.Header.Get("Content-Type"), "protobuf"), r.Header.Get("Accept")
	switch {
	case r.URL.Query().Has("watch") && inProtobuf: // client-go limits each event
		return response, nil
	case r.URL.Query().Has("watch"):
		body.what, body.limit, body.perLine = "an event", maxEventBytes, true
	case accept == acceptList && inProtobuf:
		body.what, body.limit = "a list", maxListBytes
	case accept == AcceptWhole, accept == AcceptTable, strings.Contains(accept, "as=PartialObjectMetadataList"):
		body.limit = t.memory / wholeShare
	}
	response.Body = body
	return response, nil
}

// limitedBody fails once more than limit bytes were read.
type limitedBody struct {
	io.ReadCloser
	what    string
	limit   int64
	perLine bool // limit each line: the server ends every event with a newline
	read    int64
}

func (b *limitedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.read += int64(n)
	if b.perLine {
		if end := bytes.LastIndexByte(p[:n], '\n'); end >= 0 {
			b.read = int64(n - end - 1)
		}
	}
	if b.read > b.limit {
		return n, &AnswerTooLongError{b.what, b.limit}
	}
	return n, err
}

// DefaultMaxMemory is enough for several million objects.
const DefaultMaxMemory = 2 << 30

// MemoryError reports that a server sent more than a scan or a backup may hold.
type MemoryError struct {
	Limit int64 // bytes
	// Largest are the namespaces whose large objects take the most: at least half as much as those of any other.
	Largest []string
}

func (e *MemoryError) Error() string {
	return fmt.Sprintf("the answers of the server need more than %d MiB of memory", e.Limit>>20)
}

// Memory limits the bytes that are held of a server's responses. It is safe for concurrent use.
type Memory struct {
	limit int64
	held  atomic.Int64

	mu    sync.Mutex
	large map[string]int64 // bytes of large objects, by namespace
}

func (m *Memory) Take(n int64) error {
	if m.held.Add(n) <= m.limit {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	full := &MemoryError{Limit: m.limit}
	most := slices.Max(append(slices.Collect(maps.Values(m.large)), 1))
	for _, namespace := range slices.Sorted(maps.Keys(m.large)) {
		if m.large[namespace] >= (most+1)/2 {
			full.Largest = append(full.Largest, namespace)
		}
	}
	return full
}

func (m *Memory) Release(n int64) { m.held.Add(-n) }

// Hold counts an object. After an error it has to be dropped, too.
func (m *Memory) Hold(o *object.Object) error {
	size := sizeOf(o)
	m.countLarge(o, size)
	return m.Take(size)
}

// Drop releases objects that Hold counted.
func (m *Memory) Drop(objects ...*object.Object) {
	for _, o := range objects {
		size := sizeOf(o)
		m.countLarge(o, -size)
		m.Release(size)
	}
}

// isLarge reports whether an object has so many owner references and finalizers that these need more memory
// than the rest of it. An ordinary object has one or two.
func isLarge(o *object.Object) bool { return len(o.Owners)+len(o.Finalizers) > 3 }

// countLarge counts the large objects of each namespace. It leaves out those without one, which no tenant may create.
func (m *Memory) countLarge(o *object.Object, size int64) {
	if o.Namespace == "" || !isLarge(o) {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.large[o.Namespace] += size; m.large[o.Namespace] == 0 {
		delete(m.large, o.Namespace)
	}
}

// Keep makes an object ready to be held: if it is a large one in a Crowded namespace, without its owner references
// and the finalizers of others.
func (c *Client) Keep(o *object.Object) {
	if !isLarge(o) || !slices.Contains(c.Crowded, o.Namespace) {
		return
	}
	// its strings share memory with those that are left out
	o.Name, o.UID, o.ResourceVersion = strings.Clone(o.Name), types.UID(strings.Clone(string(o.UID))), strings.Clone(o.ResourceVersion)
	all := o.Finalizers
	o.Owners, o.Finalizers = nil, nil
	for _, ours := range []string{object.OrphanFinalizer, object.ForegroundFinalizer} {
		if slices.Contains(all, ours) {
			o.Finalizers = append(o.Finalizers, ours)
		}
	}
}

// Gaps returns a gap for each of the Crowded namespaces: any of its objects may depend on what is in it, or on what
// has no namespace.
func (c *Client) Gaps() []snapshot.Gap {
	var out []snapshot.Gap
	for _, namespace := range c.Crowded {
		out = append(out, snapshot.Gap{
			Group: snapshot.All, Resource: snapshot.All, Namespace: namespace, Reason: snapshot.TooLarge,
			Message: fmt.Sprintf("its objects have so many owner references and finalizers that they do not fit into %d MiB of memory", c.Config.MaxMemory>>20),
		})
	}
	return out
}

// Held returns the bytes that are counted.
func (m *Memory) Held() int64 { return m.held.Load() }

// builtPerReference is what the graph, the index of a live copy, and the rules need for one owner reference,
// in bytes: measured as 140 for an audit and 155 in service, for 150 objects with 10,000 references each.
const builtPerReference = 160

// sizeOf estimates the bytes that an object uses, including strings that it shares and what is built for
// its references.
func sizeOf(o *object.Object) int64 {
	n := int(unsafe.Sizeof(*o)) + len(o.Name) + len(o.Namespace) + len(o.UID) + len(o.ResourceVersion)
	for i := range o.Owners {
		r := &o.Owners[i]
		n += builtPerReference + int(unsafe.Sizeof(*r)) + len(r.APIVersion) + len(r.Kind) + len(r.Name) + len(r.UID)
	}
	for _, f := range o.Finalizers {
		n += int(unsafe.Sizeof(f)) + len(f)
	}
	for k, v := range o.Labels {
		n += 2*int(unsafe.Sizeof(k)) + len(k) + len(v)
	}
	return int64(n)
}

// jsonCost is how many times its length a JSON response uses while it is decoded: the bytes
// received, the items cut from it, and the decoded values.
const jsonCost = 3

// readAll reads a response to its end. The caller must release held, even on an error.
func (m *Memory) readAll(in io.Reader) (raw []byte, held int64, err error) {
	chunk := make([]byte, 64<<10)
	for {
		n, err := in.Read(chunk)
		raw = append(raw, chunk[:n]...)
		cost := int64(n) * jsonCost
		held += cost
		if full := m.Take(cost); full != nil {
			return nil, held, full
		}
		switch {
		case err == io.EOF:
			return raw, held, nil
		case err != nil:
			return nil, held, err
		}
	}
}
