package client

import (
	"context"
	"io"
	"net/http/httptrace"
	"sync/atomic"
	"time"
)

// compression decides whether lists are requested compressed. It is safe for concurrent use.
type compression struct {
	near     atomic.Bool // some response, of discovery or of a list, began within nearLatency
	slowLink atomic.Bool // some uncompressed response arrived at less than minThroughput
}

// worthwhile reports whether to request the next list compressed.
func (c *compression) worthwhile() bool { return !c.near.Load() || c.slowLink.Load() }

const (
	// nearLatency is the response time up to which a server counts as near. Compressing lists
	// then costs more than sending them. The time to connect says nothing: a tunnel connects at
	// once.
	nearLatency = 5 * time.Millisecond
	// minThroughput is how many uncompressed bytes per second a link must carry; below that,
	// later lists are compressed, however near the server is.
	minThroughput = 10 << 20
	// minSampleBytes is the size from which a response tells something about the throughput.
	minSampleBytes = 1 << 20
)

// traceLatency returns a context that measures the time from the end of a request to the first byte of
// its response, and a function to call if the response is the server's: an error may come from a
// proxy that is nearer. A busy server may take longer for some responses, so one fast one is enough.
func (c *compression) traceLatency(ctx context.Context) (traced context.Context, record func()) {
	started := time.Now()
	var wrote, answered atomic.Int64 // time since started; 0: not yet
	trace := &httptrace.ClientTrace{
		WroteRequest:         func(httptrace.WroteRequestInfo) { wrote.Store(int64(time.Since(started))) },
		GotFirstResponseByte: func() { answered.Store(int64(time.Since(started))) },
	}
	return httptrace.WithClientTrace(ctx, trace), func() {
		if end := answered.Load(); end > 0 && time.Duration(end-wrote.Load()) <= nearLatency {
			c.near.Store(true)
		}
	}
}

// recordTransfer records how long an uncompressed response took. A slow one counts for as long as
// the Client is used, whatever the latency is.
func (c *compression) recordTransfer(bytes int64, took time.Duration) {
	if bytes >= minSampleBytes && float64(bytes) < minThroughput*took.Seconds() {
		c.slowLink.Store(true)
	}
}

// measuredBody measures the throughput of an uncompressed response.
type measuredBody struct {
	io.ReadCloser
	compression *compression
	bytes       int64
	waited      time.Duration
}

func (w *measuredBody) Read(b []byte) (int, error) {
	begun := time.Now()
	n, err := w.ReadCloser.Read(b)
	w.bytes += int64(n)
	w.waited += time.Since(begun)
	return n, err
}

func (w *measuredBody) Close() error {
	w.compression.recordTransfer(w.bytes, w.waited)
	return w.ReadCloser.Close()
}
