package apiserver

import (
	"context"
	"io"
	"net/http"
)

// Transport returns a transport to a handler without a network. So a client with it works in a
// bubble of package synctest, where time passes only while all goroutines wait.
func Transport(handler http.Handler) http.RoundTripper { return inMemory{handler} }

type inMemory struct{ http.Handler }

func (m inMemory) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(r.Context())
	r = r.WithContext(ctx)
	if r.Body == nil {
		r.Body = http.NoBody // which a handler may read
	}
	reader, writer := io.Pipe()
	w := &responseWriter{header: http.Header{}, body: writer, status: make(chan int, 1)}
	go func() {
		defer cancel()
		m.ServeHTTP(w, r)
		w.WriteHeader(http.StatusOK)
		writer.Close()
	}()
	var status int
	select {
	case status = <-w.status:
	case <-ctx.Done():
		reader.Close()
		return nil, ctx.Err()
	}
	return &http.Response{
		StatusCode: status, Header: w.header, Body: cancelingBody{reader, cancel}, ContentLength: -1,
		Request: r, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}, nil
}

type responseWriter struct {
	header http.Header
	body   *io.PipeWriter
	status chan int
	begun  bool
}

func (w *responseWriter) Header() http.Header { return w.header }
func (w *responseWriter) Flush()              { w.WriteHeader(http.StatusOK) }

func (w *responseWriter) WriteHeader(status int) {
	if !w.begun {
		w.begun = true
		w.status <- status
	}
}

func (w *responseWriter) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(p)
}

type cancelingBody struct {
	*io.PipeReader
	cancel func()
}

func (b cancelingBody) Close() error {
	b.cancel()
	return b.PipeReader.Close()
}
