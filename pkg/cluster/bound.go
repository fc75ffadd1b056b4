package cluster

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
	mostStreamed = 4 << 30
	mostSingle   = 64 << 20 // metadata of one object, what is served, a refusal
	mostWatched  = 16 << 20 // one event, as client-go reads those in protobuf
)

// Whole objects are read for a backup: two pages of them are held at a time, or as many
// single ones as requests are in flight, and each may be held twice while it is decoded.
// So these are parts of the memory that a backup may take.
const (
	jsonPart   = 16 // metadata as JSON, which cannot be read as it arrives
	pagePart   = 16
	objectPart = 64
)

// tooLongError says that an answer was not read to its end.
type tooLongError struct {
	what string
	most int64
}

func (e *tooLongError) Error() string {
	return fmt.Sprintf("%s of the server has more than the %d MiB that are read: it may have no end", e.what, e.most>>20)
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
		response.Body = failing{err}
		return response, nil
	}
	body := &bounded{ReadCloser: response.Body, what: "an answer", most: mostSingle}
	ok := response.StatusCode >= 200 && response.StatusCode < 300
	switch inProtobuf := strings.Contains(response.Header.Get("Content-Type"), "protobuf"); {
	case !ok:
	case verbOf(r, b.base) == toWatch && inProtobuf: // client-go bounds each
		return response, nil
	case verbOf(r, b.base) == toWatch:
		body.what, body.most, body.lines = "an event", mostWatched, true
	case verbOf(r, b.base) == toList && r.Header.Get("Accept") == acceptList && inProtobuf:
		body.what, body.most = "a list", mostStreamed
	case verbOf(r, b.base) == toList && r.Header.Get("Accept") == acceptList:
		body.what, body.most = "a list", b.memory/jsonPart
	case verbOf(r, b.base) == toList:
		body.what, body.most = "a list", b.memory/pagePart
	case r.Header.Get("Accept") == acceptWhole:
		body.what, body.most = "an object", b.memory/objectPart
	}
	response.Body = body
	return response, nil
}

// bounded is a body up to its bound.
type bounded struct {
	io.ReadCloser
	what  string
	most  int64
	lines bool // the bound is on each line: the server ends every event with one
	read  int64
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.read += int64(n)
	if b.lines {
		if end := bytes.LastIndexByte(p[:n], '\n'); end >= 0 {
			b.read = int64(n - end - 1)
		}
	}
	if b.read > b.most {
		return n, &tooLongError{b.what, b.most}
	}
	return n, err
}
