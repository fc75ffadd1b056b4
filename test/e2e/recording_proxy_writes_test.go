package e2e

import (
	"bytes"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// written is a request that was to change something, as it came.
type written struct {
	Method, Path, Type string
	Query              url.Values
	Body               string
}

// name is the last part of the path.
func (w written) name() string { return w.Path[strings.LastIndex(w.Path, "/")+1:] }

// acting lets writes through to the server, too.
func (f *recordingProxy) acting() *recordingProxy {
	f.acts = true
	return f
}

// note remembers a write, with its body. One that does not come whole, as of a program that
// is killed, goes no further: half a DELETE names no UID.
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

// wrote are the writes so far.
func (f *recordingProxy) wrote() []written {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]written{}, f.writes...)
}

// reading is about requests that change nothing.
func reading(about func(*http.Request) bool) func(*http.Request) bool {
	return func(r *http.Request) bool { return r.Method == http.MethodGet && about(r) }
}

// deleting is about DELETEs.
func deleting(about func(*http.Request) bool) func(*http.Request) bool {
	return func(r *http.Request) bool { return r.Method == http.MethodDelete && about(r) }
}

// writing is about everything that changes something.
func writing(about func(*http.Request) bool) func(*http.Request) bool {
	return func(r *http.Request) bool { return changing(r) && about(r) }
}

// withoutDryRun is about what is no trial of a patch or of something made; a DELETE says that in
// its body.
func withoutDryRun(about func(*http.Request) bool) func(*http.Request) bool {
	return func(r *http.Request) bool { return about(r) && !r.URL.Query().Has("dryRun") }
}

// single is about one object of a type.
func single(plural, name string) func(*http.Request) bool {
	return func(r *http.Request) bool { return getOf(plural)(r) && strings.HasSuffix(r.URL.Path, "/"+name) }
}

// again is about every request but the first.
func again(about func(*http.Request) bool) func(*http.Request) bool {
	first := once(about)
	return func(r *http.Request) bool { return about(r) && !first(r) }
}

// before does something, and then lets the server answer.
func before(through http.Handler, do func()) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		do()
		through.ServeHTTP(w, r)
	}
}
