package clustertest

import (
	"encoding/json"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// WatchServer streams events to watches, and leaves all other requests to another server, such as a
// Server. It is safe for concurrent use.
type WatchServer struct {
	http.Handler
	Lifetime time.Duration // of a watch; 0: until the client ends it
	Open     atomic.Int64  // watches

	mu     sync.Mutex
	events map[string]chan Fields // by path
}

func (s *WatchServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("watch") == "" {
		s.Handler.ServeHTTP(w, r)
		return
	}
	s.Open.Add(1)
	defer s.Open.Add(-1)
	w.Header().Set("Content-Type", "application/json")
	w.(http.Flusher).Flush()
	var over <-chan time.Time
	if s.Lifetime > 0 {
		over = time.After(s.Lifetime)
	}
	for {
		select {
		case <-r.Context().Done():
			return
		case <-over:
			return
		case event := <-s.Events(r.URL.Path):
			_ = json.NewEncoder(w).Encode(event)
			w.(http.Flusher).Flush()
		}
	}
}

// Events returns the channel for the events of a path. One that is sent there goes to one watch.
func (s *WatchServer) Events(path string) chan Fields {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.events == nil {
		s.events = map[string]chan Fields{}
	}
	if s.events[path] == nil {
		s.events[path] = make(chan Fields)
	}
	return s.events[path]
}
