package client

import (
	"io"
	"net/http"
	"net/http/httptrace"
	"testing"
	"time"
)

func TestServerIsNearIfResponsesAreFast(t *testing.T) {
	for name, test := range map[string]struct {
		wait time.Duration
		near bool
	}{
		"at once":       {0, true},
		"after a while": {2 * nearLatency, false},
	} {
		l := &compression{}
		trace := l.latencyTrace()
		trace.WroteRequest(httptrace.WroteRequestInfo{})
		time.Sleep(test.wait) // the response time of a far server
		trace.GotFirstResponseByte()
		if l.near.Load() != test.near {
			t.Errorf("%s: near is %t", name, !test.near)
		}
	}
}

func TestSlowTransferTurnsCompressionOn(t *testing.T) {
	for name, test := range map[string]struct {
		bytes int64
		took  time.Duration
		near  bool
	}{
		"much in little time":     {100 << 20, time.Second, true},
		"much in much time":       {2 << 20, time.Second, false},
		"little, which says less": {minSampleBytes - 1, time.Hour, true},
	} {
		l := &compression{}
		l.near.Store(true)
		l.recordTransfer(test.bytes, test.took)
		if l.near.Load() != test.near {
			t.Errorf("%s: near is %t", name, !test.near)
		}
	}
}

func TestListsAreCompressedUnlessServerIsNear(t *testing.T) {
	for near, want := range map[bool]string{true: "identity", false: "gzip"} {
		var got string
		c := connectTo(t, func(w http.ResponseWriter, r *http.Request) {
			got = r.Header.Get("Accept-Encoding")
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"10"},"items":[]}`)
		})
		c.compression.near.Store(near)
		if err := c.List(t.Context(), Query{Type: podType}, false).Err; err != nil || got != want {
			t.Errorf("near %t: %q, %v, want %q", near, got, err, want)
		}
	}
}
