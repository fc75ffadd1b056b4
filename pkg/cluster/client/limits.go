package client

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// How many bytes are read of one answer, unpacked: a server whose answers have no end
// must not take all memory. Metadata lists are read as they arrive, and what is kept of
// them is counted (memory); all others have to be there as a whole.
const (
	maxListBytes   = 4 << 30
	maxAnswerBytes = 64 << 20 // metadata of one object, what is served, a refusal
	maxEventBytes  = 16 << 20 // one event, as client-go reads those in protobuf
)

// Whole objects are read for a backup: two pages of them are held at a time, or as many
// single ones as requests are in flight, and each may be held twice while it is decoded.
// So these are parts of the memory that a backup may take.
const (
	jsonListShare = 16 // metadata as JSON, which cannot be read as it arrives
	pageShare     = 16
	objectShare   = 64
)

// TooLongError says that an answer was not read to its end.
type TooLongError struct {
	what  string
	limit int64
}

func (e *TooLongError) Error() string {
	return fmt.Sprintf("%s of the server has more than the %d MiB that are read: it may have no end", e.what, e.limit>>20)
}

// limitingTransport bounds and verifies every answer, whoever reads it.
type limitingTransport struct {
	http.RoundTripper
	base   string
	memory int64 // bytes that a scan or a backup may hold
}

// RoundTrip lets a body that is too long fail while it is read, since before that there
// is no body: what stands in the way would be taken for the connection.
func (b *limitingTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := b.RoundTripper.RoundTrip(r)
	if err != nil || response.Body == nil {
		return response, err
	}
	if err := verifyResponse(response); err != nil {
		_ = response.Body.Close() // nobody reads it
		response.Body = failedBody{err}
		return response, nil
	}
	body := &limitedBody{ReadCloser: response.Body, what: "an answer", limit: maxAnswerBytes}
	ok := response.StatusCode >= 200 && response.StatusCode < 300
	switch inProtobuf := strings.Contains(response.Header.Get("Content-Type"), "protobuf"); {
	case !ok:
	case verbOf(r, b.base) == verbWatch && inProtobuf: // client-go bounds each
		return response, nil
	case verbOf(r, b.base) == verbWatch:
		body.what, body.limit, body.perLine = "an event", maxEventBytes, true
	case verbOf(r, b.base) == verbList && r.Header.Get("Accept") == acceptList && inProtobuf:
		body.what, body.limit = "a list", maxListBytes
	case verbOf(r, b.base) == verbList && r.Header.Get("Accept") == acceptList:
		body.what, body.limit = "a list", b.memory/jsonListShare
	case verbOf(r, b.base) == verbList:
		body.what, body.limit = "a list", b.memory/pageShare
	case r.Header.Get("Accept") == AcceptWhole:
		body.what, body.limit = "an object", b.memory/objectShare
	}
	response.Body = body
	return response, nil
}

// limitedBody is a body up to its bound.
type limitedBody struct {
	io.ReadCloser
	what    string
	limit   int64
	perLine bool // the bound is on each line: the server ends every event with one
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
