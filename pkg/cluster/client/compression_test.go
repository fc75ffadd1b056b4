package client

import (
	"io"
	"net/http"
	"net/http/httptrace"
	"testing"
	"testing/synctest"
	"time"
)

// respond records a response of a server after a while.
func respond(t *testing.T, c *compression, after time.Duration) {
	ctx, record := c.traceLatency(t.Context())
	trace := httptrace.ContextClientTrace(ctx)
	time.Sleep(time.Millisecond)
	trace.WroteRequest(httptrace.WroteRequestInfo{})
	time.Sleep(after)
	trace.GotFirstResponseByte()
	record()
}

func TestOneFastResponseTurnsCompressionOff(t *testing.T) {
	for name, test := range map[string]struct {
		after []time.Duration // the time of each response
		want  bool
	}{
		"no response so far":      {nil, true},
		"a far server":            {[]time.Duration{2 * nearLatency, 3 * nearLatency}, true},
		"a near server":           {[]time.Duration{0}, false},
		"a near one, busy before": {[]time.Duration{2 * nearLatency, 0}, false},
		"a near one, busy later":  {[]time.Duration{0, 2 * nearLatency}, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			c := &compression{}
			for _, after := range test.after {
				respond(t, c, after)
			}
			if got := c.worthwhile(); got != test.want {
				t.Errorf("%s: worthwhile is %t", name, got)
			}
		})
	}
}

func TestSlowLargeTransferTurnsCompressionOnForGood(t *testing.T) {
	for name, test := range map[string]struct {
		bytes int64
		took  time.Duration
		want  bool
	}{
		"much in little time":     {100 << 20, time.Second, false},
		"much in much time":       {2 << 20, time.Second, true},
		"little, which says less": {minSampleBytes - 1, time.Hour, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			c := &compression{}
			respond(t, c, 0)
			c.recordTransfer(test.bytes, test.took)
			respond(t, c, 0)
			if got := c.worthwhile(); got != test.want {
				t.Errorf("%s: worthwhile is %t", name, got)
			}
		})
	}
}

func TestListsAreCompressedUnlessServerIsNear(t *testing.T) {
	for name, test := range map[string]struct {
		near, slowLink bool
		want           string
	}{
		"a far server":              {false, false, "gzip"},
		"a near one":                {true, false, "identity"},
		"a near one on a slow link": {true, true, "gzip"},
	} {
		var got string
		c := connectTo(t, func(w http.ResponseWriter, r *http.Request) {
			got = r.Header.Get("Accept-Encoding")
			writeEmptyPodList(w)
		})
		c.compression.near.Store(test.near)
		c.compression.slowLink.Store(test.slowLink)
		if err := c.List(t.Context(), Query{Type: podType}, false).Err; err != nil || got != test.want {
			t.Errorf("%s: %q, %v, want %q", name, got, err, test.want)
		}
	}
}

func TestFastListResponseTellsThatServerIsNear(t *testing.T) {
	c := connectTo(t, func(w http.ResponseWriter, _ *http.Request) { writeEmptyPodList(w) })
	for range 1000 { // a busy machine may need several
		if err := c.List(t.Context(), Query{Type: podType}, false).Err; err != nil {
			t.Fatal(err)
		}
		if !c.compression.worthwhile() {
			return
		}
	}
	t.Error("no response counted as fast")
}

func TestFastErrorDoesNotTellThatServerIsNear(t *testing.T) {
	c := connectTo(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) })
	if err := c.List(t.Context(), Query{Type: podType}, false).Err; err == nil {
		t.Error("no error")
	}
	if !c.compression.worthwhile() {
		t.Error("the server counts as near")
	}
}

func writeEmptyPodList(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"10"},"items":[]}`)
}
