package proxy

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"
)

// LoseResponse forwards a request and resets the connection instead of sending the response.
func LoseResponse(through http.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		through.ServeHTTP(httptest.NewRecorder(), r)
		ResetConnection(w, r)
	}
}

// SendTwice forwards a request twice, one after the other, and sends the first or the last
// response.
func SendTwice(through http.Handler, last bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		var said [2]*httptest.ResponseRecorder
		for i := range said {
			r.Body = io.NopCloser(bytes.NewReader(body))
			said[i] = httptest.NewRecorder()
			through.ServeHTTP(said[i], r)
		}
		answer := said[0]
		if last {
			answer = said[1]
		}
		replay(w, answer, answer.Body.Bytes())
	}
}

// maxDelay bounds how long a request waits for others to overtake it.
const maxDelay = 300 * time.Millisecond

// Queue delays requests until others overtake them. The zero value is ready for use.
type Queue struct {
	mu      sync.Mutex
	waiting map[chan struct{}]int // how many requests have yet to overtake each one
}

// Done counts a request that was forwarded.
func (q *Queue) Done() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for c := range q.waiting {
		if q.waiting[c]--; q.waiting[c] == 0 {
			close(c)
			delete(q.waiting, c)
		}
	}
}

// join returns a channel that is closed when others requests have passed.
func (q *Queue) join(others int) chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.waiting == nil {
		q.waiting = map[chan struct{}]int{}
	}
	c := make(chan struct{})
	q.waiting[c] = others
	return c
}

func (q *Queue) leave(c chan struct{}) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.waiting, c)
}

// Delay forwards a request after others requests have overtaken it, or after a timeout.
func (q *Queue) Delay(through http.Handler, others int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c := q.join(others)
		select {
		case <-c:
		case <-r.Context().Done():
		case <-time.After(maxDelay):
		}
		q.leave(c)
		through.ServeHTTP(w, r)
	}
}
