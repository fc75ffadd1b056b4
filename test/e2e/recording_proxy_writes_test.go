package e2e

import (
	"bytes"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// written is a recorded write.
type written struct {
	Method, Path, Type string
	Query              url.Values
	Body               string
}

// name is the last part of the path.
func (w written) name() string { return w.Path[strings.LastIndex(w.Path, "/")+1:] }

// acting makes the proxy forward writes, too.
func (f *recordingProxy) acting() *recordingProxy {
	f.acts = true
	return f
}

// note records a write with its body. It does not forward an incomplete body, as of a
// killed program: half a DELETE has no UID.
func (f *recordingProxy) note(r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	f.mu.Lock()
	defer f.mu.Unlock()
	f.writes = append(f.writes, written{r.Method, r.URL.Path, r.Header.Get("Content-Type"), r.URL.Query(), string(body)})
}

// wrote returns the writes so far.
func (f *recordingProxy) wrote() []written {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]written{}, f.writes...)
}

// reading matches reads.
func reading(about func(*http.Request) bool) func(*http.Request) bool {
	return func(r *http.Request) bool { return r.Method == http.MethodGet && about(r) }
}

// deleting matches DELETEs.
func deleting(about func(*http.Request) bool) func(*http.Request) bool {
	return func(r *http.Request) bool { return r.Method == http.MethodDelete && about(r) }
}

// writing matches all writes.
func writing(about func(*http.Request) bool) func(*http.Request) bool {
	return func(r *http.Request) bool { return changing(r) && about(r) }
}

// withoutDryRun matches requests without dry run; a DELETE has it in its body.
func withoutDryRun(about func(*http.Request) bool) func(*http.Request) bool {
	return func(r *http.Request) bool { return about(r) && !r.URL.Query().Has("dryRun") }
}

// single matches requests about single objects of a type.
func single(plural, name string) func(*http.Request) bool {
	return func(r *http.Request) bool { return getOf(plural)(r) && strings.HasSuffix(r.URL.Path, "/"+name) }
}

// again matches all requests but the first.
func again(about func(*http.Request) bool) func(*http.Request) bool {
	first := once(about)
	return func(r *http.Request) bool { return about(r) && !first(r) }
}

// before returns a handler that calls do before the server responds.
func before(through http.Handler, do func()) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		do()
		through.ServeHTTP(w, r)
	}
}
