package e2e

import (
	"bytes"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// recordedWrite is a recorded write.
type recordedWrite struct {
	Method, Path, Type string
	Query              url.Values
	Body               string
}

// name is the last part of the path.
func (w recordedWrite) name() string { return w.Path[strings.LastIndex(w.Path, "/")+1:] }

// allowWrites makes the proxy forward writes as well.
func (f *recordingProxy) allowWrites() *recordingProxy {
	f.writesAllowed = true
	return f
}

// recordWrite records a write with its body. It does not forward an incomplete body, such as that
// of a killed program: half a DELETE has no UID.
func (f *recordingProxy) recordWrite(r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	f.mu.Lock()
	defer f.mu.Unlock()
	f.writes = append(f.writes, recordedWrite{r.Method, r.URL.Path, r.Header.Get("Content-Type"), r.URL.Query(), string(body)})
}

// recordedWrites returns the writes so far.
func (f *recordingProxy) recordedWrites() []recordedWrite {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]recordedWrite{}, f.writes...)
}

// reading matches reads.
func reading(about func(*http.Request) bool) func(*http.Request) bool {
	return func(r *http.Request) bool { return r.Method == http.MethodGet && about(r) }
}

// deleting matches DELETEs.
func deleting(about func(*http.Request) bool) func(*http.Request) bool {
	return func(r *http.Request) bool { return r.Method == http.MethodDelete && about(r) }
}

// writing matches all matching writes.
func writing(about func(*http.Request) bool) func(*http.Request) bool {
	return func(r *http.Request) bool { return isWrite(r) && about(r) }
}

// withoutDryRun matches requests that are not dry runs. A DELETE has dryRun in its body.
func withoutDryRun(about func(*http.Request) bool) func(*http.Request) bool {
	return func(r *http.Request) bool { return about(r) && !r.URL.Query().Has("dryRun") }
}

// single matches requests about single objects of a type.
func single(plural, name string) func(*http.Request) bool {
	return func(r *http.Request) bool { return getOf(plural)(r) && strings.HasSuffix(r.URL.Path, "/"+name) }
}

// exceptFirst matches all matching requests but the first.
func exceptFirst(about func(*http.Request) bool) func(*http.Request) bool {
	first := firstOnly(about)
	return func(r *http.Request) bool { return about(r) && !first(r) }
}

// beforeResponse returns a handler that calls do before the server responds.
func beforeResponse(through http.Handler, do func()) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		do()
		through.ServeHTTP(w, r)
	}
}
