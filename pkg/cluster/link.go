package cluster

import (
	"io"
	"net/http/httptrace"
	"sync/atomic"
	"time"
)

// compression is what is known of the way to the server.
type compression struct{ near atomic.Bool }

const (
	// nearby is how long the shortest answer takes at most where compressing lists costs
	// the server more than sending them as they are. Connecting says nothing: a tunnel
	// is connected at once.
	nearby = 5 * time.Millisecond
	// narrow is how many bytes a second come, of a list that is not compressed, over a
	// link on which it should be.
	narrow = 10 << 20
	// weighty is how many bytes of an answer say something of that.
	weighty = 1 << 20
)

// timing notes how long it is from the end of a request to the begin of its answer, which
// is to be one that the server has at hand.
func (l *compression) timing() *httptrace.ClientTrace {
	begun := time.Now()
	var wrote atomic.Int64 // since begun
	return &httptrace.ClientTrace{
		WroteRequest: func(httptrace.WroteRequestInfo) { wrote.Store(int64(time.Since(begun))) },
		GotFirstResponseByte: func() {
			if time.Since(begun)-time.Duration(wrote.Load()) <= nearby {
				l.near.Store(true)
			}
		},
	}
}

// carried notes how long an answer took that was not compressed.
func (l *compression) carried(bytes int64, took time.Duration) {
	if bytes >= weighty && float64(bytes) < narrow*took.Seconds() {
		l.near.Store(false)
	}
}

// weighed is a body that is not compressed, of which the link is told how it came.
type weighed struct {
	io.ReadCloser
	on     *compression
	bytes  int64
	waited time.Duration
}

func (w *weighed) Read(b []byte) (int, error) {
	begun := time.Now()
	n, err := w.ReadCloser.Read(b)
	w.bytes += int64(n)
	w.waited += time.Since(begun)
	return n, err
}

func (w *weighed) Close() error {
	w.on.carried(w.bytes, w.waited)
	return w.ReadCloser.Close()
}
