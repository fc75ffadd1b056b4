package client

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// RequestStats counts requests and responses. The zero value is ready to use. It is safe for
// concurrent use.
type RequestStats struct {
	mu                         sync.Mutex
	requests                   map[verb]int
	refused                    int // responses other than 2xx
	broken                     int // no response, or one that broke off
	retried                    int // sent again after one of those
	bytes                      int64
	firstRequest, lastResponse time.Time
	failed                     map[string]bool // method and URL of failed requests
}

// metricsTransport counts requests and responses into a RequestStats.
type metricsTransport struct {
	http.RoundTripper
	base string
	into *RequestStats
}

func (t *metricsTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	key := r.Method + " " + r.URL.String()
	t.into.countRequest(verbOf(r, t.base), key)
	response, err := t.RoundTripper.RoundTrip(r)
	t.into.countResponse(response, err, key)
	if err == nil && response.Body != nil {
		response.Body = &countedBody{response.Body, key, t.into}
	}
	return response, err
}

func (t *RequestStats) countRequest(v verb, key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.requests == nil {
		t.requests, t.failed, t.firstRequest = map[verb]int{}, map[string]bool{}, time.Now()
	}
	t.requests[v]++
	if t.failed[key] {
		t.retried++
		delete(t.failed, key)
	}
}

func (t *RequestStats) countResponse(response *http.Response, err error, key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lastResponse = time.Now()
	switch {
	case err != nil:
		t.broken++
	case response.StatusCode < 200 || response.StatusCode > 299:
		t.refused++
	default:
		return
	}
	t.failed[key] = true
}

// countedBody counts the bytes read from a response.
type countedBody struct {
	io.ReadCloser
	key  string
	into *RequestStats
}

func (c *countedBody) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	t := c.into
	t.mu.Lock()
	defer t.mu.Unlock()
	t.bytes += int64(n)
	t.lastResponse = time.Now()
	if err != nil && err != io.EOF { // bodies never wrap io.EOF
		t.broken++
		t.failed[c.key] = true
	}
	return n, err
}

// String returns a summary on one line. The time is that from the first request to the end of the
// last response. Bytes are counted uncompressed.
func (t *RequestStats) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var verbs []string
	total := 0
	for _, v := range slices.Sorted(maps.Keys(t.requests)) {
		verbs = append(verbs, fmt.Sprintf("%s %d", v, t.requests[v]))
		total += t.requests[v]
	}
	if total == 0 {
		return "requests: 0"
	}
	return fmt.Sprintf("requests: %d (%s), not 2xx: %d, broken off: %d, asked again: %d, bytes unpacked: %d, seconds: %.3f",
		total, strings.Join(verbs, ", "), t.refused, t.broken, t.retried, t.bytes, t.lastResponse.Sub(t.firstRequest).Seconds())
}

// verb is what a request does, as in kubectl auth can-i.
type verb string

const (
	verbList      verb = "list"
	verbGet       verb = "get"
	verbWatch     verb = "watch"
	verbCreate    verb = "create"
	verbPatch     verb = "patch"
	verbDelete    verb = "delete"
	verbDiscovery verb = "discovery"
)

// verbOf derives the verb from method and path. base is the path prefix of the server.
func verbOf(r *http.Request, base string) verb {
	switch r.Method {
	case http.MethodPost:
		return verbCreate
	case http.MethodPatch, http.MethodPut:
		return verbPatch
	case http.MethodDelete:
		return verbDelete
	}
	at := strings.Split(strings.Trim(strings.TrimPrefix(r.URL.Path, base), "/"), "/")
	switch {
	case at[0] == "api" && len(at) > 2:
		at = at[2:] // api, version
	case at[0] == "apis" && len(at) > 3:
		at = at[3:] // apis, group, version
	default:
		return verbDiscovery
	}
	if at[0] == "namespaces" && len(at) > 2 {
		at = at[2:] // the rest is in a namespace
	}
	switch {
	case r.URL.Query().Get("watch") != "":
		return verbWatch
	case len(at) > 1:
		return verbGet
	}
	return verbList
}
