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
	keys map[K]*sync.Mutex       // held during a call
	next map[K]func() (T, error) // shared calls that have not begun
}

// do returns the result of a call that begins after do was called. All callers must
// pass the same context.
func (g *freshGroup[K, T]) do(ctx context.Context, key K) (T, error) {
	g.mu.Lock()
	if g.next == nil {
		g.keys, g.next = map[K]*sync.Mutex{}, map[K]func() (T, error){}
	}
	if g.keys[key] == nil {
		g.keys[key] = &sync.Mutex{}
	}
	if running := g.keys[key]; g.next[key] == nil {
		g.next[key] = sync.OnceValues(func() (T, error) {
			running.Lock()
			defer running.Unlock()
			g.mu.Lock()
			delete(g.next, key)
			g.mu.Unlock()
			return g.call(ctx, key)
		})
	}
	shared := g.next[key]
	g.mu.Unlock()
	return shared()
}
