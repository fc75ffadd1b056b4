package execute

import (
	"context"
	"sync"
)

// flights share answers between those who ask the same at the same time. Whoever
// asks gets an answer whose taking began after that. There is at most one taking
// a key at any time. It is safe for concurrent use.
type flights[K comparable, T any] struct {
	take func(context.Context, K) (T, error)
	mu   sync.Mutex
	last map[K]*freshGroup[T] // the last one that began
	next map[K]*freshGroup[T] // the one that has yet to begin
}

type freshGroup[T any] struct {
	landed chan struct{}
	answer T
	err    error
}

// ask waits for an answer. The context is that of all who ask.
func (f *flights[K, T]) ask(ctx context.Context, key K) (T, error) {
	f.mu.Lock()
	if f.next == nil {
		f.last, f.next = map[K]*freshGroup[T]{}, map[K]*freshGroup[T]{}
	}
	if shared := f.next[key]; shared != nil {
		f.mu.Unlock()
		<-shared.landed
		return shared.answer, shared.err
	}
	own, before := &freshGroup[T]{landed: make(chan struct{})}, f.last[key]
	f.next[key] = own
	f.mu.Unlock()
	if before != nil {
		<-before.landed
	}
	f.mu.Lock()
	delete(f.next, key)
	f.last[key] = own
	f.mu.Unlock()
	own.answer, own.err = f.take(ctx, key)
	close(own.landed)
	f.mu.Lock()
	if f.last[key] == own {
		delete(f.last, key)
	}
	f.mu.Unlock()
	return own.answer, own.err
}
