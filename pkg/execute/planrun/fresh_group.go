package planrun

import (
	"context"
	"sync"
)

// freshGroup shares the results of concurrent calls, as singleflight does, with one
// difference: a caller only gets the result of a call that began after its request. At
// most one call per key is in flight. It is safe for concurrent use.
type freshGroup[K comparable, T any] struct {
	call    func(context.Context, K) (T, error)
	mu      sync.Mutex
	running map[K]*sharedCall[T] // the latest that began
	next    map[K]*sharedCall[T] // has not begun yet
}

type sharedCall[T any] struct {
	done   chan struct{}
	result T
	err    error
}

// do returns the result of a call that begins after do was called. All callers must
// pass the same context.
func (g *freshGroup[K, T]) do(ctx context.Context, key K) (T, error) {
	g.mu.Lock()
	if g.next == nil {
		g.running, g.next = map[K]*sharedCall[T]{}, map[K]*sharedCall[T]{}
	}
	if shared := g.next[key]; shared != nil {
		g.mu.Unlock()
		<-shared.done
		return shared.result, shared.err
	}
	own, previous := &sharedCall[T]{done: make(chan struct{})}, g.running[key]
	g.next[key] = own
	g.mu.Unlock()
	if previous != nil {
		<-previous.done
	}
	g.mu.Lock()
	delete(g.next, key)
	g.running[key] = own
	g.mu.Unlock()
	own.result, own.err = g.call(ctx, key)
	close(own.done)
	g.mu.Lock()
	if g.running[key] == own {
		delete(g.running, key)
	}
	g.mu.Unlock()
	return own.result, own.err
}
