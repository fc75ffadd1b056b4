package proxy

import (
	"bytes"
	"net/http"
)

// stream hands a watch on in JSON, and lets a function put events into it: into before
// the first one of the server, and where the server has told of what is there already.
func (t *telling) stream(lie func() []byte) *said {
	initial := t.r.URL.Query().Get("sendInitialEvents") == "true"
	return &said{stream: func(w http.ResponseWriter, r *http.Request) {
		r = r.Clone(r.Context())
		withoutProtobuf(r)
		r.Header.Del("Accept-Encoding")
		inserting := &inserting{ResponseWriter: w, lie: lie, ready: !initial}
		t.raw.ServeHTTP(inserting, r)
	}}
}

// inserting writes a lie between the lines that others write, once.
type inserting struct {
	http.ResponseWriter
	lie   func() []byte
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
	line := i.lie()
	i.lie = nil
	_, _ = i.ResponseWriter.Write(line)
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

// present returns an object that is there, of those that the watch is about.
func (t *telling) present() map[string]any {
	list := t.askFor(t.path, "")
	items := itemsOf(list.doc)
	if !list.ok() || len(items) == 0 {
		return nil
	}
	item, _ := items[t.dice.IntN(len(items))].(map[string]any)
	item = like(item)
	item["apiVersion"], item["kind"] = "meta.k8s.io/v1", "PartialObjectMetadata"
	return item
}

func event(what string, object map[string]any) []byte {
	return append(encoded(map[string]any{"type": what, "object": object}), '\n')
}

func eventDeleted(t *telling) *said {
	object := t.present()
	if object == nil {
		return nil
	}
	return t.stream(func() []byte { return event("DELETED", object) })
}

func eventOfOther(t *telling) *said {
	object := t.present()
	if object == nil {
		return nil
	}
	what := []string{"ADDED", "MODIFIED", "DELETED"}[t.dice.IntN(3)]
	object["apiVersion"], object["kind"] = "node.k8s.io/v1", "RuntimeClass"
	return t.stream(func() []byte { return event(what, object) })
}
