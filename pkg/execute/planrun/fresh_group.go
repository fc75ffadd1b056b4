package planrun

import (
	"context"
	"sync"
)

// freshGroup shares the results of concurrent calls, as singleflight does, with one
// difference: a caller only gets the result of a call that began after its request. At
// most one call per key is in flight. It is safe for concurrent use.
type freshGroup[K comparable, T any] struct {
	call func(context.Context, K) (T, error)
	mu   sync.Mutex
	last map[K]<-chan struct{} // of the latest call of each key: closed when it has ended
	next map[K]*sharedCall[T]  // calls that have not begun
}

// sharedCall is a call whose result several callers get.
type sharedCall[T any] struct {
	ended  chan struct{} // closed when the result is there
	result T
	err    error
}

// do returns the result of a call that begins after do was called. All callers must
// pass the same context.
func (g *freshGroup[K, T]) do(ctx context.Context, key K) (T, error) {
	g.mu.Lock()
	if g.next == nil {
		g.last, g.next = map[K]<-chan struct{}{}, map[K]*sharedCall[T]{}
	}
	shared, before := g.next[key], g.last[key]
	ours := shared == nil
	if ours {
		shared = &sharedCall[T]{ended: make(chan struct{})}
		g.next[key], g.last[key] = shared, shared.ended
	}
	g.mu.Unlock()
	if !ours {
		<-shared.ended
		return shared.result, shared.err
	}
	defer close(shared.ended)
	if before != nil {
		<-before
	}
	g.mu.Lock()
	delete(g.next, key)
	g.mu.Unlock()
	shared.result, shared.err = g.call(ctx, key)
	return shared.result, shared.err
}
