package proxy

import (
	"bytes"
	"net/http"
)

// stream forwards a watch in JSON and inserts a lie: before the first event of the server or, if
// the watch begins with the existing objects, after those.
func (t *falseResponse) stream(lie []byte) *response {
	initial := t.r.URL.Query().Get("sendInitialEvents") == "true"
	return &response{stream: func(w http.ResponseWriter, r *http.Request) {
		r = r.Clone(r.Context())
		withoutProtobuf(r)
		r.Header.Del("Accept-Encoding")
		inserting := &inserting{ResponseWriter: w, lie: lie, ready: !initial}
		t.upstream.ServeHTTP(inserting, r)
	}}
}

// inserting inserts a lie once between the lines written to a response.
type inserting struct {
	http.ResponseWriter
	lie   []byte // nil: already written
	ready bool
	code  int
}

// Unwrap implements the interface that http.ResponseController uses.
func (i *inserting) Unwrap() http.ResponseWriter { return i.ResponseWriter }

// Flush flushes the response, and inserts the lie as soon as it may be told.
func (i *inserting) Flush() {
	i.insert()
	_ = http.NewResponseController(i.ResponseWriter).Flush() // fails if the client has disconnected
}

func (i *inserting) insert() {
	if !i.ready || i.lie == nil || i.code != http.StatusOK {
		return
	}
	lie := i.lie
	i.lie = nil
	_, _ = i.ResponseWriter.Write(lie) // fails if the client has disconnected
}

func (i *inserting) WriteHeader(code int) {
	i.code = code
	i.ResponseWriter.WriteHeader(code)
	i.Flush()
}

func (i *inserting) Write(p []byte) (int, error) {
	n, err := i.ResponseWriter.Write(p)
	if bytes.Contains(p, []byte("k8s.io/initial-events-end")) && bytes.HasSuffix(p, []byte("\n")) {
		i.ready = true
		i.insert()
	}
	return n, err
}

// present returns the existing objects that the watch covers.
func (t *falseResponse) present() (out []map[string]any) {
	r := t.r.Clone(t.r.Context())
	r.Header.Set("Accept", "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1")
	r.URL.RawQuery = ""
	for _, item := range itemsOf(fetchJSON(t.upstream, r).doc) {
		if object, ok := item.(map[string]any); ok {
			object["apiVersion"], object["kind"] = "meta.k8s.io/v1", "PartialObjectMetadata"
			out = append(out, object)
		}
	}
	return out
}

func events(what string, objects []map[string]any) (lines []byte) {
	for _, object := range objects {
		lines = append(append(lines, encoded(map[string]any{"type": what, "object": object})...), '\n')
	}
	return lines
}

// eventDeleted reports all objects as deleted.
func eventDeleted(t *falseResponse) *response {
	objects := t.present()
	if len(objects) == 0 {
		return nil
	}
	return t.stream(events("DELETED", objects))
}

func eventOfOther(t *falseResponse) *response {
	objects := t.present()
	if len(objects) == 0 {
		return nil
	}
	for _, object := range objects {
		object["apiVersion"], object["kind"] = "node.k8s.io/v1", "RuntimeClass"
	}
	return t.stream(events([]string{"ADDED", "MODIFIED", "DELETED"}[t.dice.IntN(3)], objects))
}
