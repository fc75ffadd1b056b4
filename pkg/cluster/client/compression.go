package client

import (
	"io"
	"net/http/httptrace"
	"sync/atomic"
	"time"
)

// compression decides whether lists are requested compressed.
type compression struct{ near atomic.Bool }

const (
	// nearLatency is the response time up to which a server counts as near. Compressing lists
	// then costs more than sending them. The time to connect says nothing: a tunnel connects at
	// once.
	nearLatency = 5 * time.Millisecond
	// minThroughput is how many uncompressed bytes per second a link must carry; below that,
	// lists are compressed again.
	minThroughput = 10 << 20
	// minSampleBytes is the size from which a response tells something about the throughput.
	minSampleBytes = 1 << 20
)

// latencyTrace measures the time from the end of a request to the first byte of its response. Use
// it for responses that the server has ready.
func (l *compression) latencyTrace() *httptrace.ClientTrace {
	begun := time.Now()
	var wrote atomic.Int64 // time since begun
	return &httptrace.ClientTrace{
		WroteRequest: func(httptrace.WroteRequestInfo) { wrote.Store(int64(time.Since(begun))) },
		GotFirstResponseByte: func() {
			if time.Since(begun)-time.Duration(wrote.Load()) <= nearLatency {
				l.near.Store(true)
			}
		},
	}
}

// recordTransfer records how long an uncompressed response took.
func (l *compression) recordTransfer(bytes int64, took time.Duration) {
	if bytes >= minSampleBytes && float64(bytes) < minThroughput*took.Seconds() {
		l.near.Store(false)
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
