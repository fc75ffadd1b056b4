package client

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Limits for the uncompressed size of one response, so that an endless response cannot use up all
// memory. Metadata lists are decoded as they arrive and counted by Memory; all other responses
// are held as a whole.
const (
	maxListBytes   = 4 << 30
	maxAnswerBytes = 64 << 20 // metadata of one object, discovery, errors
	maxEventBytes  = 16 << 20 // one event; client-go itself limits those in protobuf
)

// A backup reads whole objects. It holds two pages of them, or one object per request in flight,
// and each may be held twice while it is decoded. So their limits are fractions of MaxMemory.
const (
	jsonListShare = 16 // metadata as JSON, which cannot be decoded as it arrives
	pageShare     = 16
	objectShare   = 64
)

// TooLongError reports a response that exceeds its limit.
type TooLongError struct {
	what  string
	limit int64
}

func (e *TooLongError) Error() string {
	return fmt.Sprintf("%s of the server has more than the %d MiB that are read: it may have no end", e.what, e.limit>>20)
}

// limitingTransport limits and verifies every response.
type limitingTransport struct {
	http.RoundTripper
	base   string
	memory int64 // Options.MaxMemory
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
	body := &limitedBody{ReadCloser: response.Body, what: "an answer", limit: maxAnswerBytes}
	ok := response.StatusCode >= 200 && response.StatusCode < 300
	switch inProtobuf := strings.Contains(response.Header.Get("Content-Type"), "protobuf"); {
	case !ok:
	case verbOf(r, t.base) == verbWatch && inProtobuf: // client-go limits each event
		return response, nil
	case verbOf(r, t.base) == verbWatch:
		body.what, body.limit, body.perLine = "an event", maxEventBytes, true
	case verbOf(r, t.base) == verbList && r.Header.Get("Accept") == acceptList && inProtobuf:
		body.what, body.limit = "a list", maxListBytes
	case verbOf(r, t.base) == verbList && r.Header.Get("Accept") == acceptList:
		body.what, body.limit = "a list", t.memory/jsonListShare
	case verbOf(r, t.base) == verbList:
		body.what, body.limit = "a list", t.memory/pageShare
	case r.Header.Get("Accept") == AcceptWhole:
		body.what, body.limit = "an object", t.memory/objectShare
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
