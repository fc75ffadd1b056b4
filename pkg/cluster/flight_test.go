package cluster

import (
	"net/http"
	"sync"
	"testing"
	"time"
)

// TestSmallRequestsGoOutTogether: no list is answered before as many are there as shall
// be in flight.
func TestSmallRequestsGoOutTogether(t *testing.T) {
	for name, test := range map[string]struct {
		scope   Scope
		root    string
		waiting int // lists that are in flight
	}{
		"of a namespace":       {scope: Scope{Namespaces: []string{"ns"}}, root: "/namespaces/ns", waiting: 3},
		"of the whole cluster": {waiting: 1},
	} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			came, inFlight, most, all := 0, 0, 0, make(chan struct{})
			answer := func(r *http.Request) any {
				mu.Lock()
				inFlight++
				most = max(most, inFlight)
				if came++; came == test.waiting {
					close(all)
				}
				mu.Unlock()
				select {
				case <-all:
				case <-r.Context().Done():
				}
				mu.Lock()
				inFlight--
				mu.Unlock()
				return list()
			}
			c, _ := serve(t, map[string]func(*http.Request) any{
				"/api/v1" + test.root + "/pods":                     answer,
				"/apis/example.com/v1" + test.root + "/widgets":     answer,
				"/apis/old.example.com/v1" + test.root + "/widgets": answer,
			})
			c.Options.Concurrency, c.Options.Small = 1, 3
			w, err := Discover(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			s, err := Run(t.Context(), c, w, test.scope, time.Now)
			if err != nil || len(s.Gaps) > 0 {
				t.Fatalf("got %+v, %v", s, err)
			}
			if most != test.waiting {
				t.Errorf("%d lists were in flight, want %d", most, test.waiting)
			}
		})
	}
}
