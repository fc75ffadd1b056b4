package client

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"unsafe"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
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

// TooLongError reports a response that exceeds its limit.
type TooLongError struct {
	what  string
	limit int64
}

func (e *TooLongError) Error() string {
	return fmt.Sprintf("%s of the server is longer than %d MiB, the most that this tool reads", e.what, e.limit>>20)
}

// limitingTransport limits and verifies every response.
type limitingTransport struct {
	http.RoundTripper
	memory int64 // Options.MaxMemory
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
		return n, &TooLongError{b.what, b.limit}
	}
	return n, err
}

// DefaultMaxMemory is enough for several million objects.
const DefaultMaxMemory = 2 << 30

// MemoryError reports that a server sent more than a scan or a backup may hold.
type MemoryError struct{ Limit int64 } // bytes

func (e *MemoryError) Error() string {
	return fmt.Sprintf("the answers of the server need more than %d MiB of memory", e.Limit>>20)
}

// Memory limits the bytes that are held of a server's responses. It is safe for concurrent use.
type Memory struct {
	limit int64
	held  atomic.Int64
}

func (m *Memory) Take(n int64) error {
	if m.held.Add(n) > m.limit {
		return &MemoryError{m.limit}
	}
	return nil
}

func (m *Memory) Release(n int64) { m.held.Add(-n) }

// Hold counts an object as a list does.
func (m *Memory) Hold(o *object.Object) error { return m.Take(sizeOf(o)) }

// Drop releases objects that a list or Hold counted.
func (m *Memory) Drop(objects ...*object.Object) {
	for _, o := range objects {
		m.Release(sizeOf(o))
	}
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
