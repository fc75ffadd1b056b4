package apiserver

import (
	"context"
	"encoding/json"
	"net/http"
	"sort"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// RawEvents returns the channel for events of a path, as the server sends them, which need not be
// true. An event that is sent there goes to one watch.
func (s *Server) RawEvents(path string) chan any {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.raw[path] == nil {
		s.raw[path] = make(chan any)
	}
	return s.raw[path]
}

// watch answers a watch: first with what happened since its resourceVersion, or with the objects as
// they are, then with what happens. It ignores when an object begins or ceases to match a selector. It
// ends when the type is no longer served (crdHandler.tearDown of apiextensions-apiserver).
func (s *Server) watch(w http.ResponseWriter, r *http.Request, at place) {
	query := r.URL.Query()
	selected, err := s.selection(at, query)
	if err != nil {
		RespondError(w, r, err)
		return
	}
	w.Header().Set("Content-Type", InJSON)
	send := func(event watch.EventType, o *Object) {
		_ = json.NewEncoder(w).Encode(map[string]any{"type": event, "object": inForm(r, at, o)}) // fails if the client has disconnected
	}
	from, _ := strconv.Atoi(query.Get("resourceVersion"))
	if initial := query.Get("sendInitialEvents") == "true"; initial || from == 0 {
		for _, o := range selected.objects {
			send(watch.Added, &o)
		}
		if from = selected.revision; initial {
			end := &Object{Type: selected.of}
			end.ResourceVersion, end.Annotations = strconv.Itoa(from), map[string]string{metav1.InitialEventsAnnotationKey: "true"}
			send(watch.Bookmark, end)
		}
	}
	ctx, end := context.WithCancel(r.Context())
	defer end()
	s.follow(w, r.WithContext(ctx), func() <-chan struct{} {
		events, written := s.since(from, selected)
		for _, e := range events {
			from, _ = strconv.Atoi(e.Object.ResourceVersion)
			if e.Object.Type == selected.of && (at.namespace == "" || at.namespace == e.Object.Namespace) && selected.matches(&e.Object) {
				send(e.Type, &e.Object)
			}
		}
		if written == nil {
			end()
		}
		return written
	})
}

// WatchRaw answers a watch of any path, with nothing but RawEvents.
func (s *Server) WatchRaw(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", InJSON)
	s.follow(w, r, func() <-chan struct{} { return nil })
}

// follow keeps a watch open. It calls send at first and whenever the channel that it returned is
// closed.
func (s *Server) follow(w http.ResponseWriter, r *http.Request, send func() <-chan struct{}) {
	s.Watches.Add(1)
	defer s.Watches.Add(-1)
	var over <-chan time.Time
	if s.WatchLifetime > 0 {
		over = time.After(s.WatchLifetime)
	}
	raw := s.RawEvents(r.URL.Path)
	for {
		written := send()
		w.(http.Flusher).Flush()
		select {
		case <-r.Context().Done():
			return
		case <-over:
			return
		case <-written:
		case event := <-raw:
			_ = json.NewEncoder(w).Encode(event) // fails if the client has disconnected
		}
	}
}

// since returns the events after a revision, and a channel that is closed when there are more of a type or
// it is no longer served. The channel is nil if that was so since the selection.
func (s *Server) since(revision int, selected selection) ([]Event, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	written := s.written[selected.of]
	if written == nil && s.unserved[selected.of] == selected.unserved {
		written = make(chan struct{})
		s.written[selected.of] = written
	}
	first := sort.Search(len(s.events), func(i int) bool {
		at, _ := strconv.Atoi(s.events[i].Object.ResourceVersion)
		return at > revision
	})
	return s.events[first:], written
}
