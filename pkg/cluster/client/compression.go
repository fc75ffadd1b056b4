package client

import (
	"io"
	"net/http/httptrace"
	"sync/atomic"
	"time"
)

// compression is what is known of the way to the server.
type compression struct{ near atomic.Bool }

const (
	// nearLatency is how long the shortest answer takes at most where compressing lists costs
	// the server more than sending them as they are. Connecting says nothing: a tunnel
	// is connected at once.
	nearLatency = 5 * time.Millisecond
	// minThroughput is how many bytes a second come, of a list that is not compressed, over a
	// link on which it should be.
	minThroughput = 10 << 20
	// minSampleBytes is how many bytes of an answer say something of that.
	minSampleBytes = 1 << 20
)

// latencyTrace notes how long it is from the end of a request to the begin of its answer, which
// is to be one that the server has at hand.
func (l *compression) latencyTrace() *httptrace.ClientTrace {
	begun := time.Now()
	var wrote atomic.Int64 // since begun
	return &httptrace.ClientTrace{
		WroteRequest: func(httptrace.WroteRequestInfo) { wrote.Store(int64(time.Since(begun))) },
		GotFirstResponseByte: func() {
			if time.Since(begun)-time.Duration(wrote.Load()) <= nearLatency {
				l.near.Store(true)
			}
		},
	}
}

// recordTransfer notes how long an answer took that was not compressed.
func (l *compression) recordTransfer(bytes int64, took time.Duration) {
	if bytes >= minSampleBytes && float64(bytes) < minThroughput*took.Seconds() {
		l.near.Store(false)
	}
}

// measuredBody is a body that is not compressed, of which the link is told how it came.
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
