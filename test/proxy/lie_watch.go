package proxy

import (
	"bytes"
	"net/http"
)

// stream hands a watch on in JSON, and puts a lie into it: before the first event of the
// server or, where that begins with what is there, behind that.
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

// inserting writes a lie between the lines that others write, once.
type inserting struct {
	http.ResponseWriter
	lie   []byte // nil: it was told
	ready bool
	code  int
}

// Unwrap is for http.ResponseController.
func (i *inserting) Unwrap() http.ResponseWriter { return i.ResponseWriter }

// Flush sends what was written, and the lie as soon as the client is to believe it.
func (i *inserting) Flush() {
	i.insert()
	_ = http.NewResponseController(i.ResponseWriter).Flush() // a client that is gone needs no answer
}

func (i *inserting) insert() {
	if !i.ready || i.lie == nil || i.code != http.StatusOK {
		return
	}
	lie := i.lie
	i.lie = nil
	_, _ = i.ResponseWriter.Write(lie) // a client that is gone needs no answer
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

// present returns the objects that are there, of those that the watch is about.
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

// eventDeleted says of everything that it was deleted.
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
