package garbagecollector

import (
	"slices"
	"time"

	"k8s.io/client-go/util/workqueue"
)

// queue is a work queue from which the driver takes any item that is ready, and not only
// the first. As in a real one, an item is in it only once, is not handed out again until
// Done, and comes back after Done if it was added meanwhile.
//
// An item of AddRateLimited is ready once something has changed since it was handed out:
// a retry without a change gives the same result.
type queue[T comparable] struct {
	now        func() int // counts changes
	ready      []T        // in the order of their addition
	processing map[T]bool
	again      map[T]bool // added while processing
	waiting    map[T]int  // until now() exceeds the value
	taken      map[T]int  // now() when the item was handed out
	next       T          // what Get returns; see take
}

var _ workqueue.TypedRateLimitingInterface[*node] = &queue[*node]{}

func newQueue[T comparable](now func() int) *queue[T] {
	return &queue[T]{now: now, processing: map[T]bool{}, again: map[T]bool{}, waiting: map[T]int{}, taken: map[T]int{}}
}

// Add implements workqueue.TypedInterface.
func (q *queue[T]) Add(item T) {
	switch {
	case q.processing[item]:
		q.again[item] = true
	case !slices.Contains(q.ready, item):
		q.ready = append(q.ready, item)
	}
}

// AddRateLimited implements workqueue.TypedRateLimitingInterface.
func (q *queue[T]) AddRateLimited(item T) {
	since, ok := q.taken[item]
	if !ok {
		since = q.now() - 1
	}
	q.waiting[item] = since
}

// AddAfter implements workqueue.TypedDelayingInterface.
func (q *queue[T]) AddAfter(item T, _ time.Duration) { q.AddRateLimited(item) }

// wake makes ready what has waited long enough.
func (q *queue[T]) wake() {
	for item, since := range q.waiting {
		if q.now() > since {
			delete(q.waiting, item)
			q.Add(item)
		}
	}
}

// take chooses what the next Get returns.
func (q *queue[T]) take(item T) { q.next = item }

// Get implements workqueue.TypedInterface. It returns the item of take.
func (q *queue[T]) Get() (item T, shutdown bool) {
	item = q.next
	q.ready = slices.DeleteFunc(q.ready, func(t T) bool { return t == item })
	q.processing[item] = true
	q.taken[item] = q.now()
	return item, false
}

// Done implements workqueue.TypedInterface.
func (q *queue[T]) Done(item T) {
	delete(q.processing, item)
	if q.again[item] {
		delete(q.again, item)
		q.Add(item)
	}
}

// The rest of workqueue.TypedRateLimitingInterface.
func (q *queue[T]) Forget(T)           {}
func (q *queue[T]) NumRequeues(T) int  { return 0 }
func (q *queue[T]) Len() int           { return len(q.ready) }
func (q *queue[T]) ShutDown()          {}
func (q *queue[T]) ShutDownWithDrain() {}
func (q *queue[T]) ShuttingDown() bool { return false }
